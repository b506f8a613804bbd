"""A roofline chart in a terminal: logarithmic axes, roofs as fine lines, ops by their numbers; as wide as the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from ..page.axes import LogAxis
from ..page.chart import Chart
from ..page.quantities import number, quantity
from .blocks import heading, table

ROWS: Final = 18
LEFT: Final = 8
"""Columns that the names of the vertical axis take."""

UNIT: Final = " FLOP/B"
NARROWEST, WIDEST = 20, 120
"""Columns of the plot itself."""

DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the eight dots in a Braille character, four rows of two."""

BRAILLE: Final = 0x2800
COLOURS: Final = ("blue", "red", "green", "magenta", "yellow", "cyan")
MEASURED: Final = "×"
NUMERALS: Final = "123456789abcdefghijklmnopqrstuvwxyz"
LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def page(chart: Chart) -> Iterator[RenderableType]:
    """The plot, and the numbers of all that is in it."""
    yield heading(chart.title)
    yield Plot(chart)
    yield table(
        ["", "roof", "peak", "bandwidth", "ridge"],
        [
            (
                roof_sign(at),
                roof.label,
                quantity(roof.peak, "FLOP/s"),
                quantity(roof.bandwidth, "B/s"),
                quantity(roof.ridge, "FLOP/B"),
            )
            for at, roof in enumerate(chart.roofs)
        ],
        left=2,
        names=2,
    )
    if chart.marks:
        yield table(
            ["", "op", "roof", "FLOP/B", "at most", "limited by", f"measured {MEASURED}"],
            [
                (
                    mark_sign(mark.number),
                    mark.kind,
                    next((roof_sign(at) for at, roof in enumerate(chart.roofs) if roof.label == mark.roof), "–"),
                    number(mark.x),
                    quantity(mark.y, "FLOP/s"),
                    mark.bound or "–",
                    quantity(mark.measured, "FLOP/s"),
                )
                for mark in chart.marks
            ],
            left=3,
            names=2,
        )


def roof_sign(at: int) -> str:
    """The letter that stands at the end of a roof."""
    return LETTERS[at] if at < len(LETTERS) else "+"


def mark_sign(number: int) -> str:
    """What stands in the plot for an op.

    >>> mark_sign(1), mark_sign(10), mark_sign(99)
    ('1', 'a', '*')
    """
    return NUMERALS[number - 1] if number <= len(NUMERALS) else "*"


@dataclass
class Canvas:
    """Cells of eight dots each, some with a sign in place of the dots."""

    columns: int
    dots: dict[tuple[int, int], int] = field(default_factory=dict)
    signs: dict[tuple[int, int], str] = field(default_factory=dict)
    colours: dict[tuple[int, int], str] = field(default_factory=dict)

    def dot(self, across: int, down: int, colour: str) -> None:
        """One dot, counted from the upper left."""
        cell = down // 4, across // 2
        self.dots[cell] = self.dots.get(cell, 0) | DOTS[down % 4][across % 2]
        self.colours.setdefault(cell, colour)

    def sign(self, row: int, column: int, sign: str, colour: str) -> None:
        """A sign in the first free cell from `column` to the left, so that one does not hide another."""
        while column > 0 and (row, column) in self.signs:
            column -= 1
        self.signs[row, column] = sign
        self.colours[row, column] = colour

    def cell(self, row: int, column: int, *, is_ascii: bool) -> tuple[str, str]:
        """A character and its colour."""
        at = row, column
        if at in self.signs:
            return self.signs[at], f"bold {self.colours[at]}"
        if at not in self.dots:
            return " ", ""
        return "." if is_ascii else chr(BRAILLE + self.dots[at]), self.colours[at]


@dataclass(frozen=True)
class Plot:
    """The plot alone, drawn when the width is known."""

    chart: Chart

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = max(NARROWEST, min(WIDEST, options.max_width - LEFT - len(UNIT) - 2))
        canvas = drawn(self.chart, columns)
        corner, rule, down, up = ("+", "-", "+", "+") if options.ascii_only else ("└", "─", "┬", "┤")
        edge = "|" if options.ascii_only else "│"
        names = _names(self.chart.y)
        yield Text(f"{'FLOP/s':>{LEFT}}")
        for row in range(ROWS):
            name = names.get(row)
            line = Text(f"{name or '':>{LEFT - 1}} {edge if name is None else up}")
            for column in range(columns):
                line.append(*canvas.cell(row, column, is_ascii=options.ascii_only))
            line.rstrip()
            yield line
        ticks = _ticks(self.chart.x, columns)
        yield Text(f"{names.get(ROWS, ''):>{LEFT - 1}} {corner}" + "".join(down if at in ticks else rule for at in range(columns)))
        yield Text(" " * (LEFT + 1) + _under(ticks, columns))


def drawn(chart: Chart, columns: int) -> Canvas:
    """Roofs first, then the signs at their ends, then the ops."""
    canvas = Canvas(columns)
    colours = {roof.label: COLOURS[at % len(COLOURS)] for at, roof in enumerate(chart.roofs)}
    for roof in chart.roofs:
        for across in range(2 * columns):
            x = chart.x.least * (chart.x.most / chart.x.least) ** ((across + 0.5) / (2 * columns))
            y = min(roof.peak, roof.bandwidth * x)
            if y >= chart.y.least:
                canvas.dot(across, _down(chart.y, y, 4 * ROWS), colours[roof.label])
    for at, roof in enumerate(chart.roofs):
        canvas.sign(_down(chart.y, roof.peak, ROWS), columns - 1, roof_sign(at), colours[roof.label])
    for mark in chart.drawn:
        column, colour = _across(chart.x, mark.x, columns), colours.get(mark.roof or "", "white")
        canvas.sign(_down(chart.y, mark.y, ROWS), column, mark_sign(mark.number), colour)
        if mark.measured is not None:
            canvas.sign(_down(chart.y, mark.measured, ROWS), column, MEASURED, colour)
    return canvas


def _across(axis: LogAxis, value: float, columns: int) -> int:
    return min(columns - 1, max(0, int(axis.share(value) * columns)))


def _down(axis: LogAxis, value: float, rows: int) -> int:
    return min(rows - 1, max(0, int((1.0 - axis.share(value)) * rows)))


def _names(axis: LogAxis) -> dict[int, str]:
    """The decades of the vertical axis by row, the lowest below the last row."""
    return {
        ROWS if value == axis.least else _down(axis, value, ROWS): quantity(value, "FLOP/s").removesuffix("FLOP/s").rstrip()
        for value in axis.decades(ROWS // 2)
    }


def _ticks(axis: LogAxis, columns: int) -> dict[int, str]:
    """The decades of the horizontal axis by column."""
    return {_across(axis, value, columns): number(value) for value in axis.decades(max(2, columns // 12))}


def _under(ticks: dict[int, str], columns: int) -> str:
    """The names of the ticks, each in the middle below its own, and the unit where it fits."""
    line = [" "] * columns
    for column, name in ticks.items():
        start = min(max(0, column - len(name) // 2), columns - len(name))
        line[start : start + len(name)] = name
    return "".join(line).rstrip() + UNIT
