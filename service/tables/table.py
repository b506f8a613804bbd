"""A table in memory, and how one is said to be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from .numerals import in_place

Cell: TypeAlias = str | int | float | bool | None
"""What stands in a cell; None where it is empty. An empty text is an empty cell."""

CHUNK: Final = 1024
"""Rows that are written at a time, and checked at a time while they are read."""


@dataclass(frozen=True)
class Table:
    """Columns of cells, all of one length, under names that differ."""

    header: tuple[str, ...]
    columns: tuple[Sequence[Cell], ...]
    units_row: tuple[str | None, ...] = ()
    """The row of units beneath the header, as it was written; it is none of the rows."""
    decimal: str | None = None
    """The decimal mark of the numbers, where all cells are text that may denote one (CSV); None where cells have types."""

    @property
    def rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> Sequence[Cell]:
        return self.columns[self.header.index(name)]

    def typed(self, cells: Sequence[Cell]) -> Sequence[Cell]:
        """Cells of this table, numbers where the text is exactly what a number would be written as."""
        if self.decimal is None:
            return cells
        mark = self.decimal
        return [in_place(cell, mark) if isinstance(cell, str) else cell for cell in cells]

    def chunks(self, *, are_typed: bool = True) -> Iterator[list[Sequence[Cell]]]:
        """The columns, so many rows at a time."""
        for start in range(0, self.rows, CHUNK):
            part = [column[start : start + CHUNK] for column in self.columns]
            yield [self.typed(cells) for cells in part] if are_typed else part


@dataclass(frozen=True)
class Flow(Table):
    """A table on its way out that is never in memory as a whole: its rows come in parts, once."""

    parts: Iterator[tuple[Sequence[Cell], ...]] = field(default=iter(()), compare=False)
    expected: int = 0
    """About how many rows will come; only the stated extent of a workbook rests on it."""

    @property
    def rows(self) -> int:
        return self.expected

    def chunks(self, *, are_typed: bool = True) -> Iterator[list[Sequence[Cell]]]:
        """The parts; their cells have types, whatever is asked."""
        return (list(part) for part in self.parts)


@dataclass(frozen=True)
class Reading:
    """How a caller says that a table is written; None where the bytes themselves must say so."""

    separator: str | None = None
    decimal: str | None = None
    sheet: str | None = None


@dataclass(frozen=True)
class Writing:
    """How a caller wants CSV written; the other formats have no choice."""

    separator: str = ","
    decimal: str = "."
    has_mark: bool = False
    """Whether the text begins with a byte order mark, by which some programs know UTF-8."""


@dataclass(frozen=True)
class Sheet:
    """A table on its way out, with what stands around it where the format has a place."""

    table: Table
    units: Mapping[str, str] = field(default_factory=dict)
    """Units by column, for the header of CSV and XLSX: `bandwidth [B/s]`."""
    about: Sequence[tuple[str, str]] = ()
    """Where the numbers come from: a second sheet of XLSX."""
    validations: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The values that may be chosen in a column of XLSX."""

    def titles(self) -> list[str]:
        """The header with units."""
        return [f"{name} [{self.units[name]}]" if name in self.units else name for name in self.table.header]
