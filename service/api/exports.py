"""Answers that are sent as JSON or as a table, whichever the caller wants: one place for all routes that have both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from fastapi.responses import JSONResponse
from starlette.responses import Response

from ..errors import refuse
from ..schemas.exports import SEPARATORS, ExportQuery
from ..tables.formats import FORMATS, Format
from ..tables.table import Sheet, Writing
from .accepting import JSON, accepted
from .answers import resource
from .call import Call
from .conditions import TAGGED

CSV: Final = FORMATS["csv"]
XLSX: Final = FORMATS["xlsx"]
_MEDIA_TYPES: Final = {"json": JSON, "csv": CSV.media_types[0], "xlsx": XLSX.media_types[0]}
_BY_MEDIA_TYPE: Final = {form.media_types[0]: form for form in (CSV, XLSX)}
_SEVERAL: Final = {"Vary": {"description": "That the form depends on `Accept`.", "schema": {"type": "string", "const": "Accept"}}}
_NAMED: Final = {"Content-Disposition": {"description": "The name of a file, for a table.", "schema": {"type": "string"}}}
_NEXT: Final = {"Link": {"description": 'Where the next part of a table is: `rel="next"`.', "schema": {"type": "string"}}}


class ExportResponse(JSONResponse):
    """JSON unless a table is wanted."""

    media_types = tuple(_MEDIA_TYPES.values())


def _contents(**headers: Any) -> dict[int | str, dict[str, Any]]:
    forms = {_MEDIA_TYPES["csv"]: {"schema": {"type": "string"}}, _MEDIA_TYPES["xlsx"]: {"schema": {"type": "string", "format": "binary"}}}
    return {200: {"content": forms, "headers": {**_SEVERAL, **_NAMED, **headers}}, 503: {}}


EXPORTED: Final = _contents()
EXPORTED_LIST: Final = _contents(**_NEXT)
EXPORTED_RESOURCE: Final = {**TAGGED, **_contents(**TAGGED[200]["headers"])}
"""What a route with both forms adds to its answers in the contract."""


@dataclass(frozen=True)
class Export:
    """An answer in both forms."""

    name: str
    """of the file, without a suffix"""
    json: Callable[[], Response]
    sheet: Callable[[], Sheet]
    next_cursor: str | None = None
    """of the part of a list that follows"""
    is_tagged: bool = False
    """whether it is a single resource"""


async def exported(call: Call, asked: ExportQuery, export: Export) -> Response:
    """The answer in the form that the caller wants. Raises NotAcceptable, InvalidInput at /query/…"""
    form = _form(call, asked)
    if form is None:
        return export.json()
    writing = written_as(asked)
    body = await call.service.pools.apart(lambda: b"".join(form.write(export.sheet(), writing)))
    headers = {"content-disposition": f'attachment; filename="roofline-{export.name}{form.suffix}"'}
    if export.next_cursor is not None:
        headers["link"] = f'<{_next(call, export.next_cursor)}>; rel="next"'
    if export.is_tagged:
        return resource(call, body, form.media_types[0], headers)
    return Response(body, headers=headers, media_type=form.media_types[0])


def _form(call: Call, asked: ExportQuery) -> Format | None:
    """The format of the table that is wanted; nothing where JSON is."""
    wanted = ExportResponse.media_types if asked.format is None else (_MEDIA_TYPES[asked.format],)
    form = _BY_MEDIA_TYPE.get(accepted(call.accept, wanted))
    said = [name for name in ("sep", "decimal", "bom") if getattr(asked, name) is not None]
    if said and form is not CSV:
        raise refuse(f"/query/{said[0]}", "invalid-request", "Only CSV has this choice, and it is not what is sent.")
    return form


def written_as(asked: ExportQuery) -> Writing:
    """How CSV is wanted. Raises InvalidInput at /query/sep."""
    decimal = asked.decimal or "."
    separator = SEPARATORS[asked.sep] if asked.sep else ";" if decimal == "," else ","
    if separator == decimal:
        raise refuse("/query/sep", "invalid-request", "A comma cannot separate numbers that have one.", ("semicolon", "tab"))
    return Writing(separator, decimal, asked.bom == "present")


def _next(call: Call, cursor: str) -> str:
    """The address of the next part of a list: as this one was asked for, from `cursor` on."""
    others = [(name, text) for name, text in call.query_params.multi_items() if name != "cursor"]
    return f"{call.url.path}?{urlencode([*others, ('cursor', cursor)])}"
