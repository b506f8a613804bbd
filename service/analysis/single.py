"""One op on one target: the report of the engine as the result of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine import batch
from ..engine.fabric import Fabric
from ..engine.instead import alternatives
from ..engine.report import ONE_CHIP, Report
from ..engine.roofline import BOUNDS
from ..errors import InvalidInput, refuse
from ..schemas.evaluate import OptionsModel
from . import tiles
from .cells import Cells, cells_of
from .expected import Expected, expected, on_chip
from .explain import Tiled, explain
from .result import UNTILED, Tiles, estimates, layers, result, times
from .targets import Target
from .terms import Asked, placed

Assumed = Sequence[Any]
NOT = np.zeros(1, np.bool_)
"""Of no row."""
TOO_LARGE = "A count of this op exceeds 1e300."


@dataclass(frozen=True)
class Found:
    """The op as understood, and its result."""

    op: dict[str, Any]
    result: dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """What an op is asked about with: the hardware, the options, and how it lies on the mesh."""

    target: Target
    options: OptionsModel
    fabric: Fabric


def reported(asked: Asked, setting: Setting) -> Report:
    """The report of one op, or of all rows of its lists. Raises `InvalidInput` with pointers into the question."""
    overlap = setting.options.overlap
    try:
        report = batch.evaluate(asked.term, setting.target.machine, setting.fabric, is_class_asked=asked.is_class_asked, overlap=overlap)
        row = batch.too_large(report)
        if row is not None:
            raise refuse(asked.term.pointer_to_row(row), "too-large", TOO_LARGE)
    except InvalidInput as error:
        raise placed(error, asked.pointer, asked.model) from error
    return report


def written(asked: Asked, report: Report, setting: Setting, assumed: Assumed, cells: Cells | None = None) -> Found:
    """A report as a document; one row as numbers, the rows of lists as lists, unless `cells` says otherwise.

    assumed  what was left out beside the op
    """
    cells = cells or cells_of(asked.columns)
    op = asked.document(report.placement.dtype, cells)
    others = alternatives(asked.term, setting.target.machine, setting.fabric, is_class_asked=asked.is_class_asked)
    foreseen = _expected(asked, report, setting, setting.fabric, cells)
    found = result(asked, report, others, foreseen.time, cells, tiles=_tiles(report, foreseen, setting, cells))
    said = setting.target.wired.said([exchange.cost for exchange in report.network.exchanges])
    of_tiles = tiles.notes(asked.term, foreseen.kernels, setting.options, report, cells, is_known=foreseen.time is not None)
    notes = [*found.pop("notes"), *of_tiles, *said, *foreseen.notes]
    if setting.fabric.sharding is not None:
        found["single_chip"] = _single_chip(asked, setting, cells)
    found["assumed"] = [*asked.assumed(op), *assumed]
    found["notes"] = notes
    if setting.options.explain:
        one, tiled = batch.row_of(report, 0, report.rows), _first_tiles(report, foreseen, setting)
        found["explain"] = explain(setting.fabric.local(asked.term), one, setting.target, setting.options.overlap, tiled)
    return Found(op, found)


def _first_tiles(report: Report, foreseen: Expected, setting: Setting) -> Tiled | None:
    """The tiles of the first row, where they are asked for."""
    found = foreseen.kernels
    if found is None or found.layer is None or found.silicon is None or setting.options.tile == tiles.NONE:
        return None
    return batch.row_of(found.layer(), 0, report.rows), found.silicon.cores[:1]


def _single_chip(asked: Asked, setting: Setting, cells: Cells) -> dict[str, Any]:
    """The op whole on one chip, beside what it is together."""
    report = batch.evaluate(asked.term, setting.target.machine, is_class_asked=asked.is_class_asked, overlap=setting.options.overlap)
    foreseen = _expected(asked, report, setting, ONE_CHIP, cells)
    time = {**times(report, cells), **estimates(foreseen.time, cells)}
    tiled = _tiles(report, foreseen, setting, cells)
    return {"layers": layers(report, (), cells, tiled), "time": time, "bound": cells.name(report.longest, BOUNDS)}


def _expected(asked: Asked, report: Report, setting: Setting, fabric: Fabric, cells: Cells) -> Expected:
    """The prediction for an op as it lies on `fabric`. Raises `InvalidInput` with pointers into the question."""
    try:
        return expected(asked.term, report, setting.target, setting.options, fabric, cells=cells)
    except InvalidInput as error:
        raise placed(error, asked.pointer, asked.model) from error


def _tiles(report: Report, foreseen: Expected, setting: Setting, cells: Cells) -> Tiles:
    """The tile layer and its lever, where the op has tiles and they are asked for."""
    if setting.options.tile == tiles.NONE:
        return UNTILED
    known = None if foreseen.time is not None else NOT
    found = tiles.layer(foreseen.kernels, on_chip(report), cells, known)
    return UNTILED if found is None else Tiles(found, tiles.lever(foreseen.tile_speedup, report, cells))
