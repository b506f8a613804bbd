"""Counts of the service itself, for Prometheus to collect."""

from __future__ import annotations

from starlette.responses import PlainTextResponse, Response

from ..call import Call
from ..metrics import MEDIA_TYPE
from .router import router

routes = router("operations")


@routes.get("/metrics", scope="read", response_class=PlainTextResponse)
async def get_metrics(call: Call) -> Response:
    """Counts of requests, of work and of what failed, in the text format of Prometheus."""
    return Response(call.service.metrics.text(), headers={"content-type": MEDIA_TYPE})
