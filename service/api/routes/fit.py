"""Whether ops fit the memory of a chip. Nothing is stored and no database is touched."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Body
from starlette.responses import Response

from ...analysis import fit
from ...schemas.fit import FitQuestion
from ..answers import answer
from ..call import Call
from ..placements import FitDocument
from .router import router

routes = router("rooflines")

EXAMPLES: Final[dict[str, Any]] = {
    "gathered": {
        "summary": "A layer whose weights are gathered",
        "value": {
            "op": {"kind": "matmul", "m": 4096, "k": 8192, "n": 28672, "dtype": "bf16"},
            "target": {"chip": "nvidia-h100-sxm", "mesh": [{"name": "gpu", "size": 8}]},
            "sharding": {"a": ["gpu", None], "b": ["gpu", None], "out": ["gpu", None]},
        },
    }
}


@routes.post("/v1/fit", scope="evaluate", response_model=FitDocument)
async def post_fit(call: Call, question: Annotated[FitQuestion, Body(openapi_examples=EXAMPLES)]) -> Response:
    """What each chip holds, whether that fits its HBM, what takes most, and the largest batch that fits."""
    service, cost = call.service, fit.rows(question)
    found = await service.pools.compute(cost, lambda: fit.fit(question, service.catalogue))
    service.metrics.rows.inc(cost)
    return answer(found)
