"""Reading a body: counted while it comes in, refused when it is too large, never kept beyond the limit."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from ..errors import OverLimit
from ..schemas.reading import MAX_BODY_BYTES

DRAINED_BYTES: Final = 16 * 2**20  # of a body that is too large are read, so that a client can finish and see the refusal
LINGER_S: Final = 1.0  # how long a client that writes still more may go on, once it has the refusal

_DETAIL: Final = f"A body may have {MAX_BODY_BYTES} bytes. Split the request, or send numbers as columns."


class Flood(OverLimit):
    """A body that is not read to its end: the connection closes after the refusal."""

    code = "body-too-large"


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """The body of a request. Raises OverLimit (body-too-large)."""
    if _is_announced_too_large(scope):
        raise Flood(_DETAIL)
    message = await _next(receive)
    if not message.get("more_body") and len(message["body"]) <= MAX_BODY_BYTES:
        body: bytes = message["body"]
        return body
    kept, size = [message["body"]], len(message["body"])
    while message.get("more_body"):
        if size > DRAINED_BYTES:
            raise Flood(_DETAIL)
        message = await _next(receive)
        size += len(message["body"])
        kept.append(message["body"])
        if size > MAX_BODY_BYTES:
            kept.clear()
    if size > MAX_BODY_BYTES:
        raise OverLimit(_DETAIL, code="body-too-large")
    return b"".join(kept)


def _is_announced_too_large(scope: Scope) -> bool:
    """Whether the client asks before it sends (`Expect: 100-continue`) and would send too much."""
    headers = dict(scope["headers"])
    if headers.get(b"expect", b"").lower() != b"100-continue":
        return False
    length = headers.get(b"content-length", b"")
    return length.isdigit() and int(length[:18]) > MAX_BODY_BYTES


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    message.setdefault("body", b"")
    return message


async def refuse_flood(response: Response, receive: Receive, send: Send) -> None:
    """Sends the refusal whole, then lets the client go on for a moment before the connection closes under it.

    A connection that closes with unread bytes is reset, and a reset can take the answer away from a client that still writes.
    """
    headers = [*response.raw_headers, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while (await receive()).get("more_body"):
                pass
    await send({"type": "http.response.body", "body": b""})
