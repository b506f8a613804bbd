"""A table as a stream of Arrow. A column has one type: whole numbers, floats where some have a fraction, truth values, else text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...errors import NotAcceptable
from ..finite import check_finite
from ..numerals import LARGEST_WHOLE
from ..table import Cell, Sheet, Writing
from ..texts import text_of
from .library import pyarrow

_LARGEST_LONG: Final = 2**63 - 1


def write(sheet: Sheet, _writing: Writing) -> Iterator[bytes]:
    """The stream, in pieces. Raises NotAcceptable without the extra `arrow`."""
    pa = pyarrow(NotAcceptable)
    table = sheet.table
    types = [_type(pa, table.typed(column)) for column in table.columns]
    schema = pa.schema(list(zip(table.header, types, strict=True)))
    out = io.BytesIO()
    with pa.ipc.new_stream(out, schema) as stream:
        for chunk in table.chunks():
            check_finite(table.header, chunk)
            arrays = [pa.array(_fitting(pa, cells, kind), kind) for cells, kind in zip(chunk, types, strict=True)]
            stream.write_batch(pa.record_batch(arrays, schema=schema))
            yield _taken(out)
    yield _taken(out)


def _type(pa: Any, cells: Sequence[Cell]) -> Any:
    """The type that holds each cell of a column exactly."""
    kinds = set(map(type, cells)) - {type(None)}
    if not kinds:
        return pa.null()
    if kinds == {bool}:
        return pa.bool_()
    if kinds <= {int, float}:
        largest = max(abs(cell) for cell in cells if isinstance(cell, int)) if int in kinds else 0
        if largest <= (LARGEST_WHOLE if float in kinds else _LARGEST_LONG):
            return pa.float64() if float in kinds else pa.int64()
    return pa.string()


def _fitting(pa: Any, cells: Sequence[Cell], kind: Any) -> Sequence[Cell]:
    return [None if cell is None else text_of(cell) for cell in cells] if kind == pa.string() else cells


def _taken(out: io.BytesIO) -> bytes:
    whole = out.getvalue()
    out.seek(0)
    out.truncate()
    return whole
