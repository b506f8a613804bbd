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
from .fabric import Fabric, Network, first
from .formats import Storage
from .hbm import Traffic, scale_traffic, traffic
from .levers import PROBE, Levers, Variants, levers, spread
from .machine import Machine, Placement, place
from .overtaking import overtaking
from .term import Term
from .thresholds import FAR, Line, Roofs, Threshold, climbed, crossing, line

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
    intensity: Real | None
    """operations for each byte of HBM [FLOP/B]; None where none is moved"""
    approximation: Real | None
    """the textbook's intensity [FLOP/B]"""
    critical: Real | None
    """intensity at the ridge [FLOP/B]; None without a peak"""
    longest: Code
    thresholds: tuple[Threshold, ...]
    levers: Levers
    network: Network
    """what the chips exchange"""
    devices: float
    """chips that run the term"""

    @property
    def rows(self) -> int:
        return self.lower.size


def core(
    demand: Demand,
    storages: Mapping[str, Storage],
    roofs: tuple[Real | None, Real | None],
    shrink: Mapping[str, Real],
    network: Real = ZERO,
) -> Core:
    """Counts, times and verdict: t_math = flops / peak, t_hbm = bytes / bandwidth, t_network [s] as given.

    `roofs` are peak and bandwidth; `shrink` multiplies the bytes of an operand. Without a peak the operations take no time, and
    without a bandwidth, which what moves no bytes may do without, nor do the bytes.
    """
    moved = traffic(demand, storages, shrink)
    peak, bandwidth = roofs
    times = roofline.Times(
        math=ZERO if peak is None else demand.flops / peak,
        hbm=ZERO if bandwidth is None else moved.total / bandwidth,
        network=network,
    )
    lower = roofline.lower(times)
    return Core(demand.flops, moved, times, lower, roofline.longest_paths(times, lower))


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
        placed = place(machine, demand, term.arithmetic, is_asked=is_class_asked)
        bandwidth = machine.memory if demand.operands else machine.hbm_bandwidth
        exchanged = fabric.exchanged(
            whole, lambda: traffic(whole.demand(), storages, over.shrink).by_operand, over.factor("link_bandwidth_bytes_per_s")
        )
        peaks = None if placed.peak is None else placed.peak * over.factor("peak_flops_per_s")
        bandwidths = None if bandwidth is None else bandwidth * over.factor("hbm_bandwidth_bytes_per_s")
        found = core(demand, storages, (peaks, bandwidths), over.shrink, exchanged.time if exchanged.exchanges else ZERO)
        flops, total = row(found.flops, 0), row(found.moved.total, 0)
        moved = {name: row(each, 0) for name, each in found.moved.by_operand.items()}
        network = first(exchanged)
        roofs = Roofs(placed.peak, bandwidth, None if placed.peak is None or bandwidth is None else placed.peak / bandwidth)
        block = Block(term, over, storages, roofs, found, term.approximation(flops, moved))
        times = roofline.Times(row(found.times.math, 0), row(found.times.hbm, 0), network.time if network.exchanges else ZERO)
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
            intensity=flops / total if demand.operands else None,
            approximation=block.approximation,
            critical=roofs.ridge,
            longest=row(found.longest, 0),
            thresholds=(
                *[_threshold(block, name) for name in over.probed],
                *_overtaking(term, fabric, storages, placed, times, network),
            ),
            levers=levers(over, found.lower, found.longest),
            network=network,
            devices=fabric.mesh.devices,
        )


def _overtaking(
    term: Term, fabric: Fabric, storages: Mapping[str, Storage], placed: Placement, times: roofline.Times, network: Network
) -> tuple[Threshold, ...]:
    """The thresholds of the network path, where there is one and a peak to hold against it."""
    if placed.peak is None or fabric.sharding is None:
        return ()
    return overtaking(term, fabric, times.math, network, traffic(term.demand(), storages, {}).by_operand)


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
