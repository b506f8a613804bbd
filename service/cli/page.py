"""An answer as a page of text: the verdict first, then what would change it, and the five steps that lead there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from . import many
from .blocks import heading, paragraph
from .plan import plan
from .steps import steps
from .tiles import tiles
from .verdict import changes, verdict

Document = Mapping[str, Any]

OURS = "/options/explain"  # the page asks for the steps by itself


def page(answer: Document) -> Iterator[RenderableType]:
    """The page for one op, for the rows of its lists, or for a list of ops."""
    result = answer["result"]
    target = f"on {_target(answer['target'])}"
    if "ops" in answer:
        yield heading(f"{len(answer['ops']):,} ops, one after another", target)
        yield from many.ops(answer["ops"], result)
        yield from _assumed(result["assumed"])
        return
    yield heading(_title(answer["op"], result["assumed"]), target)
    if isinstance(result["bound"], list):
        yield from many.rows(answer["op"], result)
        yield paragraph("The steps of the first row:")
    else:
        yield paragraph(verdict(result))
        yield from plan(result)
        yield from tiles(result)
        yield from changes(answer)
    yield from steps(result["explain"])
    yield from _assumed(result["assumed"])
    yield from _notes(result["notes"])


def _target(target: Document) -> str:
    """The chip, and how many of them along which axes."""
    axes = [f"{axis['name']}={axis['size']:,}" for axis in target.get("mesh", ())]
    return _chip(target["chip"]) + (f", a mesh of {' '.join(axes)}" if axes else "")


def _chip(chip: str | Document) -> str:
    if isinstance(chip, str):
        return chip
    return f"{chip['base']} with some numbers replaced" if "base" in chip else "a chip given in place"


def _title(op: Document, assumed: Sequence[Document]) -> str:
    """The op with what was asked of it; what was assumed stands at the end of the page."""
    filled = {each["pointer"] for each in assumed}
    given = {name: value for name, value in op.items() if name != "kind" and f"/op/{name}" not in filled and value is not None}
    return " ".join([op["kind"], *(f"{name}={_spelt(value)}" for name, value in given.items())])


def _spelt(value: object) -> str:
    if isinstance(value, list) and isinstance(value[0], str):
        return ",".join(value)
    if isinstance(value, list):
        return f"[{len(value):,} rows]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_spelt(each)}" for name, each in value.items() if each is not None) + "}"
    return str(value)


def _assumed(assumed: Sequence[Document]) -> Iterator[RenderableType]:
    """What the question left open, and how it was filled."""
    if filled := [each for each in assumed if each["pointer"] != OURS]:
        yield heading("Assumed")
        yield paragraph(", ".join(f"{each['pointer'].removeprefix('/op/').removeprefix('/')} = {_spelt(each['value'])}" for each in filled))


def _notes(notes: Sequence[str]) -> Iterator[RenderableType]:
    if notes:
        yield heading("Notes")
        yield from map(paragraph, notes)
