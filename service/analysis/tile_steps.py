"""How the tile layer comes about, as entries of the steps of an answer: each formula, with numbers, value, unit and source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine.arrays import Real
from ..engine.kernels.layer import Layer
from ..engine.report import Report
from .cells import OneRow
from .tiles import tile_times

TILING = "NVIDIA, Matrix Multiplication Background: tile and wave quantization"
REREADS = "tiles on all cores at once share what they read through the last cache; without one each reads its own"

Entry = dict[str, Any]


def steps(at: Layer, cores: Real, report: Report, one: OneRow) -> Iterator[Entry]:
    """Waves, time of compute, traffic and time of memory with tiles, of one row."""
    assert report.bandwidth is not None
    times = tile_times(at, report)
    tiles = f"⌈{one.whole(at.tiles)}·{one.whole(at.split)} / {one.whole(cores)}⌉"
    yield _entry("waves = ⌈tiles·split / cores⌉", tiles, one.whole(at.waves), "waves", TILING)
    shares = f"({_said(one, at.padding)}·{_said(one, at.wave)})"
    formula = "t_math of tiles = t_math / (padding efficiency·wave efficiency)"
    yield _entry(formula, f"{one.number(report.times.math)!r} / {shares}", one.number(times.math), "s", TILING)
    yield _entry("bytes of tiles = bytes + what is read again", _reads(at, report, one), one.whole(at.hbm_bytes), "B", REREADS)
    moved = f"{one.whole(at.hbm_bytes)} / {one.number(report.bandwidth)!r}"
    yield _entry("t_hbm of tiles = bytes of tiles / HBM bandwidth", moved, one.number(times.hbm), "s", TILING)


def _reads(at: Layer, report: Report, one: OneRow) -> str:
    return f"{one.whole(report.bytes_total)} + {one.whole(at.hbm_bytes - report.bytes_total)}"


def _said(one: OneRow, share: Real) -> str:
    return repr(one.number(share))


def _entry(formula: str, numbers: str, value: Any, unit: str, source: str) -> Entry:
    return {"formula": formula, "numbers": numbers, "value": value, "unit": unit, "source": source}
