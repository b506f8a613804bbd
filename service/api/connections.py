"""One connection as uvicorn keeps it, with an end to everything that a caller may leave unfinished.

    header   `receive_s` from its first byte, or from the beginning of the connection; at most MAX_HEADER_BYTES
    body     the application reads it in bounded time (`bodies`); what is left of it after the answer has as long, and DRAINED_BYTES
    answer   taken at SLOWEST_BYTES_PER_S at least
    idle     uvicorn's own limit between requests

What is refused here, before there is a request that the application could answer, has the form of every other refusal.
"""

from __future__ import annotations

import asyncio
import secrets
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..errors import MalformedText, OverLimit, ServiceError, Unavailable
from .bodies import DRAINED_BYTES, LINGER_S, MAX_HEADER_BYTES, TooSlow
from .exchange import COMMON_HEADERS
from .patience import SLOWEST_BYTES_PER_S, last_moment
from .problems import response
from .room import Room

LOOKS: Final = 4
"""How often, in the time that a header has, a connection is looked at."""


class Phase(Enum):
    """What the caller has begun to send."""

    NOTHING = auto()
    HEADER = auto()
    BODY = auto()


class Connection(HttpToolsProtocol):
    """Serves the application of its `config`, whose `room` it takes a place in."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        room = self.config.app.room  # type: ignore[union-attr]  # uvicorn knows applications as functions
        assert isinstance(room, Room)
        self._room = room
        self._phase = Phase.HEADER
        self._began = self.loop.time()
        self._size = 0  # bytes of the header or body that have come in pieces
        self._header_bytes = 0
        self._unread = 0  # bytes of answers at the last look
        self._slow_looks = 0
        self._is_over = False
        self._fault: ServiceError | None = None
        self._next_look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        super().connection_made(transport)
        if self._room.enter(self):
            self._next_look = self.loop.call_later(self._room.receive_s / LOOKS, self._look)
        else:
            self._refuse(Unavailable("The service has as many connections as it can keep; try again shortly."))

    def connection_lost(self, exc: Exception | None) -> None:
        self._room.leave(self)
        if self._next_look is not None:
            self._next_look.cancel()
        super().connection_lost(exc)

    def give_way(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        if self._phase is Phase.NOTHING:
            self._begin(Phase.HEADER)
        self._size += len(data)
        super().data_received(data)
        if self._phase is Phase.HEADER and self._size > MAX_HEADER_BYTES and not self._is_over:
            self._refuse(_header_too_large())
        elif self._phase is Phase.BODY and self._size > DRAINED_BYTES and not self._is_answering:
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._phase is not Phase.HEADER:
            self._begin(Phase.HEADER)
        self._header_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        if self._header_bytes + len(self.url) > MAX_HEADER_BYTES:
            self._fault = _header_too_large()
            raise self._fault
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._begin(Phase.BODY)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._begin(Phase.NOTHING)
        if self._is_answering:
            self._room.works(self)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._begin(self._phase)  # what the caller had begun to send before may have been held up by us
        if not self._is_answering:
            self._room.waits(self)

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._fault or MalformedText("This is not a request of HTTP/1.1.", code="malformed-http"))

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete  # type: ignore[redundant-expr]  # there is none at first

    def _begin(self, phase: Phase) -> None:
        self._phase, self._began, self._size = phase, self.loop.time(), 0

    def _look(self) -> None:
        self._next_look = self.loop.call_later(self._room.receive_s / LOOKS, self._look)
        if self._is_taken_too_slowly():
            self.transport.abort()
        elif not (self._is_over or self._is_answering) and self.loop.time() > self._last_moment():
            self._lose_patience()

    def _last_moment(self) -> float:
        if self._phase is Phase.NOTHING:
            return float("inf")
        return last_moment(self._began, self._size if self._phase is Phase.BODY else 0, self._room.receive_s)

    def _lose_patience(self) -> None:
        """A caller that has sent nothing, or has its answer, needs no words."""
        if self._phase is Phase.HEADER and self._size:
            self._refuse(TooSlow(f"The header of a request must come within {self._room.receive_s:.0f} s."))
        else:
            self.transport.close()

    def _is_taken_too_slowly(self) -> bool:
        """Whether what has been written has not become less, as fast as it should, at so many looks that the time is over."""
        unread = self.transport.get_write_buffer_size()
        expected = max(0.0, self._unread - SLOWEST_BYTES_PER_S * self._room.receive_s / LOOKS)
        self._slow_looks = self._slow_looks + 1 if unread > expected else 0
        self._unread = unread
        return self._slow_looks > LOOKS

    def _refuse(self, error: ServiceError) -> None:
        """Answers instead of the application, unless an earlier request is owed its answer, and hears nothing more."""
        self._is_over = True
        if self._is_answering:
            is_of_this_one = self._phase is Phase.BODY and not self.pipeline and not self.cycle.response_started
            if not is_of_this_one:
                self.transport.close()
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        request_id = secrets.token_hex(8)
        self.transport.write(_written(error, request_id))
        self._room.watch.turns_away(error, request_id)
        self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.abort)


def _header_too_large() -> OverLimit:
    return OverLimit(f"The line and the header of a request may have {MAX_HEADER_BYTES} bytes.", code="header-too-large")


def _written(error: ServiceError, request_id: str) -> bytes:
    """A refusal as it goes over the wire."""
    refusal = response(error, request_id)
    status = HTTPStatus(refusal.status_code)
    headers = [*refusal.raw_headers, (b"connection", b"close"), (b"x-request-id", request_id.encode()), *COMMON_HEADERS]
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), *(name + b": " + value for name, value in headers)]
    return b"\r\n".join([*lines, b"", bytes(refusal.body)])
