"""A collective: what the chips of a group exchange, and how long the wires need for it.

    t_bandwidth = V·(seconds per byte of the slowest level)        t_latency = the steps of the slowest level
    t = max(t_bandwidth, t_latency)

V [B] is the array as the group sees it: the other axes that shard it have divided it before. What the busiest wire carries decides
the bandwidth term, and it is the kind of collective that knows how much of V that is.

algbw and busbw are those of nccl-tests: S/t, and S/t times what the wire carries of S, so that busbw compares with the rate of a link.
Source: How to Scale Your Model, "Sharded Matrices"; NVIDIA, nccl-tests, doc/PERFORMANCE.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from .arrays import Real, column
from .demand import Demand
from .mesh import Mesh
from .registry import Registry
from .term import REQUIRED, Formulas, Term, choice, dim
from .wiring import Form, Group, group

ONE = np.ones(1)


class Cost(NamedTuple):
    """What one collective takes; columns over rows, with variants before them where the volume or the links have variants."""

    kind: str
    axes: tuple[str, ...]
    """as they were named"""
    chips: float
    volume: Real
    """V [B]"""
    wire_bytes: Real
    """what one chip sends [B]"""
    steps: float
    bandwidth_s: Real
    latency_s: Real
    time: Real
    payload: Real
    """S, the bytes by which nccl-tests divides [B]"""
    bus: float
    """busbw over algbw"""

    @property
    def latency_bound(self) -> NDArray[np.bool_]:
        """Whether the steps take longer than the bytes."""
        return self.latency_s > self.bandwidth_s

    @property
    def algbw(self) -> Real | None:
        """S over the time [B/s]; None where there is nobody to exchange with."""
        return self.payload / self.time if self.chips > 1 else None

    @property
    def busbw(self) -> Real | None:
        """algbw in terms of the wire [B/s]."""
        return None if self.algbw is None else self.algbw * self.bus


@dataclass(frozen=True, kw_only=True)
class Collective(Term):
    """Base of all collectives. As written it gathers; what another kind does otherwise it overrides."""

    bytes: Real = dim("V, the bytes of the array that one group of the axes sees")
    axes: tuple[str, ...] = choice("axes of the mesh over which the chips exchange", "axes", default=REQUIRED)

    most_axes: ClassVar[int | None] = None
    """on how many axes of more than one chip it can run"""

    def moved(self, chips: float) -> Real:
        """The part of V that is not empty [B]."""
        return self.bytes

    def held(self, chips: float) -> tuple[Real, Real]:
        """What one chip holds before and after [B]; as written, its own piece of the array, then all of it."""
        return self.bytes / chips, self.bytes

    def sent(self, over: Group) -> float:
        """What one chip sends, of `moved`: the pieces of the others, its own being where it belongs."""
        return (over.chips - 1.0) / over.chips

    def slope(self, over: Group, form: Form) -> float:
        """Time for each byte of `moved` [s/B]."""
        return max(level.gather(form) for level in over.levels)

    def steps(self, over: Group) -> float:
        """Hops or rounds, of the level that has most."""
        return max(level.steps for level in over.levels)

    def latency(self, over: Group) -> float:
        """Time of the steps [s]."""
        return max(level.latency for level in over.levels)

    def counted(self, chips: float) -> float:
        """S of nccl-tests, of `moved`."""
        return 1.0

    def bus(self, chips: float) -> float:
        """busbw over algbw, by nccl-tests."""
        return (chips - 1.0) / chips

    @property
    def factors(self) -> tuple[str, ...]:
        return ()

    @property
    def batch_dim(self) -> None:
        """None: bytes are of whatever is exchanged."""

    @property
    def arithmetic(self) -> str:
        """None: the wires add, if anything does."""
        return ""

    def demand(self) -> Demand:
        """Nothing on the chip itself: HBM traffic of collectives is not counted."""
        return Demand(())

    def resolved(self) -> Collective:
        """The same; a collective has no formats to fill."""
        return self

    def formulas(self) -> Formulas:
        return Formulas(flops="0", elements={}, source=SOURCE)


SOURCE = "How to Scale Your Model, Sharded Matrices and How to Think About GPUs: costs of collectives"

collective: Registry[Collective] = Registry("collective")


def cost_of(asked: Collective, mesh: Mesh, form: Form = "exact", link: Real = ONE, pointer: str = "/axes") -> Cost:
    """What `asked` takes on `mesh`; `link` multiplies the bandwidth of every link, `pointer` is where its axes are named.

    Raises `InvalidInput`: unknown-axis, axis-repeated, and out-of-range where it cannot run on so many axes.
    """
    axes = mesh.select(asked.axes, pointer)
    if asked.most_axes is not None and len(axes) > asked.most_axes:
        raise refuse(pointer, "out-of-range", f"A {asked.kind} runs along one axis.")
    over = group(axes)
    moved = asked.moved(over.chips)
    alone = not over.levels
    bandwidth_s = moved * (0.0 if alone else asked.slope(over, form)) / link
    latency_s = column(0.0 if alone else asked.latency(over))
    return Cost(
        kind=asked.kind,
        axes=asked.axes,
        chips=over.chips,
        volume=asked.bytes,
        wire_bytes=moved * (0.0 if alone else asked.sent(over)),
        steps=0.0 if alone else asked.steps(over),
        bandwidth_s=bandwidth_s,
        latency_s=latency_s,
        time=np.maximum(bandwidth_s, latency_s),
        payload=moved * asked.counted(over.chips),
        bus=asked.bus(over.chips),
    )
