"""What an answer says in words beside its numbers: why something is null, which fallback was taken, what to watch."""

from __future__ import annotations

import numpy as np

from ..engine.ops.matmul import Matmul
from ..engine.report import Report
from .cells import Cells
from .terms import Asked

NEEDS_SEQUENCE_SHARDING = "needs-sequence-sharding"
"""The one note that clients look for by name."""

HELD = "Thresholds and levers keep the plan of this question; at other sizes another operand may be the cheaper one to gather."


def notes(asked: Asked, report: Report, cells: Cells) -> list[str]:
    """The notes of one answer, those that a client may act on first."""
    found = [*_sequences(asked, cells), *_unit(asked, report, cells), *_thresholds(asked, report, cells), *_plan(report)]
    if report.approximation is None:
        found.append("intensity_approx_flops_per_byte and intensity_ratio are null: the literature has no approximation for this op.")
    return found


def _plan(report: Report) -> list[str]:
    steps = [exchange.step for exchange in report.network.exchanges]
    return [HELD] if any(step is not None and not step.forced for step in steps) else []


def _sequences(asked: Asked, cells: Cells) -> list[str]:
    term = asked.term
    if not isinstance(term, Matmul) or term.sequences is None or term.replicas is None:
        return []
    if not cells.any_of(term.sequences < term.replicas):
        return []
    return [NEEDS_SEQUENCE_SHARDING, "There are fewer sequences than replicas; the tokens of each are dealt out over replicas."]


def _unit(asked: Asked, report: Report, cells: Cells) -> list[str]:
    placed = report.placement
    if not report.bytes:
        return _exchange(report, cells)
    if placed.peak is None and not cells.any_of(report.flops > 0):
        return ["The op does no arithmetic, so there is no peak and no critical intensity: it takes the time of its bytes."]
    if placed.peak is None:
        return ["layers.compute is null and counts 0: the chip in place states no vector peak, so only memory is judged."]
    if placed.dtype != asked.term.arithmetic:
        return [f"The vector unit has no {asked.term.arithmetic} peak of its own; the op runs there in {placed.dtype}."]
    return []


def _exchange(report: Report, cells: Cells) -> list[str]:
    found = ["The op only exchanges: it has no unit, no peak, and its HBM traffic is not counted."]
    if not cells.any_of(report.lower > 0):
        found.append("There is one chip along these axes and nobody to exchange with; rates, verdicts and estimates are null.")
    return found


def _thresholds(asked: Asked, report: Report, cells: Cells) -> list[str]:
    found = []
    for each in report.thresholds:
        if each.variable == "batch" and isinstance(asked.term, Matmul):
            found.append("The threshold in batch is null: every pair brings its own matrices, so more pairs never raise the intensity.")
        elif cells.any_of(absent := np.isnan(each.exact)):
            where = "" if absent.all() else " in the rows where it is null"
            what = f"The threshold in {each.variable} is null{where}"
            found.append(f"{what}: no value of it was found at which compute and {each.path} change places.")
    return found
