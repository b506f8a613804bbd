"""Answers about many: the rows of an op's lists, and lists of ops. A table with the verdict of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from ..page.quantities import number, quantity
from .blocks import paragraph, table

SHOWN: Final = 20
"""Lines of a table; the JSON has all."""

Document = Mapping[str, Any]


def rows(op: Document, result: Document) -> Iterator[RenderableType]:
    """How often each verdict was given, and the rows."""
    lists = {name: values for name, values in op.items() if isinstance(values, list) and name != "axes"}
    yield paragraph(f"{_share(result['bound'], 'rows')}.")
    yield from _cut(
        [*lists, "limited by", "at least", "at most", "FLOP/B"],
        [
            (
                *(f"{values[at]:,}" for values in lists.values()),
                bound or "nothing",
                quantity(result["time"]["lower_s"][at], "s"),
                quantity(result["time"]["upper_s"][at], "s"),
                _intensity(result["intensity_flops_per_byte"] and result["intensity_flops_per_byte"][at]),
            )
            for at, bound in enumerate(result["bound"][:SHOWN])
        ],
        len(result["bound"]),
    )


def ops(asked: Sequence[Document], result: Document) -> Iterator[RenderableType]:
    """What all ops take, and the share of each."""
    totals, found = result["totals"], result["per_op"]
    lower, upper = totals["time"]["lower_s"], totals["time"]["upper_s"]
    yield paragraph(
        f"Between {quantity(lower, 's')} (all overlaps) and {quantity(upper, 's')} (nothing does), for "
        f"{quantity(totals['flops'], 'FLOP')} and {quantity(totals['bytes_total'], 'B')}."
    )
    yield paragraph(f"{_share([each['bound'] for each in found], 'ops')}.")
    yield from _cut(
        ["op", "limited by", "count", "at least, each", "of the whole", "FLOP/B"],
        [
            (
                op["kind"],
                each["bound"] or "nothing",
                f"{each['count']:,}",
                quantity(each["time"]["lower_s"], "s"),
                f"{_percent(each['count'] * each['time']['lower_s'], lower)} %",
                _intensity(each["intensity_flops_per_byte"]),
            )
            for op, each in zip(asked[:SHOWN], found[:SHOWN], strict=True)
        ],
        len(found),
    )
    yield paragraph("Ask for an op alone to see its steps and what would change it.")


def _intensity(value: float | None) -> str:
    """A dash where nothing is read or written."""
    return "–" if value is None else number(value)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "0.0"


def _share(bounds: Sequence[str | None], noun: str) -> str:
    """How often each verdict was given, the most frequent first."""
    return f"Limits of {len(bounds):,} {noun}: " + ", ".join(
        f"{bound or 'nothing'} {count:,}" for bound, count in Counter(bounds).most_common()
    )


def _cut(columns: Sequence[str], lines: Sequence[Sequence[str]], count: int) -> Iterator[RenderableType]:
    yield table(columns, lines)
    if count > len(lines):
        yield paragraph(f"… and {count - len(lines):,} more, which --json prints.")
