"""One request and its answer, as they pass the rim: what all answers have in common is added, and both are measured."""

from __future__ import annotations

import time
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from .cors import Cors
from .gate import HEADERS
from .metrics import METHODS, OTHER, Served

NO_ANSWER: Final = 499
"""What stands for the status where the caller left before there was one."""

_POLICY: Final = b"content-security-policy"
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
_CACHING: Final = (b"cache-control", b"no-cache")
DEFAULT_POLICY: Final = (_POLICY, b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
COMMON_HEADERS: Final = (*_HEADERS, DEFAULT_POLICY)


class Exchange:
    """Reads and sends in place of the server's own `receive` and `send`."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, cors: Cors, request_id: str) -> None:
        self.scope = scope
        self.request_id = request_id
        self.status = NO_ANSWER
        self.refusal: dict[str, str] = {}
        self._cors = cors
        self._receive = receive
        self._send = send
        self._bytes_in = self._bytes_out = 0
        self._began = time.perf_counter()

    @property
    def has_begun(self) -> bool:
        return self.status != NO_ANSWER

    async def receive(self) -> Message:
        message = await self._receive()
        self._bytes_in += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message["headers"], (b"x-request-id", self.request_id.encode()), *_HEADERS]
            said = {name for name, _ in message["headers"]}
            headers += self.scope.get(HEADERS, ())
            headers += self._cors.headers(self.scope, headers)
            headers += [default for default in (_CACHING, DEFAULT_POLICY) if default[0] not in said]
            message = {**message, "headers": headers}
        elif self.scope["method"] == "HEAD":
            message = {**message, "body": b""}
        else:
            self._bytes_out += len(message.get("body", b""))
        await self._send(message)

    def summary(self) -> Served:
        """What is told of it when it is over: no address, no query, no header, nothing of a body."""
        method, route = self.scope["method"], self.scope.get("route")
        return Served(
            method if method in METHODS else OTHER,
            OTHER if route is None else route.path_format,
            self.status,
            time.perf_counter() - self._began,
            self._bytes_in,
            self._bytes_out,
        )
