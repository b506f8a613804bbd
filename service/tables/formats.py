"""The formats that a table can have, by the name that a caller gives and by media type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from . import arrow, columns, csv, json, ndjson, xlsx
from .limits import check_bytes
from .table import Reading, Sheet, Table, Writing

PLAIN_READING: Final = Reading()
PLAIN_WRITING: Final = Writing()


@dataclass(frozen=True)
class Format:
    """A way to write a table as bytes."""

    name: str
    media_types: tuple[str, ...]
    """The first is the one that is sent."""
    suffix: str
    """Of a file's name, with the point."""
    reader: Callable[[bytes, Reading], Table]
    writer: Callable[[Sheet, Writing], Iterator[bytes]]

    def read(self, body: bytes, reading: Reading = PLAIN_READING) -> Table:
        """The table that `body` holds. Raises InvalidInput, MalformedText, OverLimit."""
        check_bytes(body)
        return self.reader(body, reading)

    def write(self, sheet: Sheet, writing: Writing = PLAIN_WRITING) -> Iterator[bytes]:
        """The sheet, in pieces."""
        return self.writer(sheet, writing)


_ALL: Final = (
    Format("csv", ("text/csv",), ".csv", csv.read, csv.write),
    Format("xlsx", ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",), ".xlsx", xlsx.read, xlsx.write),
    Format("ndjson", ("application/x-ndjson", "application/ndjson", "application/jsonl"), ".ndjson", ndjson.read, ndjson.write),
    Format("json", ("application/json",), ".json", json.read, json.write),
    Format("columns", ("application/json",), ".json", columns.read, columns.write),
    Format("arrow", ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file"), ".arrows", arrow.read, arrow.write),
)

FORMATS: Final[Mapping[str, Format]] = {each.name: each for each in _ALL}

_BY_MEDIA_TYPE: Final[Mapping[str, Format]] = {media_type: each for each in reversed(_ALL) for media_type in each.media_types}


def by_media_type(content_type: str) -> Format | None:
    """The format that a Content-Type names, its parameters aside. JSON is that of rows, which reads columns as well.

    >>> by_media_type("text/csv; charset=utf-8").name
    'csv'
    """
    return _BY_MEDIA_TYPE.get(content_type.split(";", 1)[0].strip().lower())
