"""The network layer of a result: what the chips exchange, how long it takes, and whether it is the limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import roofline
from ..engine.demand import NOTHING
from ..engine.fabric import Exchange, Network
from ..engine.instead import Alternative
from ..engine.report import Report
from ..engine.roofline import BOUNDS
from .cells import Cells, Flag


def layer(report: Report, others: Sequence[Alternative], cells: Cells) -> dict[str, Any]:
    """The document of the layer; verdict and intensities only where something is sent."""
    network, peak = report.network, report.placement.peak
    found = {
        "time_s": cells.number(network.time),
        "collectives": collectives(network, cells),
        "alternatives": [_alternative(each, cells) for each in others],
    }
    sends = network.wire_bytes > 0
    if not cells.any_of(sends):
        return {**found, "intensity_flops_per_byte": None, "critical_intensity_flops_per_byte": None, "bound": None}
    with np.errstate(divide="ignore", invalid="ignore"):
        intensity = report.flops / network.wire_bytes
        critical = None if peak is None else peak * network.time / network.wire_bytes
    times = roofline.Times(report.times.math, NOTHING, network.time)
    verdict = roofline.longest_paths(times, roofline.lower(times))
    return {
        **found,
        "intensity_flops_per_byte": cells.number(intensity, sends),
        "critical_intensity_flops_per_byte": None if critical is None else cells.number(critical, sends),
        "bound": cells.name(verdict, BOUNDS, sends),
    }


def collectives(network: Network, cells: Cells, present: Flag | None = None) -> list[dict[str, Any]]:
    """The collectives in order; `present` marks the rows that have any, and each may be that of some rows alone."""
    return [_collective(each, cells, _both(present, each.rows)) for each in network.exchanges]


def _alternative(other: Alternative, cells: Cells) -> dict[str, Any]:
    return {
        "plan": other.name,
        "lower_s": cells.number(other.lower, other.rows),
        "collectives": collectives(other.network, cells, other.rows),
    }


def _collective(exchange: Exchange, cells: Cells, present: Flag | None) -> dict[str, Any]:
    cost, step = exchange.cost, exchange.step
    return {
        "kind": cost.kind,
        "operand": None if step is None else step.operand,
        "dim": None if step is None else step.dim,
        "axes": list(cost.axes),
        "bytes": cells.whole(cost.volume, present),
        "wire_bytes": cells.whole(cost.wire_bytes, present),
        "steps": cells.whole(np.full(1, cost.steps), present),
        "time_s": cells.number(cost.time, present),
        "algbw_bytes_per_s": None if cost.algbw is None else cells.number(cost.algbw, present),
        "busbw_bytes_per_s": None if cost.busbw is None else cells.number(cost.busbw, present),
        "latency_bound": cells.flag(cost.latency_bound, present),
        "forced": cells.flag(np.full(1, step is None or step.forced), present),
    }


def _both(one: Flag | None, other: Flag | None) -> Flag | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
