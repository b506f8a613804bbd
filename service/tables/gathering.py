"""Rows become columns, while what a table may not have is refused with the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ..errors import InvalidInput, refuse
from ..pointers import pointer
from .limits import LONGEST_NAME, LONGEST_TEXT, check_columns, check_size, check_text_size
from .table import CHUNK, Cell, Table
from .units import reads_as_units

UNWANTED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters but for tabs and ends of lines, halves of surrogate pairs, and what XML cannot hold."""

_EMPTY: Final = (None, "")


class Gathering:
    """The rows of a table under a header, one after another; a row of units right beneath the header is set apart."""

    def __init__(self, header: Sequence[Cell]) -> None:
        self.header = named(header)
        self._units: tuple[str | None, ...] = ()
        self._columns: list[list[Cell]] = [[] for _ in self.header]
        self._waiting: list[Sequence[Cell]] = []
        self._count = 0
        self._empty = 0  # rows since the last that was not empty
        self._characters = 0

    @property
    def next_row(self) -> int:
        """The index that the next row will have."""
        return self._count + self._empty

    def skip(self, rows: int) -> None:
        """So many empty rows."""
        self._empty += rows

    def add(self, row: Sequence[Cell]) -> None:
        """One more row. What comes after the last row that is not empty is no row of the table."""
        if all(cell in _EMPTY for cell in row):
            self._empty += 1
            return
        if len(row) != len(self.header):
            where = f"/rows/{self.next_row}"
            raise refuse(where, "malformed-table", f"The header names {len(self.header)} columns, and the row has {len(row)}.")
        if not (self._units or self._count or self._empty) and reads_as_units(row):
            self._units = tuple(str(cell) if cell else None for cell in row)
            return
        check_size(self.next_row + 1, len(self.header))
        for _ in range(self._empty):
            self._append((None,) * len(self.header))
        self._empty = 0
        self._append(row)

    def table(self, decimal: str | None = None) -> Table:
        self._settle()
        return Table(self.header, tuple(self._columns), self._units, decimal)

    def _append(self, row: Sequence[Cell]) -> None:
        self._waiting.append(row)
        self._count += 1
        if len(self._waiting) == CHUNK:
            self._settle()

    def _settle(self) -> None:
        first = self._count - len(self._waiting)
        for name, column, cells in zip(self.header, self._columns, zip(*self._waiting, strict=True), strict=False):
            self._characters += check_texts(cells, name, first)
            column.extend(None if cell == "" else cell for cell in cells)
        check_text_size(self._characters)
        self._waiting.clear()


def named(header: Sequence[Cell]) -> tuple[str, ...]:
    """The names of a header, each of them there, short, clean and the only one of its kind."""
    check_columns(len(header))
    places: dict[str, int] = {}
    for at, cell in enumerate(header):
        where = f"/header/{at}"
        name = "" if cell is None else str(cell)
        if not name:
            raise refuse(where, "malformed-table", "A column has no name.")
        if len(name) > LONGEST_NAME:
            raise refuse(where, "out-of-range", f"A name has at most {LONGEST_NAME} characters.")
        if UNWANTED.search(name):
            raise _unclean(where)
        if places.setdefault(name, at) != at:
            raise refuse(where, "malformed-table", f"The column has the name of column {places[name]}, counted from 0.")
    if not places:
        raise refuse("/header", "malformed-table", "The table is empty; its first row must name the columns.")
    return tuple(places)


def check_texts(cells: Iterable[Cell], name: str, first: int = 0) -> int:
    """How many characters the texts of a column have; the first that is too long or unclean is refused.

    `first` is the index of the first row.
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    characters = sum(map(len, texts))
    check_text_size(characters)
    distinct = set(texts)
    if len(max(distinct, key=len, default="")) <= LONGEST_TEXT and not any(map(UNWANTED.search, distinct)):
        return characters
    for at, cell in enumerate(cells, first):
        if isinstance(cell, str):
            _check_text(cell, pointer(("rows", at, name)))
    raise AssertionError("one of the texts was found wanting")


def _check_text(text: str, where: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise refuse(where, "out-of-range", f"A cell has at most {LONGEST_TEXT} characters.")
    if UNWANTED.search(text):
        raise _unclean(where)


def _unclean(where: str) -> InvalidInput:
    return refuse(where, "malformed-table", "The text holds a control character or half of a surrogate pair.")
