"""The `result` of an answer: a report written as a document, for one row or for all of them by the same code."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.levers import FACTORS, Levers
from ..engine.ops.matmul import Matmul
from ..engine.report import Report
from ..engine.roofline import BOUNDS, REGIMES, TIE
from ..engine.thresholds import Threshold
from .cells import Cells, Flag
from .notes import notes
from .terms import Asked

ESTIMATES = ("estimate_s", "estimate_p10_s", "estimate_p90_s", "estimate_basis")
"""Predictions of time; null until a layer predicts."""


def result(asked: Asked, report: Report, cells: Cells) -> dict[str, Any]:
    """The document of one row, or of all rows, as `cells` says."""
    tokens = _tokens(asked, cells)
    return {
        "flops": cells.whole(report.flops),
        "vector_flops": cells.whole(report.vector_flops),
        "bytes": {**{name: cells.whole(each) for name, each in report.bytes.items()}, "total": cells.whole(report.bytes_total)},
        "traffic": "ideal",
        **tokens,
        "intensity_flops_per_byte": cells.number(report.intensity),
        **_approximation(report, cells),
        "layers": _layers(report, cells),
        "time": {
            "lower_s": cells.number(report.lower),
            "upper_s": cells.number(report.upper),
            "overlapped_s": cells.number(report.overlapped),
            **dict.fromkeys(ESTIMATES),
        },
        "bound": cells.name(report.longest, BOUNDS),
        "regime": cells.name(report.longest, REGIMES),
        "attainable_flops_per_s": cells.number(report.flops / report.lower),
        "utilization": None if report.placement.peak is None and report.flops.any() else cells.number(report.times.math / report.lower),
        "thresholds": [_threshold(each, cells) for each in report.thresholds],
        "levers": _levers(asked, report.levers, cells),
        "notes": notes(asked, report),
    }


def _tokens(asked: Asked, cells: Cells) -> dict[str, Any]:
    term = asked.term
    if isinstance(term, Matmul) and term.sequences is not None:
        return {"tokens_per_replica": cells.whole(term.rows)}
    return {}


def _approximation(report: Report, cells: Cells) -> dict[str, Any]:
    near = report.approximation
    return {
        "intensity_approx_flops_per_byte": None if near is None else cells.number(near),
        "intensity_ratio": None if near is None else cells.number(near / report.intensity),
    }


def _layers(report: Report, cells: Cells) -> dict[str, Any]:
    placed, peak = report.placement, report.placement.peak
    return {
        "compute": {
            "time_s": None if peak is None and report.flops.any() else cells.number(report.times.math),
            "unit": placed.unit,
            "dtype": placed.dtype,
            "peak_flops_per_s": None if peak is None else cells.number(peak),
        },
        "hbm": {
            "time_s": cells.number(report.times.hbm),
            "bytes": cells.whole(report.bytes_total),
            "bandwidth_bytes_per_s": cells.number(report.bandwidth),
            "intensity_flops_per_byte": cells.number(report.intensity),
            "critical_intensity_flops_per_byte": None if report.critical is None else cells.number(report.critical),
            "bound": cells.name(report.longest, BOUNDS),
        },
        "tile": None,
        "network": None,
    }


def _threshold(each: Threshold, cells: Cells) -> dict[str, Any]:
    exists = ~np.isnan(each.exact)
    write = cells.whole if each.variable == "sequences" else cells.number
    return {
        "path": each.path,
        "variable": each.variable,
        "exact": write(each.exact, exists),
        "approximate": None if each.approximate is None else write(each.approximate),
    }


def _levers(asked: Asked, levers: Levers, cells: Cells) -> list[dict[str, Any]]:
    helps = levers.speedup > 1.0 + TIE
    return [
        {
            "change": change,
            "factor": FACTORS[change],
            "lower_s_after": cells.number(levers.lower[at], present),
            "bound_after": cells.name(levers.longest[at], BOUNDS, present),
            "speedup": cells.number(levers.speedup[at], present),
            "helps": cells.flag(helps[at], present),
        }
        for at, change in enumerate(levers.changes)
        for present in (_present(change, asked),)
    ]


def _present(change: str, asked: Asked) -> Flag | None:
    """The rows that have a lever, where some lack it: a batch of one has none to double."""
    return asked.term.columns()["batch"] > 1 if change == "batch" else None
