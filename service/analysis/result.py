"""The `result` of an answer: a report written as a document, for one row or for all of them by the same code."""

from __future__ import annotations

from typing import Any

from ..engine.arrays import any_of, constant
from ..engine.levers import FACTORS, Levers
from ..engine.ops.matmul import Matmul
from ..engine.report import Report
from ..engine.roofline import BOUNDS, REGIMES, TIE
from ..engine.thresholds import Threshold
from .cells import Cells, Flag
from .notes import notes
from .terms import Asked

HELPS = constant(1.0 + TIE)
"""A speedup beyond this is one."""

ESTIMATES = ("estimate_s", "estimate_p10_s", "estimate_p90_s", "estimate_basis")
"""Predictions of time; null until a layer predicts."""


def result(asked: Asked, report: Report, cells: Cells) -> dict[str, Any]:
    """The document of one row, or of all rows, as `cells` says."""
    moved, intensity, math_s = cells.whole(report.bytes_total), cells.number(report.intensity), _math_s(report, cells)
    bound = cells.name(report.longest, BOUNDS)
    return {
        "flops": cells.whole(report.flops),
        "vector_flops": cells.whole(report.vector_flops),
        "bytes": {**{name: cells.whole(each) for name, each in report.bytes.items()}, "total": moved},
        "traffic": "ideal",
        **_tokens(asked, cells),
        "intensity_flops_per_byte": intensity,
        **_approximation(report, cells),
        "layers": {
            "compute": _compute(report, math_s, cells),
            "hbm": {
                "time_s": cells.number(report.times.hbm),
                "bytes": moved,
                "bandwidth_bytes_per_s": cells.number(report.bandwidth),
                "intensity_flops_per_byte": intensity,
                "critical_intensity_flops_per_byte": None if report.critical is None else cells.number(report.critical),
                "bound": bound,
            },
            "tile": None,
            "network": None,
        },
        "time": {
            "lower_s": cells.number(report.lower),
            "upper_s": cells.number(report.upper),
            "overlapped_s": cells.number(report.overlapped),
            **dict.fromkeys(ESTIMATES),
        },
        "bound": bound,
        "regime": cells.name(report.longest, REGIMES),
        "attainable_flops_per_s": cells.number(report.flops / report.lower),
        "utilization": None if math_s is None else cells.number(report.times.math / report.lower),
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


def _math_s(report: Report, cells: Cells) -> Any:
    """Time of the operations [s]; None where there are such and no peak is known."""
    return None if report.placement.peak is None and any_of(report.flops != 0) else cells.number(report.times.math)


def _compute(report: Report, math_s: Any, cells: Cells) -> dict[str, Any]:
    placed = report.placement
    return {
        "time_s": math_s,
        "unit": placed.unit,
        "dtype": placed.dtype,
        "peak_flops_per_s": None if placed.peak is None else cells.number(placed.peak),
    }


def _threshold(each: Threshold, cells: Cells) -> dict[str, Any]:
    exists = each.exact == each.exact  # NaN alone is not itself
    write = cells.whole if each.variable == "sequences" else cells.number
    return {
        "path": each.path,
        "variable": each.variable,
        "exact": write(each.exact, exists),
        "approximate": None if each.approximate is None else write(each.approximate),
    }


def _levers(asked: Asked, levers: Levers, cells: Cells) -> list[dict[str, Any]]:
    rows = zip(levers.changes, levers.lower, levers.longest, levers.speedup, levers.speedup > HELPS, strict=True)
    return [
        {
            "change": change,
            "factor": FACTORS[change],
            "lower_s_after": cells.number(lower, present),
            "bound_after": cells.name(longest, BOUNDS, present),
            "speedup": cells.number(speedup, present),
            "helps": cells.flag(helps, present),
        }
        for change, lower, longest, speedup, helps in rows
        for present in (_present(change, asked),)
    ]


def _present(change: str, asked: Asked) -> Flag | None:
    """The rows that have a lever, where some lack it: a batch of one has none to double."""
    return asked.term.columns()["batch"] > 1 if change == "batch" else None
