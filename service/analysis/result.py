"""The `result` of an answer: a report written as a document, for one row or for all of them by the same code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import roofline
from ..engine.arrays import Real
from ..engine.instead import Alternative
from ..engine.levers import FACTORS, Levers
from ..engine.ops.matmul import Matmul
from ..engine.report import Report
from ..engine.roofline import BOUNDS, REGIMES, TIE
from ..engine.thresholds import Threshold
from . import network
from .cells import Cells, Flag
from .notes import notes
from .terms import Asked

ESTIMATES = ("estimate_s", "estimate_p10_s", "estimate_p90_s", "estimate_basis")
"""Predictions of time; null until a layer predicts."""


def result(asked: Asked, report: Report, others: Sequence[Alternative], cells: Cells) -> dict[str, Any]:
    """The document of one row, or of all rows, as `cells` says; `others` are plans that do the same otherwise."""
    tokens = _tokens(asked, cells)
    takes_time = report.lower > 0
    return {
        "flops": cells.whole(report.flops),
        "total_flops": cells.whole(report.flops * report.devices),
        "devices": cells.whole(np.full(1, report.devices)),
        "vector_flops": cells.whole(report.vector_flops),
        "bytes": {**{name: cells.whole(each) for name, each in report.bytes.items()}, "total": cells.whole(report.bytes_total)},
        "traffic": "ideal",
        **tokens,
        "intensity_flops_per_byte": None if report.intensity is None else cells.number(report.intensity),
        **_approximation(report, cells),
        "layers": layers(report, others, cells),
        "time": times(report, cells),
        "bound": cells.name(report.longest, BOUNDS),
        "regime": cells.name(report.longest, REGIMES),
        "attainable_flops_per_s": cells.number(share(report.flops, report.lower), takes_time),
        "utilization": None if is_unpeaked(report) else cells.number(share(report.times.math, report.lower), takes_time),
        "thresholds": [_threshold(each, cells) for each in report.thresholds],
        "levers": _levers(asked, report.levers, cells),
        "notes": notes(asked, report),
    }


def times(report: Report, cells: Cells) -> dict[str, Any]:
    """The bounds of the time, and the predictions of it."""
    return {
        "lower_s": cells.number(report.lower),
        "upper_s": cells.number(report.upper),
        "overlapped_s": cells.number(report.overlapped),
        **dict.fromkeys(ESTIMATES),
    }


def share(part: Real, whole: Real) -> Real:
    """`part` over `whole`, which may be 0: there the quotient means nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return part / whole


def is_unpeaked(report: Report) -> bool:
    """Whether there is work and no peak to hold it against."""
    return report.placement.peak is None and bool(report.flops.any())


def _tokens(asked: Asked, cells: Cells) -> dict[str, Any]:
    term = asked.term
    if isinstance(term, Matmul) and term.sequences is not None:
        return {"tokens_per_replica": cells.whole(term.rows)}
    return {}


def _approximation(report: Report, cells: Cells) -> dict[str, Any]:
    near = report.approximation
    return {
        "intensity_approx_flops_per_byte": None if near is None else cells.number(near),
        "intensity_ratio": None if near is None or report.intensity is None else cells.number(near / report.intensity),
    }


def layers(report: Report, others: Sequence[Alternative], cells: Cells) -> dict[str, Any]:
    """Each roofline with its own verdict; what only exchanges has no unit, and no HBM traffic that would be counted."""
    placed, peak = report.placement, report.placement.peak
    computes = bool(report.bytes)
    near = roofline.Times(report.times.math, report.times.hbm)
    return {
        "compute": {
            "time_s": None if is_unpeaked(report) else cells.number(report.times.math),
            "unit": placed.unit if computes else None,
            "dtype": placed.dtype if computes else None,
            "peak_flops_per_s": None if peak is None else cells.number(peak),
        },
        "hbm": {
            "time_s": cells.number(report.times.hbm),
            "bytes": cells.whole(report.bytes_total),
            "bandwidth_bytes_per_s": None if report.bandwidth is None else cells.number(report.bandwidth),
            "intensity_flops_per_byte": None if report.intensity is None else cells.number(report.intensity),
            "critical_intensity_flops_per_byte": None if report.critical is None else cells.number(report.critical),
            "bound": cells.name(roofline.longest_paths(near, roofline.lower(near)), BOUNDS),
        },
        "tile": None,
        "network": network.layer(report, others, cells),
    }


def _threshold(each: Threshold, cells: Cells) -> dict[str, Any]:
    exists = ~np.isnan(each.exact)
    write = cells.whole if each.variable == "sequences" else cells.number
    axis = {} if each.axis is None else {"axis": each.axis}
    return {
        "path": each.path,
        "variable": each.variable,
        **axis,
        "exact": write(each.exact, exists),
        "approximate": None if each.approximate is None else write(each.approximate, ~np.isnan(each.approximate)),
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
