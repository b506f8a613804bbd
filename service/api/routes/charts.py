"""Roofline charts as numbers: roofs as series, ops as points."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Body, Query
from starlette.responses import Response

from ...analysis import charts, compare, history
from ...schemas.charts import ChartQuery, ChartQuestion
from ..answers import answer
from ..call import Call
from ..comparisons import ChartDocument
from .router import router

routes = router("rooflines")

EXAMPLES: Final[dict[str, Any]] = {
    "point": {
        "summary": "A measured matmul under its roof",
        "value": {
            "cases": [
                {
                    "op": {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"},
                    "target": {"chip": "nvidia-h100-sxm"},
                    "measured_s": 0.00034,
                }
            ],
            "points": 16,
        },
    }
}
BOUNDED: Final[dict[int | str, dict[str, Any]]] = {413: {}}
NEEDS_DATABASE: Final[dict[int | str, dict[str, Any]]] = {503: {}}


@routes.get("/v1/charts/roofline", response_model=ChartDocument, responses=BOUNDED)
async def get_chart(call: Call, asked: Annotated[ChartQuery, Query()]) -> Response:
    """The roof of a chip in one number format."""
    catalogue = call.service.catalogue
    return answer(charts.of_catalogue(asked.chip, asked.dtype, asked.points, catalogue))


@routes.post("/v1/charts/roofline", response_model=ChartDocument, responses=NEEDS_DATABASE)
async def post_chart(call: Call, question: Annotated[ChartQuestion, Body(openapi_examples=EXAMPLES)]) -> Response:
    """The roofs of cases and of saved analyses, one for each chip and number format, with their points."""
    service, stored = call.service, dict[str, str]()
    charts.check_limits(question)
    if question.analyses:
        stored = await service.pools.database(lambda: history.answers(question.analyses, service.analyses))
    cost = question.points + compare.ROWS_PER_CASE * len(question.cases)
    found = await service.pools.compute(cost, lambda: charts.of_questions(question, service.catalogue, stored))
    service.metrics.rows.inc(compare.ROWS_PER_CASE * len(question.cases))
    return answer(found)
