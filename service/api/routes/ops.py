"""The ops that can be asked about."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from ...analysis import ops
from ...schemas.kinds import OpKind
from ..answers import found, listing, resource, written
from ..call import Call
from ..conditions import IF_NONE_MATCH, TAGGED
from ..documents import OpDocument, OpList
from ..pages import PageQuery, page
from .router import router

routes = router("catalogue")


@routes.get("/v1/ops", scope="read", response_model=OpList)
async def list_ops(call: Call, asked: Annotated[PageQuery, Query()]) -> Response:
    """Every kind of op, sorted, with its JSON Schema, its formulas and an example."""
    kinds, next_cursor = page("ops", ops.documents(), lambda op: op["kind"], asked)
    return listing(kinds, next_cursor=next_cursor, limit=asked.limit)


@routes.get("/v1/ops/{kind}", scope="read", response_model=OpDocument, responses=TAGGED, openapi_extra=IF_NONE_MATCH)
async def get_op(call: Call, kind: OpKind) -> Response:
    """One kind of op. The example is a body that `POST /v1/evaluate` answers as it stands."""
    return resource(call, written(found(lambda: ops.document(kind))))
