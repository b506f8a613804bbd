"""Tables over HTTP: what was uploaded, and in which form the answer goes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from ..errors import near, refuse
from ..tables.formats import FORMATS, Format, by_media_type
from ..tables.limits import MOST_BYTES
from .accepting import JSON, accepted, content
from .bodies import read_body
from .call import Call

MEDIA_TYPES: Final = tuple(dict.fromkeys(media_type for each in FORMATS.values() for media_type in each.media_types))
SENT: Final = tuple(dict.fromkeys(each.media_types[0] for each in FORMATS.values()))

_CELL: Final[dict[str, Any]] = {"type": ["string", "number", "boolean", "null"]}
_JSON: Final[dict[str, Any]] = {
    "oneOf": [
        {"title": "rows", "type": "array", "minItems": 1, "items": {"type": "object", "additionalProperties": _CELL}},
        {"title": "columns", "type": "object", "additionalProperties": {"type": "array", "items": _CELL}},
    ]
}
_BYTES: Final[dict[str, Any]] = {"type": "string", "format": "binary"}


class TableResponse(Response):
    """A table, in the form that the caller wants."""

    media_types = SENT


@dataclass(frozen=True)
class Upload:
    """A table as it came, and how it came."""

    body: bytes
    format: Format


async def received(call: Call) -> Upload:
    """The table in the body of a request. Raises UnsupportedType, OverLimit."""
    headers = call.headers
    media_type = content(headers.get("content-type", ""), headers.get("content-encoding", ""), MEDIA_TYPES)
    found = by_media_type(media_type)
    assert found is not None
    return Upload(await read_body(call.scope, call.receive, call.service.settings.receive_s, MOST_BYTES), found)


def wanted(call: Call, name: str | None, like: Format) -> Format:
    """The form in which a table is sent: the one that is named, or what is accepted, best that which it came in.

    Raises InvalidInput at /query/format, NotAcceptable.
    """
    if name is not None:
        if name not in FORMATS:
            raise refuse("/query/format", "out-of-range", "There is no table format of this name.", near(name, FORMATS) or tuple(FORMATS))
        accepted(call.accept, FORMATS[name].media_types[:1])
        return FORMATS[name]
    media_type = accepted(call.accept, (like.media_types[0], *SENT))
    return like if media_type == like.media_types[0] else next(each for each in FORMATS.values() if each.media_types[0] == media_type)


def _contents(media_types: Iterable[str]) -> dict[str, Any]:
    return {name: {"schema": _JSON if name == JSON else _BYTES} for name in media_types}


def table_body(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A body that is a table, for the contract; `rows` is one that is answered as it stands."""
    contents = _contents(MEDIA_TYPES)
    contents[JSON]["examples"] = {"rows": {"summary": "Rows of several ops and chips", "value": rows}}
    return {"requestBody": {"required": True, "content": contents}}


TABLE_ANSWER: Final[Mapping[int | str, dict[str, Any]]] = {
    200: {"content": _contents(SENT)},
    413: {},
    415: {},
    503: {},
}
"""An answer to it."""
