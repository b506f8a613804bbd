"""Whether a client accepts what a route sends (`Accept`), and whether a route reads what a client sends (`Content-Type`)."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import Message
from typing import Final

from ..errors import NotAcceptable, UnsupportedType

JSON: Final = "application/json"


def accepted(accept: str, produced: Sequence[str]) -> str:
    """The media type of `produced`, best first, that a client which sent `accept` wants most. Raises NotAcceptable.

    Of the ranges that fit, the most specific one decides, and a quality of 0 refuses (RFC 9110, 12.5.1).

    >>> accepted("text/html, application/*;q=0.5", ["text/csv", "application/json"])
    'application/json'
    """
    if not accept.strip() or accept == "*/*":
        return produced[0]
    ranges = [_range(part) for part in accept.split(",")]
    wanted = max(produced, key=lambda media_type: _quality(ranges, media_type))
    if _quality(ranges, wanted) <= 0:
        raise NotAcceptable(f"This resource is sent as {' or '.join(produced)}.")
    return wanted


def _quality(ranges: Sequence[tuple[str, float]], media_type: str) -> float:
    """How much a client wants a media type, 0 to 1."""
    fitting = [(range_, quality) for range_, quality in ranges if _fits(range_, media_type)]
    return max(fitting, key=lambda entry: 2 - entry[0].count("*"))[1] if fitting else 0.0


def _range(text: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
    try:
        return name, float(quality)
    except ValueError:
        return name, 0.0


def _fits(range_: str, produced: str) -> bool:
    return range_ in {produced, produced.partition("/")[0] + "/*", "*/*"}


def content(content_type: str, content_encoding: str, read: Sequence[str] = (JSON,)) -> str:
    """The media type of a body, if it is one of those that are `read`, in UTF-8 without a content coding. Raises UnsupportedType."""
    found = content_type
    if content_type not in read:
        message = Message()
        message["content-type"] = content_type
        found, charset = message.get_content_type(), message.get_content_charset("utf-8")
        if not content_type or found not in read or charset not in {"utf-8", "us-ascii"}:
            raise UnsupportedType(f"The body must be sent as {' or '.join(read)} in UTF-8, and `Content-Type` must say so.")
    if content_encoding not in {"", "identity"}:
        raise UnsupportedType("The body must be sent without a content coding.")
    return found
