"""The five steps of an answer, in order: each formula, the formula with numbers, the value with its unit, the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from ..page.quantities import quantity
from .blocks import heading, paragraph

Step = Sequence[Mapping[str, Any]]

TITLES: Final = {
    "flops": "How much work",
    "bytes": "How much is moved",
    "intensity": "Work for each byte",
    "where": "Time on each path",
    "overlap": "Bounds of the time",
}


def steps(explained: Mapping[str, Step]) -> Iterator[RenderableType]:
    """All steps, numbered as the contract orders them."""
    for at, (name, step) in enumerate(explained.items(), start=1):
        yield heading(f"{at}. {TITLES[name]}")
        for entry, following in zip(step, [*step[1:], {}], strict=False):
            yield paragraph(_entry(entry))
            if following.get("source") != entry["source"]:
                yield paragraph(entry["source"], indent=4, style="dim")


def _entry(entry: Mapping[str, Any]) -> Text:
    """The formula, and below its right side the numbers and the value."""
    left, _, right = entry["formula"].partition(" = ")
    below = " " * len(left)
    return Text.assemble(
        f"{left} = {right}\n{below} = {entry['numbers']}\n{below} = ",
        (quantity(entry["value"], entry["unit"]), "bold"),
    )
