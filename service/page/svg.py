"""A roofline chart as an SVG picture that stands alone: no script, no style sheet, no font or picture from elsewhere.

The same chart gives the same bytes; all text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from .axes import LogAxis
from .chart import Chart, Mark, Roof
from .labels import Box, free_place
from .quantities import number, quantity

WIDTH: Final = 960
LEFT, RIGHT, TOP, HEIGHT = 92, 28, 56, 440
"""Of the plot within the picture: its margins and its height, in pixels."""

LINE: Final = 20
"""From one line of the legend to the next."""

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7f3c8d", "#333333")
"""Told apart by people who see fewer colours, too; beyond them the dashes differ."""

DASHES: Final = ("none", "8 4", "2 3", "10 3 2 3")
HALO: Final = ' stroke="#ffffff" stroke-width="3" paint-order="stroke"'
"""Around text that stands on lines."""

GREY: Final = "#777777"
Place = tuple[float, float]
"""x and y in pixels, y downwards."""

MANY: Final = 4
"""More roofs than this have no ridge lines, which would cover the plot."""


def svg(chart: Chart) -> str:
    """The picture."""
    height = TOP + HEIGHT + 64 + LINE * (len(chart.roofs) + len(chart.marks)) + 12
    body = [*_axes(chart), *_roofs(chart), *_marks(chart), *_legend(chart)]
    size = f'width="{WIDTH}" height="{height}"'
    font = 'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222222"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {height}" role="img" {font}>',
            f"<title>{escape(chart.title)}</title>",
            f'<rect {size} fill="#ffffff"/>',
            f'<text x="{LEFT}" y="32" font-size="18" font-weight="bold">{escape(chart.title)}</text>',
            *body,
            "</svg>\n",
        ]
    )


def _x(axis: LogAxis, value: float) -> float:
    return LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)


def _y(axis: LogAxis, value: float) -> float:
    return TOP + (1.0 - axis.share(value)) * HEIGHT


def _line(start: Place, end: Place, colour: str, more: str = "") -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{colour}"{more}/>'


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.2f}" y="{y:.2f}"{more}>{escape(text)}</text>'


def _axes(chart: Chart) -> Iterator[str]:
    """Grid, ticks and names of both axes."""
    right, bottom = WIDTH - RIGHT, TOP + HEIGHT
    for axis, is_x in ((chart.x, True), (chart.y, False)):
        if axis.high - axis.low <= 9:
            for exponent in range(axis.low, axis.high):
                for step in range(2, 10):
                    yield _grid(axis, step * 10.0**exponent, "#f0f0f0", is_x=is_x)
        for value in axis.decades(12):
            yield _grid(axis, value, "#d0d0d0", is_x=is_x)
            if is_x:
                yield _text(_x(axis, value), bottom + 18, number(value), ' text-anchor="middle"')
            else:
                yield _text(LEFT - 8, _y(axis, value) + 4, quantity(value, "FLOP/s").removesuffix("FLOP/s").rstrip(), ' text-anchor="end"')
    yield f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{HEIGHT}" fill="none" stroke="#444444"/>'
    yield _text((LEFT + right) / 2, bottom + 42, "arithmetic intensity [FLOP/B]", ' text-anchor="middle"')
    middle = TOP + HEIGHT / 2
    yield _text(24, middle, "attainable rate [FLOP/s]", f' text-anchor="middle" transform="rotate(-90 24 {middle:.2f})"')


def _grid(axis: LogAxis, value: float, colour: str, *, is_x: bool) -> str:
    if is_x:
        return _line((_x(axis, value), TOP), (_x(axis, value), TOP + HEIGHT), colour)
    return _line((LEFT, _y(axis, value)), (WIDTH - RIGHT, _y(axis, value)), colour)


def _stroke(at: int) -> str:
    return f' stroke-width="2.5" stroke-dasharray="{DASHES[at // len(COLOURS) % len(DASHES)]}" fill="none"'


def _colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def _roofs(chart: Chart) -> Iterator[str]:
    """Every roof from the edge of the plot over its ridge to the other edge."""
    for at, roof in enumerate(chart.roofs):
        start = max(chart.x.least, chart.y.least / roof.bandwidth)
        places = ((start, roof.bandwidth * start), (roof.ridge, roof.peak), (chart.x.most, roof.peak))
        path = " ".join(f"{_x(chart.x, x):.2f},{_y(chart.y, y):.2f}" for x, y in places)
        yield f'<polyline points="{path}" stroke="{_colour(at)}"{_stroke(at)}/>'
        yield from _ridge(chart, roof, at)


def _ridge(chart: Chart, roof: Roof, at: int) -> Iterator[str]:
    """Where a roof bends, and at which intensity that is."""
    x, y = _x(chart.x, roof.ridge), _y(chart.y, roof.peak)
    yield f'<circle cx="{x:.2f}" cy="{y:.2f}" r="4" fill="#ffffff" stroke="{_colour(at)}" stroke-width="2"/>'
    if len(chart.roofs) <= MANY:
        yield _line((x, y + 4), (x, TOP + HEIGHT), _colour(at), ' stroke-dasharray="3 4"')
        label = f"ridge {quantity(roof.ridge, 'FLOP/B')}"
        yield _text(x + 6, TOP + HEIGHT - 8 - 16 * at, label, f' fill="{_colour(at)}"{HALO}')


def _marks(chart: Chart) -> Iterator[str]:
    """Every op as a dot on its roof, what was measured as a diamond on the same intensity, and a label where there is room."""
    colours = {roof.label: _colour(at) for at, roof in enumerate(chart.roofs)}
    taken = [Box.around(_x(chart.x, mark.x), _y(chart.y, mark.y), 5, 5) for mark in chart.drawn]
    for mark in chart.drawn:
        x, y = _x(chart.x, mark.x), _y(chart.y, mark.y)
        colour = colours.get(mark.roof or "", GREY)
        if mark.measured is not None:
            below = _y(chart.y, mark.measured)
            yield _line((x, y), (x, below), colour, ' stroke-dasharray="2 2"')
            yield _diamond((x, below), colour)
            taken.append(Box.around(x, below, 6, 6))
        yield f'<circle cx="{x:.2f}" cy="{y:.2f}" r="5" fill="{colour}"><title>{escape(_named(mark))}</title></circle>'
        place = free_place(_label(mark), x, y, taken, Box(LEFT, TOP, WIDTH - RIGHT, TOP + HEIGHT))
        if place is not None:
            taken.append(place)
            yield _text(place.left, place.bottom - 3, _label(mark), HALO)


def _diamond(middle: Place, colour: str) -> str:
    """What was measured."""
    x, y = middle
    return f'<path d="M{x:.2f} {y - 6:.2f} l6 6 l-6 6 l-6 -6 z" fill="#ffffff" stroke="{colour}" stroke-width="2"/>'


def _label(mark: Mark) -> str:
    return f"{mark.number} {mark.kind}"


def _named(mark: Mark) -> str:
    return f"{_label(mark)}: {mark.numbers}"


def _legend(chart: Chart) -> Iterator[str]:
    """A line for every roof and every op, with its numbers, dot and diamond; an op without a place in the plot is only here."""
    top = TOP + HEIGHT + 72
    colours = {roof.label: _colour(at) for at, roof in enumerate(chart.roofs)}
    for at, roof in enumerate(chart.roofs):
        y = top + LINE * at
        yield _line((LEFT, y - 4), (LEFT + 36, y - 4), _colour(at), _stroke(at))
        yield _text(LEFT + 46, y, f"{roof.label}: {roof.numbers}")
    for at, mark in enumerate(chart.marks, start=len(chart.roofs)):
        y = top + LINE * at
        colour = colours.get(mark.roof or "", GREY)
        if mark.measured is not None:
            yield _diamond((LEFT + 30, y - 4), colour)
        yield f'<circle cx="{LEFT + 14}" cy="{y - 4}" r="5" fill="{colour}"/>'
        yield _text(LEFT + 46, y, _named(mark))
