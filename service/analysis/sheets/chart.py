"""A roofline chart as a table: its lines and points under each other, ready to be drawn against logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from ...catalogue import Catalogue
from ...tables.table import Sheet
from . import provenance, rows

HEADER: Final = ("part", "label", "x", "y", "kind", "bound", "case", "analysis", "op", "tile_x", "tile_y", "measured_flops_per_s")
UNITS: Final = {"x": "FLOP/B", "y": "FLOP/s", "tile_x": "FLOP/B", "tile_y": "FLOP/s", "measured_flops_per_s": "FLOP/s"}


def chart(text: bytes, catalogue: Catalogue) -> Sheet:
    """A row for each point of each roof, for each ridge and for each op, `text` being the chart's document."""
    return Sheet(rows.table(list(_parts(orjson.loads(text))), HEADER), UNITS, provenance.asked_now(catalogue))


def _parts(document: Mapping[str, Any]) -> Iterator[rows.Row]:
    for series in document["series"]:
        for x, y in zip(series["x"], series["y"], strict=True):
            yield {"part": "roof", "label": series["label"], "x": x, "y": y}
    for ridge in document["ridges"]:
        yield {"part": "ridge", "label": ridge["label"], "x": ridge["x"], "y": ridge["y"]}
    for point in document["points"]:
        tile = point["tile"] or {"x": None, "y": None}
        yield {**point, "part": "point", "label": point["roof"], "tile_x": tile["x"], "tile_y": tile["y"]}
