"""The outermost layer: every answer carries a request id and the security headers, and every refusal is a problem document."""

from __future__ import annotations

import re
import secrets
from asyncio import CancelledError
from itertools import count
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import Internal, ServiceError, Unavailable
from .bodies import Flood, TooSlow, refuse_unread
from .codes import CODES
from .cors import Cors
from .doors import Door
from .exchange import Exchange
from .problems import response
from .watch import Watch

_SANE_ID: Final = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class Rim:
    """Wraps the application. Plain ASGI, because a layer that wraps requests in tasks of its own costs more than an answer."""

    def __init__(self, app: ASGIApp, door: Door, watch: Watch, cors: Cors) -> None:
        self._app = app
        self._door = door
        self._watch = watch
        self._cors = cors
        self._ids = count(1)
        self._prefix = secrets.token_hex(6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, receive, send, self._cors, self._request_id(scope))
        self._watch.begins()
        try:
            await self._answer(exchange)
        finally:
            self._watch.ends(exchange)

    async def _answer(self, exchange: Exchange) -> None:
        try:
            self._door.check(exchange.scope["headers"])
            await self._app(exchange.scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            return
        except CancelledError:
            # The server ends, and the time that it gives to requests under way is over.
            if not exchange.has_begun:
                await self._refuse(Unavailable("The service ends before it could answer.", code="stopping"), exchange)
            raise
        except Exception as error:
            if exchange.has_begun:
                self._watch.fails(exchange, error)
                raise
            await self._refuse(error, exchange)

    async def _refuse(self, error: Exception, exchange: Exchange) -> None:
        if not isinstance(error, ServiceError) or CODES.get(error.code, CODES["internal"]).code == "internal":
            self._watch.fails(exchange, error)
            error = Internal("The service has failed; its log has this request under its id.")
        exchange.refusal = {"code": error.code}
        refusal = response(error, exchange.request_id)
        if isinstance(error, Flood | TooSlow):
            await refuse_unread(error, refusal, exchange.receive, exchange.send)
        else:
            await refusal(exchange.scope, exchange.receive, exchange.send)

    def _request_id(self, scope: Scope) -> str:
        """The caller's own id where it is fit for a log line, else a new one."""
        for name, value in scope["headers"]:
            if name == b"x-request-id" and _SANE_ID.fullmatch(value):
                own: str = value.decode()
                return own
        return f"{self._prefix}-{next(self._ids)}"
