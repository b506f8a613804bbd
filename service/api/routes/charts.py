"""Roofline charts as numbers: roofs as series, ops as points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import Body, Query
from starlette.responses import Response

from ...analysis import charts, compare, history
from ...analysis.sheets.chart import chart
from ...catalogue import Catalogue
from ...errors import Fault
from ...schemas.charts import ChartQuery, ChartQuestion
from ...schemas.exports import ExportQuery
from ..answers import answer
from ..call import Call
from ..comparisons import ChartDocument
from ..exports import EXPORTED, Export, ExportResponse, exported
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
BOUNDED: Final[dict[int | str, dict[str, Any]]] = {**EXPORTED, 413: {}}
ChartBody = Annotated[ChartQuestion, Body(openapi_examples=EXAMPLES)]


class OneRoofQuery(ChartQuery, ExportQuery):
    """One roof of a chip, and in which form."""

    @staticmethod
    def judged(sent: Mapping[str, str], catalogue: Catalogue) -> list[Fault]:
        """What is wrong with the names, whatever else is."""
        return charts.faults_of_names(sent.get("chip"), sent.get("dtype"), catalogue)


@routes.get("/v1/charts/roofline", scope="evaluate", response_model=ChartDocument, response_class=ExportResponse, responses=BOUNDED)
async def get_chart(call: Call, asked: Annotated[OneRoofQuery, Query()]) -> Response:
    """The roof of a chip in one number format."""
    catalogue = call.service.catalogue
    found = charts.of_catalogue(asked.chip, asked.dtype, asked.points, catalogue)
    return await exported(call, asked, _export(found, catalogue))


@routes.post("/v1/charts/roofline", scope="evaluate", response_model=ChartDocument, response_class=ExportResponse, responses=EXPORTED)
async def post_chart(call: Call, question: ChartBody, asked: Annotated[ExportQuery, Query()]) -> Response:
    """The roofs of cases and of saved analyses, one for each chip and number format, with their points."""
    service, stored = call.service, dict[str, str]()
    charts.check_limits(question)
    if question.analyses:
        call.maker.require("read")
        stored = await service.pools.database(lambda: history.answers(question.analyses, service.analyses))
    cost = question.points + compare.ROWS_PER_CASE * len(question.cases)
    found = await service.pools.compute(cost, lambda: charts.of_questions(question, service.catalogue, stored))
    service.metrics.rows.inc(compare.ROWS_PER_CASE * len(question.cases))
    return await exported(call, asked, _export(found, service.catalogue))


def _export(found: bytes, catalogue: Catalogue) -> Export:
    """A chart; as a table, all points of all roofs under each other."""
    return Export("chart", json=lambda: answer(found), sheet=lambda: chart(found, catalogue))
