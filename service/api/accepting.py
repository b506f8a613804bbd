"""Whether a client accepts what a route sends (`Accept`), and whether a route reads what a client sends (`Content-Type`)."""

from __future__ import annotations

from email.message import Message
from typing import Final

from ..errors import NotAcceptable, UnsupportedType

JSON: Final = "application/json"


def check_accept(accept: str, produced: str) -> None:
    """Nothing, if a client that sent `accept` takes the media type `produced`. Raises NotAcceptable.

    Of the ranges that fit, the most specific one decides, and a quality of 0 refuses (RFC 9110, 12.5.1).

    >>> check_accept("text/html, application/*;q=0.5", "application/json")
    """
    if accept.strip() and accept != "*/*":
        fitting = [(range_, quality) for range_, quality in map(_range, accept.split(",")) if _fits(range_, produced)]
        if not fitting or max(fitting, key=lambda entry: 2 - entry[0].count("*"))[1] <= 0:
            raise NotAcceptable(f"This resource is sent as {produced}.")


def _range(text: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
    try:
        return name, float(quality)
    except ValueError:
        return name, 0.0


def _fits(range_: str, produced: str) -> bool:
    return range_ in {produced, produced.partition("/")[0] + "/*", "*/*"}


def check_content(content_type: str, content_encoding: str) -> None:
    """Nothing, if the body is said to be JSON in UTF-8 without a content coding. Raises UnsupportedType."""
    if content_type != JSON:
        message = Message()
        message["content-type"] = content_type
        charset = message.get_content_charset("utf-8")
        if not content_type or message.get_content_type() != JSON or charset not in {"utf-8", "us-ascii"}:
            raise UnsupportedType(f"The body must be sent as {JSON} in UTF-8, and `Content-Type` must say so.")
    if content_encoding not in {"", "identity"}:
        raise UnsupportedType("The body must be sent without a content coding.")
