"""A saved analysis against today's answer as a page of text: what changed, and what each cause does to each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from ..page.quantities import quantity, times
from .blocks import heading, paragraph, table

Document = Mapping[str, Any]

CAUSES = {"engine": "the engine", "chip_revision": "the revision of the chip"}


def page(document: Document) -> Iterator[RenderableType]:
    """The page of an analysis that was asked again."""
    found = document["difference"]
    yield heading(f"{document['id']} asked again")
    yield paragraph(_caused(found))
    yield table(
        ["", "was", "is", "ratio", "by engine", "by chip revision"],
        [(name.removesuffix("_s"), *_line(each)) for name, each in found["times"].items()],
    )
    if found["bound"]["changed"]:
        yield paragraph(f"The bottleneck moved: {_bound(found['bound']['from'])} → {_bound(found['bound']['to'])}.")
    yield paragraph(f"Kept now, it would be {document['recomputed']['id']}.")


def _caused(found: Document) -> str:
    """What changed the answer, each cause with what it was and is."""
    causes = [f"{CAUSES[name]}, {found[name]['from']} → {found[name]['to']}" for name in found["attributed_to"]]
    return f"Changed by {' and by '.join(causes)}." if causes else "The answer is as it was kept."


def _line(change: Document) -> tuple[str, ...]:
    seconds = ["–" if change[name] is None else quantity(change[name], "s") for name in ("before_s", "after_s")]
    ratios = ["–" if change[name] is None else times(change[name]) for name in ("ratio", "by_engine", "by_chip_revision")]
    return (*seconds, *ratios)


def _bound(bound: Any) -> str:
    """What binds; of a list of ops each in its order."""
    return ", ".join(str(each) for each in bound) if isinstance(bound, list) else str(bound)
