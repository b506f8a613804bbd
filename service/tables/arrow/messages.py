"""How much the batches of an Arrow stream hold, read from their descriptions before any of them is unpacked.

A message describes a batch in a FlatBuffer: a table is a place from which a table of offsets, before it, leads to its fields. What
stands here is Arrow's format, version 5, https://arrow.apache.org/docs/format/Columnar.html, files Message.fbs and Schema.fbs.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from ...errors import OverLimit, refuse
from ..limits import check_inflated, check_size

_HEADER: Final = 2  # of a message, by the place of each field in its schema
_DATA: Final = 1  # of a dictionary
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # of a batch
_BUFFER: Final = struct.Struct("<2q")  # where it begins, its length
_MOST_DICTIONARY: Final = 2**20  # entries of all dictionaries together


class Bounds:
    """Counts rows and bytes over the messages of a stream of so many columns."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._rows = 0
        self._entries = 0
        self._inflated = 0

    def check(self, message: Any) -> None:
        """Raise OverLimit where the batches so far hold more than a table may."""
        metadata = _Metadata(message.metadata.to_pybytes())
        batch = metadata.inside(metadata.root(), _HEADER)
        if message.type == "dictionary":
            batch = metadata.inside(batch, _DATA)
            self._entries += metadata.long(batch, _LENGTH)
            if self._entries > _MOST_DICTIONARY:
                raise OverLimit(f"The dictionaries of a table have at most {_MOST_DICTIONARY} entries.", code="body-too-large")
        elif message.type == "record batch":
            self._rows += metadata.long(batch, _LENGTH)
            check_size(self._rows, self._columns)
        else:
            raise refuse("", "malformed-table", "The stream holds something that is not a table.")
        self._inflated += metadata.inflated(batch, message.body)
        check_inflated(self._inflated)


class _Metadata:
    """A FlatBuffer whose offsets have been verified."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def root(self) -> int:
        return self._offset("<I", 0)

    def inside(self, table: int, field: int) -> int:
        """The table or vector that a field of a table refers to."""
        place = self._place(table, field)
        assert place, "a field that every writer gives"
        return place + self._offset("<I", place)

    def long(self, table: int, field: int) -> int:
        """A field of 64 bits, 0 where it is left out."""
        place = self._place(table, field)
        return self._offset("<q", place) if place else 0

    def inflated(self, batch: int, body: Any) -> int:
        """Bytes of the buffers of a batch. One that is compressed begins with what it will have, or -1 where it is stored as it is."""
        vector = self.inside(batch, _BUFFERS)
        count = self._offset("<I", vector)
        places = [_BUFFER.unpack_from(self._text, vector + 4 + at * _BUFFER.size) for at in range(count)]
        if not self._place(batch, _COMPRESSION):
            return sum(length for _, length in places)
        content = memoryview(body)
        sizes = [struct.unpack_from("<q", content, start)[0] for start, length in places if length >= 8]
        if min(sizes, default=0) < -1:
            raise refuse("", "malformed-table", "A buffer of the table has a size below 0.")
        return sum(sizes)

    def _place(self, table: int, field: int) -> int:
        """Where a field of a table stands, 0 where it is left out."""
        offsets = table - self._offset("<i", table)
        slot = 4 + 2 * field
        inner = self._offset("<H", offsets + slot) if slot < self._offset("<H", offsets) else 0
        return table + inner if inner else 0

    def _offset(self, form: str, place: int) -> int:
        value: int = struct.unpack_from(form, self._text, place)[0]
        return value
