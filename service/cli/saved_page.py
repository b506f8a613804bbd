"""Saved analyses against one of them as a page of text: their numbers in a table, why the time differs, what was asked otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from ..page.quantities import number, quantity, times
from .blocks import heading, paragraph, table
from .compare_page import CAUSES

Document = Mapping[str, Any]

SHOWN = 12
"""Differences of a question that a page has room for; the JSON has more."""

BEYOND = {"lower_s": "the least time", "tile": "tiles", "kernel": "kernels"}


def page(comparison: Document) -> Iterator[RenderableType]:
    """The page of a comparison."""
    base, rows = comparison["base"], comparison["rows"]
    yield heading(f"{len(rows)} saved {'analyses' if len(rows) > 1 else 'analysis'} against {base['id']}")
    yield _table(base, rows)
    yield from _why(rows)
    yield from _moves(rows)
    yield from _asked(rows)
    yield from _said("Not like for like", [(each["row"] + 1, each["detail"]) for each in comparison["warnings"]])
    yield from _said("To be known", [(at, note) for at, row in enumerate(rows, start=1) for note in row["notes"]])


def _table(base: Document, rows: Sequence[Document]) -> RenderableType:
    """A line for the base, as 0, and for every analysis."""
    return table(
        ["", "on", "kind", "at least", "bound", "estimate", "bytes", "time"],
        [_line(0, base, _numbers(rows[0], "base"), "1×"), *(_of_row(at, row) for at, row in enumerate(rows, start=1))],
        left=3,
        names=2,
    )


def _of_row(at: int, row: Document) -> tuple[str, ...]:
    ratio = _numbers(row, "ratio")["lower_s"]
    return _line(at, row["analysis"], _numbers(row, "value"), "–" if ratio is None else times(ratio))


def _line(at: int, analysis: Document, numbers: Mapping[str, float | None], ratio: str) -> tuple[str, ...]:
    shown = [_quantity(numbers.get(name), unit) for name, unit in (("estimate_s", "s"), ("bytes_total", "B"))]
    least = quantity(analysis["lower_s"], "s")
    return (str(at), analysis["chip"] or "in place", analysis["kind"], least, analysis["bound"] or "–", *shown, ratio)


def _numbers(row: Document, part: str) -> dict[str, float | None]:
    return {each["metric"]: each[part] for each in row["metrics"]}


def _quantity(value: float | None, unit: str) -> str:
    return "–" if value is None else quantity(value, unit)


def _why(rows: Sequence[Document]) -> Iterator[RenderableType]:
    """What each cause does to the least time, and what lies between that and the estimate; what does nothing is left out."""
    yield heading("Why the time differs from that of the base")
    for at, row in enumerate(rows, start=1):
        yield paragraph(f"{at}: the least time {_split(row['factors'], CAUSES)}.")
        if row["estimate_factors"]:
            yield paragraph(f"{at}: the estimate {_split(row['estimate_factors'], BEYOND)}.")
    yield paragraph("One after another in this order, so that they multiply to the time.")


def _split(factors: Sequence[Document], names: Mapping[str, str]) -> str:
    """The factors that do something, in words."""
    if not factors:
        return "cannot be split"
    acting = [f"{times(each['factor'])} by {names[each['cause']]}" for each in factors if number(each["factor"]) != "1"]
    return ", ".join(acting) or "is the same"


def _moves(rows: Sequence[Document]) -> Iterator[RenderableType]:
    """Which verdicts moved: of all layers together, and of a layer by its name."""
    lines = [(at, _move(each)) for at, row in enumerate(rows, start=1) for each in row["moves"][:SHOWN]]
    yield from _said("Where the bottleneck moved", lines)


def _move(move: Document) -> str:
    op = f"op {move['op'] + 1}, " if "op" in move else ""
    return f"{op}{'' if move['layer'] == 'all' else move['layer'] + ': '}{move['name']}"


def _asked(rows: Sequence[Document]) -> Iterator[RenderableType]:
    lines = [
        (at, f"{each['pointer']}: {_plain(each['base'])} → {_plain(each['value'])}")
        for at, row in enumerate(rows, start=1)
        for each in row["differs"][:SHOWN]
    ]
    yield from _said("What was asked otherwise", lines)


def _plain(value: Any) -> str:
    """A member as it is, the parts of a larger one not shown."""
    if isinstance(value, dict | list):
        return "…"
    return "absent" if value is None else str(value)


def _said(title: str, lines: Sequence[tuple[int, str]]) -> Iterator[RenderableType]:
    if lines:
        yield heading(title)
        yield from (paragraph(f"{at}: {text}") for at, text in lines)
