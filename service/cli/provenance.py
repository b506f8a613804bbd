"""The values of a catalogue entry as its sources print them, with numbers for the sources, which are listed below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from .blocks import heading, paragraph, table

Document = Mapping[str, Any]
Cells = Sequence[tuple[str, Document]]


def cells(value: object, path: str = "") -> Iterator[tuple[str, Document]]:
    """Every value that has sources, with its dotted path; an item of a list goes by its name."""
    if isinstance(value, Mapping):
        if "sources" in value:
            yield path, value
            return
        for name, child in value.items():
            yield from cells(child, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for at, child in enumerate(value):
            name = child.get("name", at) if isinstance(child, Mapping) else at
            yield from cells(child, f"{path}[{name}]")


def values(found: Cells) -> Iterator[RenderableType]:
    """What is stated, where, and how far it is believed."""
    keys = list(_sources(found))
    yield heading("Values", "as the sources print them")
    rows = [_line(path, cell, keys) for path, cell in found]
    yield table(["value", "stated", "confidence", "sources", "remark"], rows, left=5, prose=("remark",))


def sources(found: Cells) -> Iterator[RenderableType]:
    """The works behind the values, by their numbers."""
    yield heading("Sources")
    rows = [(at, _cited(source)) for at, source in enumerate(_sources(found).values(), start=1)]
    yield table(["", ""], rows, left=2, prose=("",))


def notes(document: Document) -> Iterator[RenderableType]:
    """What else a reader must know, if there is anything."""
    if lines := document.get("notes"):
        yield heading("Notes")
        yield from map(paragraph, lines)


def _sources(found: Cells) -> dict[str, Document]:
    """The works cited, each once, in the order of their first use."""
    return {source["key"]: source for _, cell in found for source in cell["sources"]}


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
