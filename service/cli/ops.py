"""`roofline ops`: what can be asked, as the API lists it and as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from ..analysis import ops
from ..api.answers import found, listing, written
from ..api.pages import MAX_LIMIT
from .blocks import heading, paragraph, table
from .output import put_json, put_text

Document = Mapping[str, Any]


def show_all(*, is_json: bool) -> None:
    """Every op, in one page."""
    documents = ops.documents()
    if is_json:
        put_json(bytes(listing(documents, next_cursor=None, limit=MAX_LIMIT).body))
    else:
        put_text(_all(documents))


def show(kind: str, *, is_json: bool) -> None:
    """One op. Raises NotFound, with kinds that resemble it."""
    document = found(lambda: ops.document(kind))
    if is_json:
        put_json(written(document))
    else:
        put_text(_one(document))


def _all(documents: Sequence[Document]) -> Iterator[RenderableType]:
    yield table(["op", "what it computes", "required"], [_line(each) for each in documents], left=3, prose=("what it computes", "required"))
    yield paragraph("`roofline ops KIND` shows fields, formulas and an example.")


def _line(op: Document) -> tuple[str, str, str]:
    required = [name for name in op["schema"]["required"] if name != "kind"]
    return op["kind"], op["description"].partition("\n")[0], " ".join(required)


def _one(op: Document) -> Iterator[RenderableType]:
    yield heading(op["kind"])
    yield paragraph(op["description"].strip())
    yield heading("Fields")
    required = op["schema"]["required"]
    yield table(
        ["field", "meaning", ""],
        [
            (name, field["description"], "required" if name in required else "")
            for name, field in op["schema"]["properties"].items()
            if name != "kind"
        ],
        left=3,
        prose=("meaning",),
    )
    formulas = op["formulas"]
    yield heading("Counts")
    yield table(
        ["what", "formula"],
        [("flops", formulas["flops"]), *((f"elements of {name}", formula) for name, formula in formulas["elements"].items())],
        left=2,
        prose=("formula",),
    )
    yield paragraph(formulas["source"], indent=4, style="dim")
    yield heading("Example", "for roofline evaluate")
    yield paragraph(json.dumps(op["example"], ensure_ascii=False))
