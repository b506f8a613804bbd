"""Rows as JSON objects, one after another, become columns: shared by NDJSON and by lists of objects.

The columns are the names in the order in which they first appear; a row that lacks one has an empty cell there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import orjson

from .. import strict_json
from ..errors import InvalidInput, MalformedText, OverLimit, refuse
from ..pointers import pointer
from .finite import check_finite
from .gathering import UNWANTED, named
from .limits import LONGEST_ROW, LONGEST_TEXT, check_size
from .table import Cell, Table

_SIMPLE: Final = frozenset({int, float, bool, type(None)})


def gathered(texts: Iterable[bytes]) -> Table:
    """The table whose rows are the JSON objects of `texts`."""
    columns: dict[str, list[Cell]] = {}
    count = 0
    for row, text in enumerate(texts):
        for name, value in _members(text, row).items():
            column = columns.setdefault(name, [])
            column.extend([None] * (row - len(column)))
            column.append(value if type(value) in _SIMPLE else cell(value, row, name))
        count = row + 1
        check_size(count, len(columns) or 1)
    for column in columns.values():
        column.extend([None] * (count - len(column)))
    return Table(named(tuple(columns)), tuple(columns.values()))


def _members(text: bytes, row: int) -> dict[str, Any]:
    if len(text) > LONGEST_ROW:
        raise OverLimit(f"Row {row}, counted from 0, has more than {LONGEST_ROW} bytes.", code="body-too-large")
    value = parsed(text, f"In row {row}, counted from 0", lambda path: f"/rows/{row}{path}")
    if not isinstance(value, dict):
        raise refuse(f"/rows/{row}", "wrong-type", "A row is an object.")
    return value


def parsed(text: bytes, where: str, place: Callable[[str], str]) -> object:
    """The value of a part of the body: `where` it stands, in words, and the `place` in the table of a pointer into the part."""
    try:
        return strict_json.read(text, UNWANTED)
    except InvalidInput as error:
        raise InvalidInput([replace(fault, pointer=place(fault.pointer)) for fault in error.faults]) from None
    except MalformedText as error:
        raise MalformedText(f"{where}: {error.detail}", code=error.code) from None


def cell(value: object, row: int, name: str) -> Cell:
    """A value of JSON as a cell."""
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise refuse(pointer(("rows", row, name)), "out-of-range", f"A cell has at most {LONGEST_TEXT} characters.")
        return value or None
    if isinstance(value, (int, float)) or value is None:
        return value
    raise refuse(
        pointer(("rows", row, name)), "wrong-type", "A cell is a number, text, true, false or null; what is nested has a column of its own."
    )


def objects(table: Table) -> Iterator[list[bytes]]:
    """The rows as JSON objects, a thousand at a time."""
    for chunk in table.chunks():
        check_finite(table.header, chunk)
        yield [dumped(dict(zip(table.header, row, strict=True))) for row in zip(*chunk, strict=True)]


def dumped(value: object) -> bytes:
    """JSON; whole numbers of more than 64 bits, which the quick writer does not know, by the standard library's."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
