"""Whoever watches the rim: every request is counted when it is over, and gets its line in the log."""

from __future__ import annotations

from http import HTTPStatus

from ..errors import ServiceError
from .codes import CODES
from .exchange import Exchange
from .logs import Log
from .metrics import OTHER, Metrics, Served


class Watch:
    """Tells metrics and log of requests."""

    def __init__(self, metrics: Metrics, log: Log) -> None:
        self._in_flight = metrics.in_flight
        self._metrics = metrics
        self._log = log

    def turns_away(self, error: ServiceError, request_id: str) -> None:
        """What was refused before there was a request."""
        status = CODES[error.code].status
        self._metrics.served(Served(OTHER, OTHER, status, 0.0, 0, 0))
        self._log.info("request", request_id=request_id, method=OTHER, route=OTHER, status=status, code=error.code)

    def begins(self) -> None:
        self._in_flight.inc()

    def ends(self, exchange: Exchange) -> None:
        self._in_flight.dec()
        served = exchange.summary()
        self._metrics.served(served)
        write = self._log.info
        if served.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            write = self._log.error if served.status == HTTPStatus.INTERNAL_SERVER_ERROR else self._log.warning
        write(
            "request",
            request_id=exchange.request_id,
            method=served.method,
            route=served.route,
            status=served.status,
            duration_ms=round(served.seconds * 1e3, 3),
            bytes_in=served.bytes_in,
            bytes_out=served.bytes_out,
            **exchange.refusal,
        )

    def fails(self, exchange: Exchange, error: Exception) -> None:
        """A fault of ours, whose traceback is told here alone."""
        when = "after its answer had begun" if exchange.has_begun else "before its answer"
        self._log.error("request failed", request_id=exchange.request_id, when=when, exc_info=error)
