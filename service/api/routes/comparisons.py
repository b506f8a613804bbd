"""Saved analyses beside each other. Nothing is stored: the address holds all that a comparison is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import Body, Query
from starlette.responses import Response

from ...analysis.comparisons import document
from ...analysis.sheets.comparisons import comparison
from ...schemas.comparisons import LinkedComparison, SavedComparison
from ...schemas.exports import ExportQuery
from ..answers import answer
from ..call import Call
from ..exports import EXPORTED, Export, ExportResponse, exported
from ..saved_comparisons import SavedComparisonDocument
from .router import router

routes = router("analyses")

IN_QUERY: Final = {"base": "/query/base", "others": "/query/others"}
BOUNDED: Final[dict[int | str, dict[str, Any]]] = {**EXPORTED, 413: {}}
_IDS: Final = [f"an_{letter * 52}" for letter in "ab"]
EXAMPLES: Final[dict[str, Any]] = {
    "two": {
        "summary": "An analysis against another one, ids as POST /v1/analyses gave them",
        "value": {"base": _IDS[0], "others": _IDS[1:]},
    }
}
ComparisonBody = Annotated[SavedComparison, Body(openapi_examples=EXAMPLES)]


@routes.post("/v1/comparisons", scope="read", response_model=SavedComparisonDocument, response_class=ExportResponse, responses=EXPORTED)
async def post_comparison(call: Call, question: ComparisonBody, asked: Annotated[ExportQuery, Query()]) -> Response:
    """What each analysis has against the base, what differs in the question, and why the time does. Answers are read as stored."""
    return await _compared(call, question, asked, document.IN_BODY)


@routes.get("/v1/comparisons", scope="read", response_model=SavedComparisonDocument, response_class=ExportResponse, responses=BOUNDED)
async def get_comparison(call: Call, asked: Annotated[LinkedComparison, Query()]) -> Response:
    """The same as a link, which can be kept and handed on; as a table, a row for each analysis."""
    return await _compared(call, asked.question, asked, IN_QUERY)


async def _compared(call: Call, question: SavedComparison, asked: ExportQuery, at: Mapping[str, str]) -> Response:
    service = call.service
    found = await service.pools.database(lambda: document.chosen(question, service.analyses, at))
    text = await service.pools.compute(found.rows, lambda: document.compare(question, found, service.catalogue))
    service.metrics.rows.inc(found.rows)
    export = Export("comparison", json=lambda: answer(text), sheet=lambda: comparison(text, service.catalogue))
    return await exported(call, asked, export)
