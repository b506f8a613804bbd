"""Why one question takes another time than the next: the first is changed into the second, one cause after the other.

Each step is the least time after the change over that before, so the steps multiply to the whole ratio. The order is fixed, since
the share of a cause depends on what was changed before it: counts of the op, bytes of its formats, peak, HBM bandwidth, mesh and
sharding. An op that cannot lie on the first mesh as the first one does takes its own mesh with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .arrays import Real
from .collective import Collective
from .demand import Operand
from .fabric import Fabric
from .formats import Storage
from .hbm import traffic
from .mesh import chips
from .report import Limits, core
from .sharding import arrays
from .term import Term


@dataclass(frozen=True)
class Side:
    """One of two questions."""

    term: Term
    storages: Mapping[str, Storage]
    peak: Real | None
    bandwidth: Real | None
    fabric: Fabric

    @property
    def lower(self) -> Real:
        """Least time [s]."""
        whole = self.term.demand()
        network = self.fabric.exchanged(self.term, lambda: traffic(whole, self.storages, {}).by_operand)
        return core(self.fabric.local(self.term).demand(), self.storages, Limits(self.peak, self.bandwidth, network.path), {}).lower

    def fits(self, fabric: Fabric) -> bool:
        """Whether the term can lie on another mesh as another term does there."""
        if isinstance(self.term, Collective):
            named = [axis for axis in fabric.mesh.axes if axis.name in self.term.axes]
            return len(named) == len(self.term.axes) and chips(named) > 1
        laid = fabric.sharding
        return laid is None or {array.name: array.dims for array in (*laid.operands, laid.out)} == arrays(self.term)


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
    borrowed = {each.name: _borrowed(each, first, second) for each in second.term.demand().operands}
    fabric = first.fabric if second.fits(first.fabric) else second.fabric
    counts = replace(first, term=second.term, storages=borrowed, fabric=fabric)
    formats = replace(counts, storages=second.storages)
    peak = replace(formats, peak=second.peak)
    memory = replace(peak, bandwidth=second.bandwidth)
    path = (
        ("op_counts", counts),
        ("dtype_bytes", formats),
        ("peak_flops_per_s", peak),
        ("hbm_bandwidth_bytes_per_s", memory),
        ("mesh_and_sharding", second),
    )
    found, before = [], first.lower
    for cause, side in path:
        after = side.lower
        found.append(Factor(cause, before, after))
        before = after
    return tuple(found)


def _borrowed(operand: Operand, first: Side, second: Side) -> Storage:
    """How the first question stores an operand of this name; without its scales where they would cut an array of other dims."""
    known = next((each for each in first.term.demand().operands if each.name == operand.name), None)
    if known is None:
        return second.storages[operand.name]
    stored = first.storages[operand.name]
    return stored if known.cut_dims == operand.cut_dims else stored._replace(scale=None)
