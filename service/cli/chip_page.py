"""A chip as a page of text."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from ..page.quantities import number, quantity
from .blocks import heading, paragraph, table
from .provenance import Document, cells, notes, sources, values


def page(chip: Document) -> Iterator[RenderableType]:
    """What the chip is, its values, ridges, other opinions, sources and notes."""
    yield heading(chip["ref"], chip["name"])
    yield paragraph(f"{chip['vendor']} {chip['kind']}, {chip['architecture']}, {chip['launch_year']}; confidence {chip['confidence']}")
    yield from map(paragraph, [chip["confidence_why"]] if "confidence_why" in chip else [])
    found = list(cells(chip))
    yield from values(found)
    yield heading("Ridge", "FLOP/B from which on compute is the limit")
    for unit, ridges in chip["ridge_flops_per_byte"].items():
        yield paragraph(f"{unit} unit: {', '.join(f'{name} {number(ridge)}' for name, ridge in ridges.items())}")
    yield from sources(found)
    if others := chip.get("alternatives"):
        yield heading("Other figures", "and why they were not taken")
        yield table(["value", "stated", "where", "why not"], [_other(each) for each in others], left=4, prose=("where", "why not"))
    yield from notes(chip)


def _other(figure: Document) -> tuple[str, ...]:
    return figure["field"], quantity(figure["value"], figure["unit"]), figure["where"], figure["why_not_taken"]
