"""A JSON object of lists, one column each, all of one length. The object is cut into its lists before any of them is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from ..errors import MalformedText, refuse
from ..pointers import pointer
from .finite import check_finite
from .gathering import named
from .limits import MOST_ROWS, check_columns, check_size
from .records import cell, dumped, parsed
from .table import Cell, Reading, Sheet, Table, Writing

_BLANK: Final = rb"[ \t\r\n]*"
_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
_COMMA_OR_STRING: Final = re.compile(b",|" + _STRING, re.DOTALL)
_BEGIN: Final = re.compile(_BLANK + rb"\{" + _BLANK)
_COLUMN: Final = re.compile(
    rb"(?P<name>%(string)s)%(blank)s:%(blank)s(?P<cells>\[(?:[^\[\]{}\"]++|%(string)s)*+\])%(blank)s(?:,%(blank)s|(?P<end>\}%(blank)s\Z))"
    % {b"string": _STRING, b"blank": _BLANK},
    re.DOTALL,
)


def read(body: bytes, _reading: Reading) -> Table:
    """The table that `body` holds. Raises InvalidInput, MalformedText, OverLimit."""
    names: list[str] = []
    columns: list[list[Cell]] = []
    for name, cells in _lists(body):
        names.append(_named(name, len(names)))
        check_columns(len(names))
        columns.append(_cells(cells, names[-1], len(columns)))
        check_size(len(columns[0]), len(columns))
        if len(columns[-1]) != len(columns[0]):
            raise refuse(pointer((names[-1],)), "column-length", "The columns of a table have one length.")
    return Table(named(names), tuple(columns))


def _lists(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The text of each name and of its list."""
    step = _BEGIN.match(body)
    count, is_done = 0, False
    while step and not is_done:
        step = _COLUMN.match(body, step.end())
        if step:
            yield step["name"], step["cells"]
            count, is_done = count + 1, step["end"] is not None
    if step is None:
        raise MalformedText(f"The text is not an object of flat lists in JSON; {count} columns of it were read.")


def _named(text: bytes, at: int) -> str:
    (name,) = _values(b"[" + text + b"]", f"In the name of column {at}, counted from 0", lambda _path: f"/header/{at}")
    return str(name)


def _cells(text: bytes, name: str, at: int) -> list[Cell]:
    if text.count(b",") >= MOST_ROWS:
        _check_length(text)
    values = _values(text, f"In column {at}, counted from 0", lambda path: pointer(("rows", path[1:], name)))
    return [cell(value, row, name) for row, value in enumerate(values)]


def _check_length(text: bytes) -> None:
    """Refuse a list with too many values, by the commas between them."""
    commas = 0
    for match in _COMMA_OR_STRING.finditer(text):
        commas += match[0] == b","
        check_size(commas + 1, 1)


def _values(text: bytes, where: str, place: Callable[[str], str]) -> list[object]:
    values = parsed(text, where, place)
    assert isinstance(values, list)
    return values


def write(sheet: Sheet, _writing: Writing) -> Iterator[bytes]:
    """The columns as one object, in pieces."""
    table = sheet.table
    for at, (name, column) in enumerate(zip(table.header, table.columns, strict=True)):
        cells = table.typed(column)
        check_finite((name,), (cells,))
        yield (b",\n" if at else b"{\n") + dumped(name) + b":" + dumped(list(cells))
    yield b"\n}\n"
