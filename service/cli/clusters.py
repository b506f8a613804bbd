"""`roofline clusters`: the systems of the catalogue, as the API lists them, as a table, and one as a page of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import RenderableType

from ..api.answers import found, listing, written
from ..api.pages import MAX_LIMIT
from ..page.quantities import quantity
from .blocks import heading, paragraph, table
from .hardware import catalogue
from .output import put_json, put_text
from .provenance import Document, cells, notes, sources, values

RATE: Final = "bandwidth_per_direction_bytes_per_s"


def show_all(*, is_json: bool) -> None:
    """Every system, in one page."""
    clusters = [cluster.summary() for cluster in catalogue().clusters]
    if is_json:
        put_json(bytes(listing(clusters, next_cursor=None, limit=MAX_LIMIT).body))
    else:
        put_text(_all(clusters))


def show(ref: str, *, is_json: bool) -> None:
    """One system, or one revision of it. Raises NotFound, with ids that resemble it."""
    known = catalogue()
    cluster = found(lambda: known.cluster(ref, "/path/ref"))
    if is_json:
        put_json(written(cluster.document()))
    else:
        put_text(_page(cluster.document(), cluster.summary()))


def _all(clusters: Sequence[Document]) -> Iterator[RenderableType]:
    rows = [(each["id"], each["chip"], f"{each['chips']:,}", "\n".join(map(_wiring, each["axes"]))) for each in clusters]
    yield table(["system", "chip", "chips", "axes from the innermost"], rows, left=4)
    yield paragraph(
        "Bandwidth is one way: of one link on a ring, of all that a chip sends on a switch, of one pair where all are connected. "
        "`roofline clusters ID` shows all values and sources."
    )


def _wiring(axis: Document) -> str:
    size = f" {axis['size']:,}" if "size" in axis else ""
    rate = f" {quantity(axis[RATE], 'B/s')}" if RATE in axis else ""
    return f"{axis['name']}{size} {axis['topology']}{rate}"


def _page(cluster: Document, summary: Document) -> Iterator[RenderableType]:
    yield heading(cluster["ref"], cluster["name"])
    yield paragraph(f"{summary['chips']:,} × {cluster['chip']}; confidence {cluster['confidence']}")
    yield paragraph(cluster["confidence_why"])
    yield heading("Axes", "innermost first; bandwidth one way")
    rows = [_axis(each) for each in summary["axes"]]
    yield table(["axis", "topology", "size", "bandwidth", "latency", "network"], rows, left=6, prose=("network",))
    found_cells = list(cells(cluster))
    yield from values(found_cells)
    yield from sources(found_cells)
    yield from notes(cluster)


def _axis(axis: Document) -> tuple[str, ...]:
    size = f"{axis['size']:,}" if "size" in axis else "–"
    return axis["name"], axis["topology"], size, quantity(axis.get(RATE), "B/s"), quantity(axis.get("latency_s"), "s"), axis["network"]
