"""Saved analyses by filters: the parameters of lists and exports, and the stream that an export is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from ..analysis import selection
from ..analysis.sheets import answers as sheets
from ..catalogue import Catalogue
from ..errors import Fault, Gathered, refuse
from ..schemas.analyses import LABEL_KEY
from ..schemas.exports import ExportQuery
from ..schemas.kinds import SavedKind
from ..schemas.moments import Moment, microseconds
from ..tables.formats import FORMATS
from .accepting import JSON, accepted
from .call import Call
from .exports import EXPORTED, written_as
from .results import Bound

_MEDIA_TYPES: Final = {"json": JSON, **{name: FORMATS[name].media_types[0] for name in ("ndjson", "csv", "xlsx")}}
_NAMES: Final = {media_type: name for name, media_type in _MEDIA_TYPES.items()}
_LINES: Final = {_MEDIA_TYPES["ndjson"]: {"schema": {"type": "string"}}}
EXPORTED_SELECTION: Final[dict[int | str, dict[str, Any]]] = {
    200: {**EXPORTED[200], "content": {**EXPORTED[200]["content"], **_LINES}},
    413: {},
    503: {},
}
"""What an export adds to its answers in the contract."""


SelectionForm = Annotated[
    Literal["json", "ndjson", "csv", "xlsx"] | None, Field(description="What is sent, whatever of it `Accept` likes best; else that.")
]


class SelectionResponse(JSONResponse):
    """JSON unless another form is wanted."""

    media_types = tuple(_MEDIA_TYPES.values())


class Filters(BaseModel):
    """Which analyses are asked for, and in what order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: SavedKind | None = None
    chip: Annotated[str | None, Field(min_length=1, max_length=200, description="`id`, or `id@revision`.")] = None
    bound: Bound | None = None
    label: Annotated[str | None, Field(pattern=rf"^{LABEL_KEY}:", max_length=400, description="`key:value`")] = None
    text: Annotated[str | None, Field(min_length=1, max_length=200, description="A word of the note; case does not count.")] = None
    created_after: Annotated[Moment | None, Field(description="Later than this.")] = None
    created_before: Annotated[Moment | None, Field(description="Earlier than this.")] = None
    order_by: Literal["-created_at", "created_at", "-lower_s", "lower_s"] = "-created_at"

    @staticmethod
    def judged(sent: Mapping[str, str], catalogue: Catalogue) -> list[Fault]:
        """What is wrong with a chip that is named, whatever else is."""
        found = Gathered()
        if sent.get("chip"):
            found.of(lambda: catalogue.check_chip(sent["chip"], "/query/chip"))
        return found.faults

    @property
    def selection(self) -> dict[str, Any]:
        """The filters and the order, as the store takes them."""
        names = ("kind", "chip", "bound", "label", "text", "order_by")
        span = {name: None if (said := getattr(self, name)) is None else microseconds(said) for name in ("created_after", "created_before")}
        return {**{name: getattr(self, name) for name in names}, **span}


class SelectionQuery(Filters, ExportQuery):
    """Which analyses are exported, in what order, and in which form."""

    format: SelectionForm = None  # type: ignore[assignment]  # one form more than other exports have


async def selected(call: Call, asked: SelectionQuery) -> Response:
    """The stream of what is selected. Raises OverLimit, NotAcceptable, InvalidInput at /query/…; Unavailable before it begins.

    A fault after that ends the connection without the end of the body, by which callers know that something is missing.
    """
    service, form = call.service, _form(call, asked)
    count = await service.pools.database(lambda: selection.counted(asked.selection, service.analyses))
    pieces = _pieces(call, asked, form, count)
    first = await service.pools.database(lambda: next(pieces, b""))

    async def stream() -> AsyncIterator[bytes]:
        piece: bytes | None = first
        while piece is not None:
            if piece:
                yield piece
            piece = await service.pools.database(lambda: next(pieces, None))

    headers = {"content-disposition": f'attachment; filename="roofline-analyses.{form}"'}
    return StreamingResponse(stream(), headers=headers, media_type=_MEDIA_TYPES[form])


def _form(call: Call, asked: SelectionQuery) -> str:
    wanted = SelectionResponse.media_types if asked.format is None else (_MEDIA_TYPES[asked.format],)
    form = _NAMES[accepted(call.accept, wanted)]
    said = [name for name in ("sep", "decimal", "bom") if getattr(asked, name) is not None]
    if said and form != "csv":
        raise refuse(f"/query/{said[0]}", "invalid-request", "Only CSV has this choice, and it is not what is sent.")
    return form


def _pieces(call: Call, asked: SelectionQuery, form: str, count: int) -> Iterator[bytes]:
    store, chosen, writing = call.service.analyses, asked.selection, written_as(asked)
    whole: Mapping[str, Any] = {"json": selection.as_json, "ndjson": selection.as_ndjson}
    if form in whole:
        pieces: Iterator[bytes] = whole[form](chosen, store)
        return pieces
    sheet = sheets.selection(selection.headlines(chosen, store), count, call.service.catalogue)
    return FORMATS[form].write(sheet, writing)
