"""Reading a body: counted while it comes in, refused when it is too large, never kept beyond the limit."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from ..errors import OverLimit

MAX_BODY_BYTES: Final = 8 * 2**20
DRAINED: Final = 2  # times as much as allowed is read, so that a client can finish and see the refusal
LINGER_S: Final = 1.0  # how long a client that writes still more may go on, once it has the refusal


class Flood(OverLimit):
    """A body that is not read to its end: the connection closes after the refusal."""

    code = "body-too-large"


async def read_body(scope: Scope, receive: Receive, most: int = MAX_BODY_BYTES) -> bytes:
    """The body of a request, of at most so many bytes. Raises OverLimit (body-too-large)."""
    refusal = f"A body may have {most} bytes. Split the request, or send numbers as columns."
    if _is_announced_larger(scope, most):
        raise Flood(refusal)
    message = await _next(receive)
    if not message.get("more_body") and len(message["body"]) <= most:
        body: bytes = message["body"]
        return body
    kept, size = [message["body"]], len(message["body"])
    while message.get("more_body"):
        if size > DRAINED * most:
            raise Flood(refusal)
        message = await _next(receive)
        size += len(message["body"])
        kept.append(message["body"])
        if size > most:
            kept.clear()
    if size > most:
        raise OverLimit(refusal, code="body-too-large")
    return b"".join(kept)


def _is_announced_larger(scope: Scope, most: int) -> bool:
    """Whether the client asks before it sends (`Expect: 100-continue`) and would send too much."""
    headers = dict(scope["headers"])
    if headers.get(b"expect", b"").lower() != b"100-continue":
        return False
    length = headers.get(b"content-length", b"")
    return length.isdigit() and int(length[:18]) > most


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
