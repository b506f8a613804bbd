"""Cases beside each other. Nothing is stored and no database is touched."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Body
from starlette.responses import Response

from ...analysis import compare
from ...schemas.compare import Comparison
from ..answers import answer
from ..call import Call
from ..comparisons import ComparisonDocument
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


@routes.post("/v1/compare", response_model=ComparisonDocument)
async def post_compare(call: Call, question: Annotated[Comparison, Body(openapi_examples=EXAMPLES)]) -> Response:
    """What each case takes, what binds it, and why it differs from the first."""
    service = call.service
    cost = compare.rows(question, service.catalogue)
    found = await service.pools.compute(cost, lambda: compare.compare(question, service.catalogue))
    service.metrics.rows.inc(cost)
    return answer(found)
