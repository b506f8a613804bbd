"""A chip as a page of text: every value as its source prints it, with numbers for the sources, which are listed below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from ..page.quantities import number, quantity
from .blocks import heading, paragraph, table

Document = Mapping[str, Any]


def page(chip: Document) -> Iterator[RenderableType]:
    """What the chip is, its values, ridges, other opinions, sources and notes."""
    yield heading(chip["ref"], chip["name"])
    yield paragraph(f"{chip['vendor']} {chip['kind']}, {chip['architecture']}, {chip['launch_year']}; confidence {chip['confidence']}")
    yield from map(paragraph, [chip["confidence_why"]] if "confidence_why" in chip else [])
    values = list(_values(chip))
    sources = _sources(cell for _, cell in values)
    keys = list(sources)
    yield heading("Values", "as the sources print them")
    yield table(["value", "stated", "confidence", "sources", "remark"], [_line(path, cell, keys) for path, cell in values], left=5)
    yield heading("Ridge", "FLOP/B from which on compute is the limit")
    for unit, ridges in chip["ridge_flops_per_byte"].items():
        yield paragraph(f"{unit} unit: {', '.join(f'{name} {number(ridge)}' for name, ridge in ridges.items())}")
    yield heading("Sources")
    yield table(["", ""], [(at, _cited(source)) for at, source in enumerate(sources.values(), start=1)], left=2)
    if others := chip.get("alternatives"):
        yield heading("Other figures", "and why they were not taken")
        yield table(["value", "stated", "where", "why not"], [_other(each) for each in others], left=4)
    if notes := chip.get("notes"):
        yield heading("Notes")
        yield from map(paragraph, notes)


def _values(value: object, path: str = "") -> Iterator[tuple[str, Document]]:
    """Every value that has sources, with its dotted path; an item of a list goes by its name."""
    if isinstance(value, Mapping):
        if "sources" in value:
            yield path, value
            return
        for name, child in value.items():
            yield from _values(child, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for at, child in enumerate(value):
            name = child.get("name", at) if isinstance(child, Mapping) else at
            yield from _values(child, f"{path}[{name}]")


def _sources(cells: Iterator[Document]) -> dict[str, Document]:
    """The works cited, each once, in the order of their first use."""
    return {source["key"]: source for cell in cells for source in cell["sources"]}


def _line(path: str, cell: Document, keys: Sequence[str]) -> tuple[str, ...]:
    cited = " ".join(str(keys.index(source["key"]) + 1) for source in cell["sources"])
    remark = "; ".join(cell[name] for name in ("note", "derived") if name in cell)
    return path, _stated(cell), cell["confidence"], cited, remark


def _stated(cell: Document) -> str:
    """The value as the source prints it; sizes along dims and claims have no unit."""
    stated = cell.get("stated")
    if stated is None:
        value = cell["value"]
        return " × ".join(map(str, value)) if isinstance(value, list) else str(value).lower()
    return f"{stated['value']:,} {stated['unit']}".removesuffix(" count")


def _cited(source: Document) -> str:
    read = f", read {source['date_read']}" if "date_read" in source else ""
    return f"{source['title']} ({source['publisher']}){read}" + (f"\n{source['url']}" if "url" in source else "")


def _other(figure: Document) -> tuple[str, ...]:
    return figure["field"], quantity(figure["value"], figure["unit"]), figure["where"], figure["why_not_taken"]
