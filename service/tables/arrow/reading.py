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
from .messages import Bounds, blocks

_MARK: Final = b"ARROW1"  # with which a file begins and ends
_BROKEN: Final = (OSError, EOFError, ValueError, LookupError, OverflowError, struct.error, AssertionError)
"""What the library's own errors leave out: a name that is not UTF-8, a message that lies outside, an index that leads nowhere."""
_LENGTH: Final = 4  # bytes before the last mark, which say how long the index before them is


def read(body: bytes, _reading: Reading) -> Table:
    """The table that `body` holds. Raises InvalidInput, OverLimit, and UnsupportedType without the extra `arrow`."""
    pa = pyarrow(UnsupportedType)
    is_file = body.startswith(_MARK)
    try:
        source = pa.ipc.open_file(body) if is_file else pa.ipc.open_stream(body)
        check_columns(len(source.schema))
        header = named(source.schema.names)
        bounds = Bounds(len(header))
        for message in _of_file(pa, body) if is_file else _of_stream(pa, body):
            bounds.check(message)
        batches = map(source.get_batch, range(source.num_record_batches)) if is_file else source
        return _gathered(pa, header, batches)
    except (pa.ArrowException, *_BROKEN):
        raise refuse("", "malformed-table", "The body is not a stream or file of Arrow, or is not whole.") from None


def _of_stream(pa: Any, body: bytes) -> Iterator[Any]:
    messages: Iterator[Any] = iter(pa.ipc.MessageReader.open_stream(body))
    next(messages)  # the schema
    return messages


def _of_file(pa: Any, body: bytes) -> Iterator[Any]:
    end = len(body) - len(_MARK) - _LENGTH
    size = int.from_bytes(body[end : end + _LENGTH], "little")
    content = pa.py_buffer(body)
    for start, length in blocks(body[end - size : end]):
        yield pa.ipc.read_message(content.slice(start, length))


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
    check_text_size(_viewed(array) if pa.types.is_string_view(kind) else pa.compute.sum(pa.compute.binary_length(array)).as_py() or 0)
    return array


def _viewed(array: Any) -> int:
    """Bytes of all texts of a column of views, many of which may show the same text. A view of 16 bytes begins with its length."""
    if not len(array):
        return 0
    views = memoryview(array.buffers()[1])[16 * array.offset : 16 * (array.offset + len(array))]
    return sum(length for length, is_there in zip(views.cast("i")[::4], array.is_valid().to_pylist(), strict=True) if is_there)


def _finite(values: list[float | None], name: str, first: int) -> Iterator[float | None]:
    for row, value in enumerate(values, first):
        if value is not None and not math.isfinite(value):
            raise refuse(pointer(("rows", row, name)), "not-finite", "The number must be finite; a cell without a value is null.")
        yield None if value is None else whole(value)
