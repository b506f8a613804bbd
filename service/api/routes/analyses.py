"""Saved analyses: a question kept with its answer, and found again."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import Body, Query
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError
from starlette.responses import Response

from ...analysis import evaluate, history
from ...engine.ops import OPS
from ...errors import near
from ...schemas.analyses import SavedQuestion
from ..answers import answer, listing, resource
from ..call import Call
from ..pages import PageQuery
from ..results import AnalysisDocument, AnalysisList, Bound
from .evaluate import EXAMPLES
from .router import router

routes = router("analyses")

NEEDS_DATABASE: Final[dict[int | str, dict[str, Any]]] = {503: {}}
LINKS: Final = {
    "read": {"operationId": "get_analysis", "parameters": {"id": "$response.body#/id"}, "description": "The analysis that was kept."}
}
KEPT: Final[dict[int | str, dict[str, Any]]] = {
    **NEEDS_DATABASE,
    200: {
        "description": "The same question was kept before; it has gained the labels that it lacked.",
        "model": AnalysisDocument,
        "links": LINKS,
    },
    201: {"links": LINKS},
}
SavedBody = Annotated[SavedQuestion, Body(openapi_examples=EXAMPLES)]


def _kind(name: str) -> str:
    kinds = (*OPS, history.OPS)
    if name not in kinds:
        raise PydanticCustomError("unknown-op", "There is no op of this kind.", {"suggestions": near(name, kinds)})
    return name


class AnalysisQuery(PageQuery):
    """Which analyses are asked for, and in what order."""

    kind: Annotated[str, AfterValidator(_kind), Field(description="An op, or `ops` for lists.")] | None = None
    chip: Annotated[str | None, Field(min_length=1, max_length=200, description="`id`, or `id@revision`.")] = None
    bound: Bound | None = None
    label: Annotated[str | None, Field(pattern=r"^[^:]+:", max_length=400, description="`key:value`")] = None
    order_by: Literal["-created_at", "created_at", "-lower_s", "lower_s"] = "-created_at"


@routes.post("/v1/analyses", status_code=201, response_model=AnalysisDocument, responses=KEPT)
async def post_analysis(call: Call, question: SavedBody) -> Response:
    """Evaluates a question and keeps it with its answer. The same question again is the same analysis."""
    service = call.service
    analysis = await service.pools.compute(evaluate.rows(question), lambda: history.prepare(question, service.catalogue))
    kept = await service.pools.database(lambda: history.save(analysis, service.analyses))
    headers = {"location": f"/v1/analyses/{kept.analysis.id}"}
    return answer(kept.text, status=201 if kept.is_new else 200, headers=headers)


@routes.get("/v1/analyses", response_model=AnalysisList, responses=NEEDS_DATABASE)
async def list_analyses(call: Call, asked: Annotated[AnalysisQuery, Query()]) -> Response:
    """The analyses that pass every filter, newest first unless `order_by` says otherwise."""
    service = call.service
    page = await service.pools.database(lambda: service.analyses.page(**asked.model_dump()))
    return listing([history.summary(each) for each in page.items], next_cursor=page.next_cursor, limit=asked.limit)


@routes.get("/v1/analyses/{id}", response_model=AnalysisDocument, responses=NEEDS_DATABASE)
async def get_analysis(call: Call, id: str) -> Response:  # noqa: A002 - the path's own name
    """One analysis: question and answer as they were kept, byte for byte."""
    service = call.service
    analysis = await service.pools.database(lambda: history.read(id, service.analyses))
    return resource(call, history.envelope(analysis))
