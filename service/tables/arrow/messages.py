"""How much the batches of an Arrow stream hold, read from their descriptions before any of them is unpacked.

A message describes a batch in a FlatBuffer: a table is a place from which a table of offsets, before it, leads to its fields. What
stands here is Arrow's format, version 5, https://arrow.apache.org/docs/format/Columnar.html, files Message.fbs and File.fbs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

from ...errors import OverLimit, refuse
from ..limits import check_inflated, check_size

_HEADER: Final = 2  # of a message, by the place of each field in its schema
_DATA: Final = 1  # of a dictionary
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # of a batch
_DICTIONARIES, _BATCHES = 2, 3  # of the index of a file
_BUFFER: Final = struct.Struct("<2q")  # where it begins, its length
_BLOCK: Final = struct.Struct("<qi4xq")  # where a message begins, the length of its description, that of its body
_MOST_MESSAGES: Final = 2000
_MOST_ENTRIES: Final = 2**20  # of all dictionaries together


class Bounds:
    """Counts rows and bytes over the messages of a table of so many columns."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._messages = 0
        self._rows = 0
        self._entries = 0
        self._inflated = 0

    def check(self, message: Any) -> None:
        """Raise OverLimit where the batches so far hold more than a table may."""
        metadata = _Metadata(message.metadata.to_pybytes())
        batch = metadata.inside(metadata.root(), _HEADER)
        self._messages += 1
        if message.type == "dictionary":
            batch = metadata.inside(batch, _DATA)
            self._entries += metadata.long(batch, _LENGTH)
        elif message.type == "record batch":
            self._rows += metadata.long(batch, _LENGTH)
        else:
            raise refuse("", "malformed-table", "The stream holds something that is not a table.")
        self._inflated += metadata.inflated(batch, message.body)
        check_size(self._rows, self._columns)
        check_inflated(self._inflated)
        if self._messages > _MOST_MESSAGES or self._entries > _MOST_ENTRIES:
            detail = f"A table comes in at most {_MOST_MESSAGES} batches, and its dictionaries have at most {_MOST_ENTRIES} entries."
            raise OverLimit(detail, code="body-too-large")


def blocks(index: bytes) -> Iterator[tuple[int, int]]:
    """Where the messages of a file begin and how long they are, dictionaries first, by the index at its end."""
    footer = _Metadata(index)
    for field in (_DICTIONARIES, _BATCHES):
        for start, described, content in footer.structs(footer.root(), field, _BLOCK):
            yield start, described + content


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

    def structs(self, table: int, field: int, form: struct.Struct) -> list[tuple[int, ...]]:
        """The entries of a list that a field of a table refers to, none where it is left out."""
        if not self._place(table, field):
            return []
        vector = self.inside(table, field)
        return [form.unpack_from(self._text, vector + 4 + at * form.size) for at in range(self._offset("<I", vector))]

    def inflated(self, batch: int, body: Any) -> int:
        """Bytes of the buffers of a batch. One that is compressed begins with what it will have, or -1 where it is stored as it is."""
        places = self.structs(batch, _BUFFERS, _BUFFER)
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
