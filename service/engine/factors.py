"""Why one question takes another time than the next: the first is changed into the second, one cause after the other.

Each step is the least time after the change over that before, so the steps multiply to the whole ratio. The order is fixed, since
the share of a cause depends on what was changed before it: counts of the op, bytes of its formats, peak, HBM bandwidth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .arrays import Real
from .demand import Demand, Operand
from .formats import Storage
from .report import core


@dataclass(frozen=True)
class Side:
    """One of two questions."""

    demand: Demand
    storages: Mapping[str, Storage]
    peak: Real | None
    bandwidth: Real

    @property
    def lower(self) -> Real:
        """Least time [s]."""
        return core(self.demand, self.storages, self.peak, self.bandwidth, {}).lower


@dataclass(frozen=True)
class Factor:
    """What one cause does to the least time."""

    cause: str
    before: Real
    after: Real

    @property
    def factor(self) -> Real:
        return self.after / self.before


def factors(first: Side, second: Side) -> tuple[Factor, ...]:
    """The causes in their order. Operands of the second question keep the formats that the first has for their names."""
    borrowed = {each.name: _borrowed(each, first, second) for each in second.demand.operands}
    counts = replace(first, demand=second.demand, storages=borrowed)
    formats = replace(counts, storages=second.storages)
    peak = replace(formats, peak=second.peak)
    path = (
        ("op_counts", counts),
        ("dtype_bytes", formats),
        ("peak_flops_per_s", peak),
        ("hbm_bandwidth_bytes_per_s", second),
    )
    found, before = [], first.lower
    for cause, side in path:
        after = side.lower
        found.append(Factor(cause, before, after))
        before = after
    return tuple(found)


def _borrowed(operand: Operand, first: Side, second: Side) -> Storage:
    """How the first question stores an operand of this name; without its scales where they would cut an array of other dims."""
    known = next((each for each in first.demand.operands if each.name == operand.name), None)
    if known is None:
        return second.storages[operand.name]
    stored = first.storages[operand.name]
    return stored if known.cut_dims == operand.cut_dims else stored._replace(scale=None)
