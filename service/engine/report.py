"""Everything the roofline says about a term on a machine: counts, times, verdicts, thresholds, levers, in columns.

One path serves one question and a million: rows stand on the last axis, the variants of each (its levers and probes) on the
first, and the whole block goes through the same arithmetic once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from . import roofline
from .arrays import Code, Real, row
from .demand import ZERO, Demand
from .formats import Storage
from .hbm import Traffic, scale_traffic, traffic
from .levers import PROBE, Levers, Variants, levers, spread
from .machine import Machine, Placement, place
from .term import Term
from .thresholds import FAR, Line, Roofs, Threshold, climbed, crossing, line


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
    bandwidth: Real
    times: roofline.Times
    lower: Real
    upper: Real
    overlapped: Real
    intensity: Real
    approximation: Real | None
    """the textbook's intensity [FLOP/B]"""
    critical: Real | None
    """intensity at the ridge [FLOP/B]; None without a peak"""
    longest: Code
    thresholds: tuple[Threshold, ...]
    levers: Levers

    @property
    def rows(self) -> int:
        return self.lower.size


def core(demand: Demand, storages: Mapping[str, Storage], peak: Real | None, bandwidth: Real, shrink: Mapping[str, Real]) -> Core:
    """Counts, times and verdict: t_math = flops / peak, t_hbm = bytes / bandwidth.

    `shrink` multiplies the bytes of an operand; without a peak the operations take no time.
    """
    moved = traffic(demand, storages, shrink)
    times = roofline.Times(math=ZERO if peak is None else demand.flops / peak, hbm=moved.total / bandwidth)
    lower = roofline.lower(times)
    return Core(demand.flops, moved, times, lower, roofline.longest_paths(times, lower))


def report(term: Term, machine: Machine, over: Variants, *, is_class_asked: bool = False, overlap: float = 1.0) -> Report:
    """Evaluate a resolved term and its variants `over` on one machine, or on one machine per row.

    `is_class_asked` when the caller insists on the arithmetic class; `overlap` is the share of hideable time that is hidden.

    Raises `InvalidInput`: what the machine lacks (unsupported-dtype, missing), scales that do not fit.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        demand = spread(term, over).demand()
        storages = term.storages(demand)
        placed = place(machine, demand, term.arithmetic, is_asked=is_class_asked)
        bandwidth = machine.memory
        roofs = Roofs(placed.peak, bandwidth, None if placed.peak is None else placed.peak / bandwidth)
        peaks = None if placed.peak is None else placed.peak * over.factor("peak_flops_per_s")
        found = core(demand, storages, peaks, bandwidth * over.factor("hbm_bandwidth_bytes_per_s"), over.shrink)
        flops, total = row(found.flops, 0), row(found.moved.total, 0)
        moved = {name: row(each, 0) for name, each in found.moved.by_operand.items()}
        block = Block(term, over, storages, roofs, found, term.approximation(flops, moved))
        times = roofline.Times(row(found.times.math, 0), row(found.times.hbm, 0))
        least, most = row(found.lower, 0), roofline.upper(times)
        return Report(
            placement=placed,
            flops=flops,
            vector_flops=row(demand.vector_operations, 0),
            bytes=moved,
            bytes_total=total,
            bandwidth=bandwidth,
            times=times,
            lower=least,
            upper=most,
            overlapped=roofline.overlapped(least, most, overlap),
            intensity=flops / total,
            approximation=block.approximation,
            critical=roofs.ridge,
            longest=row(found.longest, 0),
            thresholds=tuple([_threshold(block, name) for name in over.probed]),
            levers=levers(over, found.lower, found.longest),
        )


class Block(NamedTuple):
    """A question evaluated together with its variants."""

    term: Term
    over: Variants
    storages: Mapping[str, Storage]
    roofs: Roofs
    found: Core
    approximation: Real | None
    """the textbook's intensity of the question itself [FLOP/B]"""

    def scales_at(self, name: str, value: Real) -> Real:
        """Bytes of all scales when the dim `name` is `value` [B]."""
        return scale_traffic(self.term.with_columns({name: value}).demand(), self.storages)


def _threshold(block: Block, name: str) -> Threshold:
    """The HBM threshold in one dim, read from its two probe rows."""
    zero, probe = block.over.probe_rows(name)
    counts, total, roofs = block.found.flops, block.found.moved.total, block.roofs
    flops = line(row(counts, zero), row(counts, probe), PROBE)
    moved = line(row(total, zero), row(total, probe), PROBE)
    exact = None
    if any(each.has_scales for each in block.storages.values()):
        exact = _climbed(block, name, flops, moved)
    if exact is None:
        exact = crossing(flops, moved, roofs)
    return Threshold("hbm", block.term.asks(name), block.term.answer(name, exact), _approximate(block, name))


def _climbed(block: Block, name: str, flops: Line, moved: Line) -> Real | None:
    """The threshold in a dim along which there are more and more scales; None where their number does not depend on it."""

    def scales_at(value: Real) -> Real:
        return block.scales_at(name, value)

    below = line(scales_at(np.zeros(1)), scales_at(np.full(1, FAR)), FAR)
    if not below.slope.any():
        return None
    of_scales = line(below.base, scales_at(np.full(1, PROBE)), PROBE)
    elements = Line(moved.base - of_scales.base, moved.slope - of_scales.slope)
    return climbed(flops, elements, below, scales_at, block.roofs)


def _approximate(block: Block, name: str) -> Real | None:
    """The value of a dim at which the approximate intensity, which is proportional to it, reaches the critical one."""
    term, ridge, intensity = block.term, block.roofs.ridge, block.approximation
    if name != term.approximates or ridge is None or intensity is None:
        return None
    return term.answer(name, term.columns()[name] * (ridge / intensity))
