"""Reading a body: counted while it comes in, refused when it is too large or too slow, never kept beyond the limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from ..errors import OverLimit, ServiceError
from ..schemas.base import Strict
from ..schemas.reading import MAX_BODY_BYTES, parse, validate
from ..tables.limits import MOST_BYTES
from .patience import SLOWEST_BYTES_PER_S, last_moment

MAX_HEADER_BYTES: Final = 32 * 2**10
DRAINED: Final = 2  # times as much as is allowed is read of a body, so that a client can finish and see the refusal
DRAINED_BYTES: Final = DRAINED * MOST_BYTES  # of a body are taken at all, on whatever route
LINGER_S: Final = 1.0  # how long a client that writes still more may go on, once it has the refusal

DRAIN_S: Final = 60.0  # how long a body may take that is dropped, while the refusal is there already


class Flood(OverLimit):
    """A body that is refused before it has been read; unless it `ends` soon, the connection does, after the refusal."""

    code = "body-too-large"

    def __init__(self, most: int, *, ends: bool) -> None:
        super().__init__(_refusal(most))
        self.ends = ends


class TooSlow(ServiceError):
    """A request that does not come to its end in time."""

    code = "request-timeout"
    ends = False


async def read_body(scope: Scope, receive: Receive, receive_s: float, most: int = MAX_BODY_BYTES) -> bytes:
    """The body of a request, of at most `most` bytes, for which a caller has `receive_s` [s] and more with every byte.

    Raises OverLimit (body-too-large), TooSlow.
    """
    _refuse_announced_flood(scope, most)
    began = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(last_moment(began, 0, receive_s)) as limit:
            return await _read(receive, most, lambda size: limit.reschedule(last_moment(began, size, receive_s)))
    except TimeoutError:
        raise TooSlow(
            f"A body must have come after {receive_s:.0f} s, or bring {SLOWEST_BYTES_PER_S} bytes in every second beyond."
        ) from None


async def read_nothing(scope: Scope, receive: Receive, receive_s: float) -> None:
    """The body of a request that has nothing to say: none, or an object without members.

    Raises as `read_body` does, and InvalidInput (unknown-member) for what would not be looked at.
    """
    if text := await read_body(scope, receive, receive_s):
        validate(Strict, parse(text))


async def _read(receive: Receive, most: int, came: Callable[[int], None]) -> bytes:
    """The pieces as one; `came` hears of about every second's worth of bytes how many there are."""
    message = await _next(receive)
    if not message.get("more_body") and len(message["body"]) <= most:
        body: bytes = message["body"]
        return body
    kept, size, told = [message["body"]], len(message["body"]), 0
    while message.get("more_body"):
        if size > DRAINED * most:
            raise Flood(most, ends=False)
        if size - told >= SLOWEST_BYTES_PER_S:  # setting a clock costs more than a small piece
            came(told := size)
        message = await _next(receive)
        size += len(message["body"])
        kept.append(message["body"])
        if size > most:
            kept.clear()
    if size > most:
        raise OverLimit(_refusal(most), code="body-too-large")
    return b"".join(kept)


def _refuse_announced_flood(scope: Scope, most: int) -> None:
    """Nothing, if the header announces no body that is too large. Raises Flood.

    One that is not much too large is dropped as it comes, unless the client asks before it sends (`Expect: 100-continue`).
    """
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"")
    size = int(length[:18]) if length.isdigit() else 0
    if size > most:
        raise Flood(most, ends=size <= DRAINED * most and headers.get(b"expect", b"").lower() != b"100-continue")


def _refusal(most: int) -> str:
    return f"A body may have {most} bytes. Split the request, or send numbers as columns."


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    message.setdefault("body", b"")
    return message


async def refuse_unread(error: Flood | TooSlow, response: Response, receive: Receive, send: Send) -> None:
    """Sends the refusal whole, then lets the client go on: to its end, or for a moment before the connection closes under it.

    A connection that closes with unread bytes is reset, and a reset can take the answer away from a client that still writes.
    """
    headers = response.raw_headers if error.ends else [*response.raw_headers, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S if error.ends else LINGER_S):
            while (await receive()).get("more_body"):
                pass
    await send({"type": "http.response.body", "body": b""})
