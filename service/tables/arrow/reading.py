"""A table of Arrow: numbers, text, truth values and dictionaries of them. Dates and decimals become text; nested columns are refused.

A whole number is an int in a column of floats too, since a data frame has no other column for whole numbers of which some lack.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any, Final

from ...errors import UnsupportedType, refuse
from ...pointers import pointer
from ..gathering import check_texts, named
from ..limits import check_columns, check_text_size
from ..numerals import whole
from ..table import Cell, Reading, Table
from .library import pyarrow
from .messages import Bounds

_FILE: Final = b"ARROW1\0\0"
_LENGTH_AND_MARK: Final = 4 + 6  # bytes


def read(body: bytes, _reading: Reading) -> Table:
    """The table that `body` holds. Raises InvalidInput, OverLimit, and UnsupportedType without the extra `arrow`."""
    pa = pyarrow(UnsupportedType)
    stream = _stream(body)
    try:
        schema = pa.ipc.open_stream(stream).schema
        check_columns(len(schema))
        header = named(schema.names)
        _check_bounds(pa, stream, len(header))
        return _gathered(pa, header, pa.ipc.open_stream(stream))
    except (pa.ArrowException, OSError, struct.error, AssertionError):
        raise refuse("", "malformed-table", "The body is not a stream or file of Arrow, or is not whole.") from None


def _stream(body: bytes) -> bytes:
    """The messages of `body`. A file has a mark before them, and after them an index, its length, and the mark again."""
    if not body.startswith(_FILE):
        return body
    index = int.from_bytes(body[-_LENGTH_AND_MARK:][:4], "little")
    return body[len(_FILE) : max(len(body) - _LENGTH_AND_MARK - index, 0)]


def _check_bounds(pa: Any, stream: bytes, columns: int) -> None:
    messages = iter(pa.ipc.MessageReader.open_stream(stream))
    next(messages)  # the schema
    bounds = Bounds(columns)
    for message in messages:
        bounds.check(message)


def _gathered(pa: Any, header: tuple[str, ...], batches: Any) -> Table:
    columns: list[list[Cell]] = [[] for _ in header]
    characters = 0
    for batch in batches:
        batch.validate(full=True)
        for name, column, cells in zip(header, columns, batch.columns, strict=True):
            found = _cells(pa, cells, name, len(column))
            characters += check_texts(found, name, len(column))
            check_text_size(characters)
            column.extend(found)
    return Table(header, tuple(columns))


def _cells(pa: Any, array: Any, name: str, first: int) -> list[Cell]:
    """The values of a column of a batch, whose first row has the index `first` in the table."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        entries = _cells(pa, array.dictionary, name, first)
        return [None if at is None else entries[at] for at in array.indices.to_pylist()]
    if pa.types.is_floating(kind):
        return list(_finite(array.to_pylist(), name, first))
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return list(array.to_pylist())
    return [text or None for text in _texts(pa, array, name).to_pylist()]


def _texts(pa: Any, array: Any, name: str) -> Any:
    """A column of text, or of what becomes text, within the limit of all texts."""
    kind = array.type
    if pa.types.is_decimal(kind) or (pa.types.is_temporal(kind) and not pa.types.is_duration(kind)):
        return array.cast(pa.string())
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise refuse(pointer(("header", name)), "wrong-type", "The column holds neither numbers, text, truth values nor dates.")
    lengths = array.cast(pa.large_string()) if pa.types.is_string_view(kind) else array
    check_text_size(pa.compute.sum(pa.compute.binary_length(lengths)).as_py() or 0)
    return array


def _finite(values: list[float | None], name: str, first: int) -> Iterator[float | None]:
    for row, value in enumerate(values, first):
        if value is not None and not math.isfinite(value):
            raise refuse(pointer(("rows", row, name)), "not-finite", "The number must be finite; a cell without a value is null.")
        yield None if value is None else whole(value)
