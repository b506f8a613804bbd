"""The outermost layer: every answer carries a request id and the security headers, and every refusal is a problem document."""

from __future__ import annotations

import logging
import re
import secrets
from itertools import count
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Internal, ServiceError
from .bodies import Flood, refuse_flood
from .codes import CODES
from .doors import Door
from .problems import response

log = logging.getLogger(__name__)

_SANE_ID: Final = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_POLICY: Final = b"content-security-policy"
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
)
DEFAULT_POLICY: Final = (_POLICY, b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")


class Rim:
    """Wraps the application. Plain ASGI, because a layer that wraps requests in tasks of its own costs more than an answer."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door
        self._ids = count(1)
        self._prefix = secrets.token_hex(6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = self._request_id(scope)
        answer = _Answer(send, request_id, is_head=scope["method"] == "HEAD")
        try:
            self._door.check(scope["headers"])
            await self._app(scope, receive, answer.send)
        except ClientDisconnect:
            return
        except Exception as error:
            if answer.has_begun:
                log.exception("request %s failed after its answer had begun", request_id)
                raise
            await _refuse(error, request_id, scope, receive, answer.send)

    def _request_id(self, scope: Scope) -> str:
        """The caller's own id where it is fit for a log line, else a new one."""
        for name, value in scope["headers"]:
            if name == b"x-request-id" and _SANE_ID.fullmatch(value):
                own: str = value.decode()
                return own
        return f"{self._prefix}-{next(self._ids)}"


class _Answer:
    """Adds to one answer what all have in common."""

    def __init__(self, send: Send, request_id: str, *, is_head: bool) -> None:
        self._send = send
        self._id = (b"x-request-id", request_id.encode())
        self._is_head = is_head
        self.has_begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = [*message["headers"], self._id, *_HEADERS]
            if not any(name == _POLICY for name, _ in headers):
                headers.append(DEFAULT_POLICY)
            message = {**message, "headers": headers}
        elif self._is_head:
            message = {**message, "body": b""}
        await self._send(message)


async def _refuse(error: Exception, request_id: str, scope: Scope, receive: Receive, send: Send) -> None:
    if not isinstance(error, ServiceError) or CODES.get(error.code, CODES["internal"]).code == "internal":
        log.error("request %s failed", request_id, exc_info=error)
        error = Internal("The service has failed; its log has this request under its id.")
    refusal = response(error, request_id)
    if isinstance(error, Flood):
        await refuse_flood(refusal, receive, send)
    else:
        await refusal(scope, receive, send)
