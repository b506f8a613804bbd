"""Rows become columns, while what a table may not have is refused with the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ..errors import InvalidInput, refuse
from ..pointers import pointer
from .limits import LONGEST_NAME, LONGEST_TEXT, check_columns, check_size
from .table import CHUNK, Cell, Table

UNWANTED: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Control characters but for tabs and ends of lines, halves of surrogate pairs, and what XML cannot hold."""

_EMPTY: Final = (None, "")
_UNIT: Final = re.compile(r"\[[^\[\]]{0,40}\]")


class Gathering:
    """The rows of a table under a header, one after another; a row of units right beneath the header is set apart."""

    def __init__(self, header: Sequence[Cell]) -> None:
        self.header = named(header)
        self._units: tuple[str | None, ...] = ()
        self._columns: list[list[Cell]] = [[] for _ in self.header]
        self._waiting: list[Sequence[Cell]] = []
        self._count = 0
        self._empty = 0  # rows since the last that was not empty

    def add(self, row: Sequence[Cell]) -> None:
        """One more row. What comes after the last row that is not empty is no row of the table."""
        if all(cell in _EMPTY for cell in row):
            self._empty += 1
            return
        if len(row) != len(self.header):
            where = f"/rows/{self._count + self._empty}"
            raise refuse(where, "malformed-table", f"The header names {len(self.header)} columns, and the row has {len(row)}.")
        if not (self._units or self._count or self._empty) and reads_as_units(row):
            self._units = tuple(str(cell) if cell else None for cell in row)
            return
        check_size(self._count + self._empty + 1, len(self.header))
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
            check_texts(cells, name, first)
            column.extend(None if cell == "" else cell for cell in cells)
        self._waiting.clear()


def reads_as_units(row: Sequence[Cell]) -> bool:
    """Whether a row says units and nothing else: each cell is empty or text in brackets, and one at least is in brackets.

    >>> reads_as_units([None, "[B/s]", "[]"]), reads_as_units(["H100", "[B/s]"]), reads_as_units([None])
    (True, False, False)
    """
    said = [cell for cell in row if cell not in _EMPTY]
    return bool(said) and all(isinstance(cell, str) and _UNIT.fullmatch(cell) for cell in said)


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


def check_texts(cells: Iterable[Cell], name: str, first: int = 0) -> None:
    """Refuse the first text of a column that is too long or unclean; `first` is the index of its first row."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not UNWANTED.search("".join(texts)) and (not texts or len(max(texts, key=len)) <= LONGEST_TEXT):
        return
    for at, cell in enumerate(cells, first):
        if isinstance(cell, str):
            check_text(cell, pointer(("rows", at, name)))


def check_text(text: str, where: str) -> None:
    if len(text) > LONGEST_TEXT:
        raise refuse(where, "out-of-range", f"A cell has at most {LONGEST_TEXT} characters.")
    if UNWANTED.search(text):
        raise _unclean(where)


def _unclean(where: str) -> InvalidInput:
    return refuse(where, "malformed-table", "The text holds a control character or half of a surrogate pair.")
