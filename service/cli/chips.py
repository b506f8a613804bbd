"""`roofline chips`: the catalogue, as the API lists it and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from ..api.answers import found, listing, written
from ..api.pages import MAX_LIMIT
from ..page.quantities import number, quantity
from ..schemas.chips import ChipFilters
from ..schemas.reading import validate
from .blocks import paragraph, table
from .chip_page import page
from .hardware import catalogue
from .output import put_json, put_text

Document = Mapping[str, Any]

CLASSES: Final = ("bf16", "fp8", "int8")
"""Arithmetic classes whose peaks the list shows."""


def show_all(filters: Mapping[str, object], *, is_json: bool) -> None:
    """Every chip that passes the filters, named as in the API, in one page. Raises InvalidInput for what no chip can be."""
    asked = validate(ChipFilters, filters, "/query")
    chips = [chip.summary() for chip in asked.selection().of(catalogue().chips)]
    if is_json:
        put_json(bytes(listing(chips, next_cursor=None, limit=MAX_LIMIT).body))
    else:
        put_text(_all(chips))


def show(ref: str, *, is_json: bool) -> None:
    """One chip, or one revision of it. Raises NotFound, with ids that resemble it."""
    known = catalogue()
    chip = found(lambda: known.chip(ref, "/path/ref")).document()
    if is_json:
        put_json(written(chip))
    else:
        put_text(page(chip))


def _all(chips: Sequence[Document]) -> Iterator[RenderableType]:
    if not chips:
        yield paragraph("No chip of the catalogue is all of this.")
        return
    yield table(["chip", "memory", "bandwidth", *CLASSES, "ridge"], [_line(chip) for chip in chips])
    yield paragraph(
        "Memory in B, bandwidth in B/s, dense peaks of the matrix unit in FLOP/s, the ridge of bf16 in FLOP/B. "
        "`roofline chips ID` shows all values and sources."
    )


def _line(chip: Document) -> tuple[str, ...]:
    peaks, ridges = chip.get("peak_flops_per_s", {}), chip["ridge_flops_per_byte"].get("matrix", {})
    return (
        chip["id"],
        _short(chip["hbm"].get("capacity_bytes"), "B"),
        _short(chip["hbm"]["bandwidth_bytes_per_s"], "B/s"),
        *(_short(peaks.get(name), "FLOP/s") for name in CLASSES),
        number(ridges["bf16"]) if "bf16" in ridges else "–",
    )


def _short(value: float | None, unit: str) -> str:
    """The value without its unit, which stands below the table; so the table fits eighty columns."""
    return quantity(value, unit).removesuffix(unit).rstrip()
