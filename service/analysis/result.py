"""The `result` of an answer: a report written as a document, for one row or for all of them by the same code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine import roofline
from ..engine.arrays import Code, Real, all_of, constant
from ..engine.instead import Alternative
from ..engine.levers import FACTORS, Levers
from ..engine.ops.matmul import Matmul
from ..engine.report import Report
from ..engine.roofline import BOUNDS, REGIMES, TIE
from ..engine.thresholds import Threshold
from . import network
from .cells import Cells, Flag
from .expected import Foreseen
from .notes import notes
from .terms import Asked

HELPS = constant(1.0 + TIE)
"""A speedup beyond this is one."""

ESTIMATES = ("estimate_s", "estimate_p10_s", "estimate_p90_s", "estimate_basis")
"""Predictions of time; null where nothing predicts."""


class Tiles(NamedTuple):
    """What an answer says of tiles."""

    layer: dict[str, Any] | None = None
    lever: dict[str, Any] | None = None


UNTILED = Tiles()


def result(
    asked: Asked, report: Report, others: Sequence[Alternative], expected: Foreseen | None, cells: Cells, *, tiles: Tiles = UNTILED
) -> dict[str, Any]:
    """The document of one row, or of all rows, as `cells` says.

    others    plans that do the same otherwise
    expected  the prediction of its time, where there is one
    """
    found, takes_time = layers(report, others, cells, tiles), report.lower > 0
    present = None if all_of(takes_time) else takes_time
    return {
        "flops": cells.whole(report.flops),
        "total_flops": cells.whole(report.total_flops),
        "devices": cells.whole(report.devices),
        "vector_flops": cells.whole(report.vector_flops),
        "bytes": {**{name: cells.whole(each) for name, each in report.bytes.items()}, "total": found["hbm"]["bytes"]},
        "traffic": "ideal",
        **_tokens(asked, cells),
        "intensity_flops_per_byte": found["hbm"]["intensity_flops_per_byte"],
        **_approximation(report, cells),
        "layers": found,
        "time": {**times(report, cells), **estimates(expected, cells)},
        "bound": cells.name(report.longest, BOUNDS),
        "regime": cells.name(report.longest, REGIMES),
        "attainable_flops_per_s": cells.number(_over(report.flops, report.lower, present), present),
        "utilization": None if is_unpeaked(report, cells) else cells.number(_over(report.times.math, report.lower, present), present),
        "thresholds": [_threshold(each, cells) for each in report.thresholds],
        "levers": [*_levers(asked, report.levers, cells), *([] if tiles.lever is None else [tiles.lever])],
        "notes": notes(asked, report, cells),
    }


def times(report: Report, cells: Cells) -> dict[str, Any]:
    """The bounds of the time."""
    return {
        "lower_s": cells.number(report.lower),
        "upper_s": cells.number(report.upper),
        "overlapped_s": cells.number(report.overlapped),
    }


def estimates(found: Foreseen | None, cells: Cells) -> dict[str, Any]:
    """The prediction of the time, its band, and what it stands on."""
    if found is None:
        return dict.fromkeys(ESTIMATES)
    expected, low, high = found.estimate
    return dict(zip(ESTIMATES, (cells.number(expected), cells.number(low), cells.number(high), found.basis), strict=True))


def _over(part: Real, whole: Real, present: Flag | None) -> Real:
    """`part` over `whole`, which is 0 where it is not `present`: there the quotient means nothing."""
    return part / whole if present is None else part / np.where(present, whole, 1.0)


def is_unpeaked(report: Report, cells: Cells) -> bool:
    """Whether there is work and no peak to hold it against."""
    return report.placement.peak is None and cells.any_of(report.flops != 0)


def layers(report: Report, others: Sequence[Alternative], cells: Cells, tiles: Tiles) -> dict[str, Any]:
    """Each roofline with its own verdict; what only exchanges has no unit, and no HBM traffic that would be counted."""
    placed, computes = report.placement, bool(report.bytes)
    return {
        "compute": {
            "time_s": None if is_unpeaked(report, cells) else cells.number(report.times.math),
            "unit": placed.unit if computes else None,
            "dtype": placed.dtype if computes else None,
            "peak_flops_per_s": None if placed.peak is None else cells.number(placed.peak),
        },
        "hbm": {
            "time_s": cells.number(report.times.hbm),
            "bytes": cells.whole(report.bytes_total),
            "bandwidth_bytes_per_s": None if report.bandwidth is None else cells.number(report.bandwidth),
            "intensity_flops_per_byte": cells.number(report.intensity) if computes else None,
            "critical_intensity_flops_per_byte": None if report.critical is None else cells.number(report.critical),
            "bound": cells.name(_of_memory(report), BOUNDS),
        },
        "tile": tiles.layer,
        "network": network.layer(report, others, cells),
    }


def _of_memory(report: Report) -> Code:
    """The longer of compute and HBM, whatever the network takes."""
    if report.network.path is None:
        return report.longest
    near = report.times._replace(network=None)
    return roofline.longest_paths(near, roofline.lower(near))


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


def _threshold(each: Threshold, cells: Cells) -> dict[str, Any]:
    exists = each.exact == each.exact  # NaN alone is not itself
    write = cells.whole if each.variable == "sequences" else cells.number
    axis = {} if each.axis is None else {"axis": each.axis}
    return {
        "path": each.path,
        "variable": each.variable,
        **axis,
        "exact": write(each.exact, exists),
        "approximate": None if each.approximate is None else write(each.approximate, each.approximate == each.approximate),
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
