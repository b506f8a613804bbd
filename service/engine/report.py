"""Everything the roofline says about a term on a machine: counts, times, verdicts, thresholds, levers, in columns.

One path serves one question and a million: rows stand on the last axis, the variants of each (its levers and probes) on the
first, and the whole block goes through the same arithmetic once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import NamedTuple

import numpy as np

from . import roofline
from .arrays import Code, Real, any_of, row, shared
from .demand import NOTHING, Demand
from .fabric import Fabric, Network, first
from .formats import Storage
from .hbm import Traffic, stairs, traffic
from .levers import LINKS, PROBE, Levers, Variants, levers, spread
from .machine import Machine, Placement, under
from .overtaking import overtaking
from .term import Term
from .thresholds import Line, Stair, Threshold, climbed, crossing

ONE_CHIP = Fabric()


class Core(NamedTuple):
    """What a roofline is made of: what the op does, what it moves, how long each takes, which is longest."""

    flops: Real
    moved: Traffic
    times: roofline.Times
    lower: Real
    longest: Code
    """bits, see `roofline.longest_paths`"""


class Report(NamedTuple):
    """All columns of one answer. A column has one value per row, or one value where all rows share it."""

    placement: Placement
    flops: Real
    vector_flops: Real
    bytes: Mapping[str, Real]
    bytes_total: Real
    bandwidth: Real | None
    """of the HBM [B/s]; None where the chip states none and nothing is read or written"""
    times: roofline.Times
    lower: Real
    upper: Real
    overlapped: Real
    intensity: Real
    """operations for each byte of HBM [FLOP/B]; NaN where none is moved"""
    approximation: Real | None
    """the textbook's intensity [FLOP/B]"""
    critical: Real | None
    """intensity at the ridge [FLOP/B]; None without a peak"""
    longest: Code
    thresholds: tuple[Threshold, ...]
    levers: Levers
    network: Network
    """what the chips exchange"""
    devices: Real
    """chips that run the term"""

    @property
    def total_flops(self) -> Real:
        """Operations of all chips, repeated ones included [FLOP]."""
        return self.flops * self.devices

    @property
    def rows(self) -> int:
        return self.lower.size


class Limits(NamedTuple):
    """Peak [FLOP/s], where there is one, bandwidth of the HBM [B/s], where there is one, and time of the network, where it is a path."""

    peak: Real | None
    bandwidth: Real | None
    network_s: Real | None = None


def core(demand: Demand, storages: Mapping[str, Storage], limits: Limits, shrink: Mapping[str, Real]) -> Core:
    """Counts, times and verdict: t_math = flops / peak, t_hbm = bytes / bandwidth.

    `shrink` multiplies the bytes of an operand; without a peak the operations take no time, nor do bytes without a bandwidth.
    """
    flops, moved = demand.flops, traffic(demand, storages, shrink)
    times = roofline.Times(
        NOTHING if limits.peak is None else flops / limits.peak,
        NOTHING if limits.bandwidth is None else moved.total / limits.bandwidth,
        limits.network_s,
    )
    lower = roofline.lower(times)
    return Core(flops, moved, times, lower, roofline.longest_paths(times, lower))


class Roofs(NamedTuple):
    """Peak C [FLOP/s], where the op has one, and bandwidth W [B/s], each with what the variants make of it."""

    placement: Placement
    bandwidth: Real | None
    """None where nothing is moved and the chip states none"""
    ridge: Real | None
    """critical intensity C/W [FLOP/B]"""
    peaks: Real | None
    bandwidths: Real | None


def roofs(machine: Machine, demand: Demand, dtype: str, over: Variants, *, is_class_asked: bool) -> Roofs:
    """What stands over a demand of class `dtype`. Raises `InvalidInput`: unsupported-dtype, missing."""
    moves = bool(demand.operands)
    asked = moves, demand.has_product, demand.has_arithmetic, dtype, is_class_asked, over
    known: Roofs | None = machine.derived.get(asked)
    if known is not None:
        return known
    placed, bandwidth = under(machine, demand, dtype, is_asked=is_class_asked)
    found = Roofs(
        placement=placed,
        bandwidth=bandwidth,
        ridge=None if placed.peak is None or bandwidth is None else placed.peak / bandwidth,
        peaks=None if placed.peak is None else placed.peak * over.factor("peak_flops_per_s"),
        bandwidths=None if bandwidth is None else bandwidth * over.factor("hbm_bandwidth_bytes_per_s"),
    )
    machine.derived[asked] = found
    return found


def report(
    term: Term, machine: Machine, over: Variants, fabric: Fabric = ONE_CHIP, *, is_class_asked: bool = False, overlap: float = 1.0
) -> Report:
    """Evaluate a resolved term and its variants `over` on one machine, or on one machine per row, as it lies on `fabric`.

    `is_class_asked` when the caller insists on the arithmetic class; `overlap` is the share of hideable time that is hidden.

    Raises `InvalidInput`: what the machine lacks (unsupported-dtype, missing), scales that do not fit, axes that the mesh lacks.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        whole = spread(term, over)
        demand = fabric.local(whole).demand()
        storages = term.storages(demand)
        roof = roofs(machine, demand, term.arithmetic, over, is_class_asked=is_class_asked)
        together = fabric.exchanged(whole, lambda: traffic(whole.demand(), storages, over.shrink).by_operand, over.factor(LINKS))
        found = core(demand, storages, Limits(roof.peaks, roof.bandwidths, together.path), over.shrink)
        flops, total = row(found.flops, 0), row(found.moved.total, 0)
        moved = {name: row(each, 0) for name, each in found.moved.by_operand.items()}
        approximation, network = term.approximation(flops, moved), first(together)
        times = roofline.Times(row(found.times.math, 0), row(found.times.hbm, 0), network.path)
        least, most = row(found.lower, 0), roofline.upper(times)
        return Report(
            placement=roof.placement,
            flops=flops,
            vector_flops=row(demand.vector_flops, 0),
            bytes=moved,
            bytes_total=total,
            bandwidth=roof.bandwidth,
            times=times,
            lower=least,
            upper=most,
            overlapped=roofline.overlapped(least, most, overlap),
            intensity=flops / total,
            approximation=approximation,
            critical=roof.ridge,
            longest=row(found.longest, 0),
            thresholds=(
                *_thresholds(term, over, roof.ridge, _exact(found, _stairs(demand, storages, over), over, roof.ridge), approximation),
                *overtaking(term, fabric, network, times.math, lambda: traffic(term.demand(), storages, {}).by_operand),
            ),
            levers=levers(over, found.lower, found.longest),
            network=network,
            devices=fabric.devices,
        )


def _thresholds(term: Term, over: Variants, ridge: Real | None, exact: Real, approximation: Real | None) -> tuple[Threshold, ...]:
    """The HBM threshold in each probed dim, `exact` a row for each."""
    return tuple(
        [
            Threshold("hbm", term.asks(name), term.answer(name, exact[at]), _approximate(term, name, ridge, approximation))
            for at, name in enumerate(over.probed)
        ]
    )


def _exact(found: Core, rising: list[Stair], over: Variants, ridge: Real | None) -> Real:
    """The thresholds in all probed dims, [dims, rows]; NaN where there is none."""
    flops, moved = _line(found.flops, over), _line(found.moved.total, over)
    if ridge is None:
        return np.full_like(moved.base, np.nan)
    ridge = shared(ridge)
    exact = crossing(flops, moved, ridge)
    if rising:
        steps = sum((each.at(PROBE) for each in rising), start=NOTHING)
        straight = Line(moved.base, moved.slope - steps / PROBE)
        is_stepped = reduce(np.logical_or, [np.isfinite(each.width) for each in rising])
        exact = np.where(is_stepped, climbed(flops, straight, rising, ridge), exact)
    return exact


def _line(block: Real, over: Variants) -> Line:
    """How a count depends on each probed dim."""
    at_zero = row(block, over.zeros)
    return Line(at_zero, (row(block, over.probes) - at_zero) / PROBE)


def _stairs(demand: Demand, storages: Mapping[str, Storage], over: Variants) -> list[Stair]:
    """The stairs of scales along each probed dim, those of one width together; of each row, whatever the widths of other rows are."""
    found: list[Stair] = []
    for dim, size, height in stairs(demand, storages):
        per_step = _line(dim, over).slope
        width, rise = np.where(per_step > 0, size / per_step, np.inf), np.where(per_step > 0, row(height, over.probes), 0.0)
        for at, each in enumerate(found):
            is_same = each.width == width
            found[at] = Stair(each.width, np.where(is_same, each.height + rise, each.height))
            width, rise = np.where(is_same, np.inf, width), np.where(is_same, 0.0, rise)
        if any_of(np.isfinite(width)):
            found.append(Stair(width, rise))
    return found


def _approximate(term: Term, name: str, ridge: Real | None, intensity: Real | None) -> Real | None:
    """The value of a dim at which the approximate intensity, which is proportional to it, reaches the critical one."""
    if name != term.approximates or ridge is None or intensity is None:
        return None
    column: Real = getattr(term, name)
    return term.answer(name, column * (ridge / intensity))
