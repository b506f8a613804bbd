"""A table that fits the terminal: nothing in it is cut, and no name or number is broken over two lines.

It takes the first of these forms that is narrow enough:

    one line for a row, its columns two blanks apart, or one
    two lines for a row, its name above and the rest below it, in columns two blanks apart, or one
    a paragraph for a row, its name above and each of the rest behind what it is
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from .words import wrapped

INDENT: Final = 2
LEAST_PROSE: Final = 24
"""Columns below which prose becomes a ribbon."""

GAPS: Final = (2, 1)


@dataclass(frozen=True)
class Grid:
    """Rows of cells; the first `left` columns flush left, the others flush right, the first `names` name the row, `prose` may wrap."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int
    names: int
    prose: frozenset[int]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width - INDENT
        for line in self._fitted(width):
            line.pad_left(INDENT)
            line.rstrip()
            yield line

    def _fitted(self, width: int) -> Iterator[Text]:
        columns = range(len(self.titles))
        for gap in GAPS:
            if widths := self._widths(columns, width, gap):
                return self._lines(columns, widths, gap)
        for gap in GAPS:
            if widths := self._widths(columns[self.names :], width - self._below, gap):
                return self._pairs(widths, width, gap)
        return self._paragraphs(width)

    @cached_property
    def _natural(self) -> list[int]:
        """The width that each column takes when nothing in it wraps."""
        return [max(len(line) for cell in cells for line in cell.split("\n")) for cells in zip(self.titles, *self.rows, strict=True)]

    @property
    def _below(self) -> int:
        """How far what stands below a name is indented: as far as the name is behind its number, if it has one."""
        return sum(self._natural[: self.names - 1]) + INDENT

    def _least(self, at: int) -> int:
        """The width below which a column is no longer read with ease: prose and names may wrap between words, all else may not."""
        if at in self.prose:
            return min(self._natural[at], LEAST_PROSE)
        if at == self.names - 1:
            return max(len(word) for row in (self.titles, *self.rows) for word in row[at].split(" "))
        return self._natural[at]

    def _widths(self, columns: Sequence[int], width: int, gap: int) -> dict[int, int]:
        """The width of each of `columns`, prose taking what the others leave; none where that is too little."""
        widths = {at: self._least(at) for at in columns}
        room = width - sum(widths.values()) - gap * (len(columns) - 1)
        for at in columns:
            more = min(max(room, 0), self._natural[at] - widths[at])
            widths[at] += more
            room -= more
        return widths if room >= 0 else {}

    def _lines(self, columns: Sequence[int], widths: dict[int, int], gap: int) -> Iterator[Text]:
        if any(self.titles[at] for at in columns):
            yield from self._line(self.titles, columns, widths, gap, "bold")
        for row in self.rows:
            yield from self._line(row, columns, widths, gap)

    def _line(self, row: Sequence[str], columns: Sequence[int], widths: dict[int, int], gap: int, style: str = "") -> Iterator[Text]:
        """A row, as many lines high as the highest of its cells."""
        cells = [wrapped(row[at], widths[at]) for at in columns]
        for down in range(max(map(len, cells))):
            shown = [cell[down] if down < len(cell) else "" for cell in cells]
            aligned = [f"{text:{'<' if at < self.left else '>'}{widths[at]}}" for at, text in zip(columns, shown, strict=True)]
            yield Text((" " * gap).join(aligned), style, no_wrap=True)

    def _pairs(self, widths: dict[int, int], width: int, gap: int) -> Iterator[Text]:
        columns = range(self.names, len(self.titles))
        for at, row in enumerate([self.titles, *self.rows]):
            style = "" if at else "bold"
            yield from self._name(row, width, style)
            for line in self._line(row, columns, widths, gap, style):
                line.pad_left(self._below)
                yield line

    def _paragraphs(self, width: int) -> Iterator[Text]:
        for row in self.rows:
            yield from self._name(row, width)
            rest = [(title, cell) for title, cell in list(zip(self.titles, row, strict=True))[self.names :] if cell]
            told = "; ".join(f"{title}: {cell}".removeprefix(": ").replace("\n", ", ") for title, cell in rest)
            for line in wrapped(told, width - self._below):
                yield Text(" " * self._below + line, no_wrap=True)

    def _name(self, row: Sequence[str], width: int, style: str = "") -> Iterator[Text]:
        numbers = [f"{row[at]:<{self._natural[at]}}" for at in range(self.names - 1)]
        for line in wrapped("  ".join([*numbers, row[self.names - 1]]), width):
            yield Text(line, style, no_wrap=True)
