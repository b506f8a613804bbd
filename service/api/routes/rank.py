"""Where to run ops best, of several places. Nothing is stored and no database is touched."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Body
from starlette.responses import Response

from ...analysis import rank
from ...schemas.rank import RankQuestion
from ..answers import answer
from ..call import Call
from ..placements import RankDocument
from .router import router

routes = router("rooflines")

EXAMPLES: Final[dict[str, Any]] = {
    "placements": {
        "summary": "A layer on one chip, and on eight in two layouts",
        "value": {
            "op": {"kind": "matmul", "m": 4096, "k": 8192, "n": 28672, "dtype": "bf16"},
            "candidates": [
                {"id": "alone", "target": {"chip": "nvidia-h100-sxm"}},
                {
                    "id": "rows",
                    "target": {"chip": "nvidia-h100-sxm", "mesh": [{"name": "gpu", "size": 8}]},
                    "sharding": {"a": ["gpu", None], "b": [None, None], "out": ["gpu", None]},
                },
                {
                    "id": "sums",
                    "target": {"chip": "nvidia-h100-sxm", "mesh": [{"name": "gpu", "size": 8}]},
                    "sharding": {"a": [None, "gpu"], "b": ["gpu", None], "out": [None, None]},
                },
            ],
            "constraints": {"fits": True},
        },
    }
}


@routes.post("/v1/rank", scope="evaluate", response_model=RankDocument)
async def post_rank(call: Call, question: Annotated[RankQuestion, Body(openapi_examples=EXAMPLES)]) -> Response:
    """Candidates of chip, mesh and layouts from the best on, and why others are left out."""
    service, cost = call.service, rank.rows(question)
    found = await service.pools.compute(cost, lambda: rank.rank(question, service.catalogue))
    service.metrics.rows.inc(cost)
    return answer(found)
