"""Cases beside each other. Nothing is stored and no database is touched."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Body, Query
from starlette.responses import Response

from ...analysis import compare
from ...analysis.sheets import answers as sheets
from ...schemas.compare import Comparison
from ...schemas.exports import ExportQuery
from ..answers import answer
from ..call import Call
from ..comparisons import ComparisonDocument
from ..exports import EXPORTED, Export, ExportResponse, exported
from .router import router

routes = router("rooflines")

_LAYER: Final[dict[str, Any]] = {"kind": "matmul", "m": 64, "k": 8192, "n": 8192}
_H100: Final = {"chip": "nvidia-h100-sxm"}
EXAMPLES: Final[dict[str, Any]] = {
    "formats": {
        "summary": "One layer in three number formats",
        "value": {
            "cases": [
                {"op": {**_LAYER, "dtype": "bf16"}, "target": _H100},
                {"op": {**_LAYER, "dtype": "int8"}, "target": _H100},
                {"op": {**_LAYER, "dtype": "bf16", "b_dtype": "int8"}, "target": _H100},
            ]
        },
    },
    "chips": {"summary": "One layer on every chip", "value": {"cases": [{"op": {**_LAYER, "dtype": "bf16"}}], "chips": "all"}},
}


ComparisonBody = Annotated[Comparison, Body(openapi_examples=EXAMPLES)]


@routes.post("/v1/compare", scope="evaluate", response_model=ComparisonDocument, response_class=ExportResponse, responses=EXPORTED)
async def post_compare(call: Call, question: ComparisonBody, asked: Annotated[ExportQuery, Query()]) -> Response:
    """What each case takes, what binds it, and why it differs from the first; as a table, a row for each case."""
    service = call.service
    cost = compare.rows(question, service.catalogue)
    found = await service.pools.compute(cost, lambda: compare.compare(question, service.catalogue))
    service.metrics.rows.inc(cost)
    export = Export("comparison", json=lambda: answer(found), sheet=lambda: sheets.comparison(found, service.catalogue))
    return await exported(call, asked, export)
