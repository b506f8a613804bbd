"""The mesh: the axes along which chips are wired, innermost first.

    ring             a link to each of two neighbours, closed; bandwidth is that of one link, so an axis gives twice that
    line             the same without the link that closes it
    switch           any chip reaches any other; bandwidth is the egress of one chip
    fully_connected  a link to every other chip; bandwidth is that of one pair

Axes are choices of a question and not columns: their numbers are plain. An axis of one chip costs nothing and vanishes.
Source: How to Scale Your Model, "How to Think About TPUs" (rings and lines), "How to Think About GPUs" (switched levels).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import Fault, InvalidInput, near

Topology = Literal["ring", "line", "switch", "fully_connected"]
TOPOLOGIES: tuple[Topology, ...] = get_args(Topology)


@dataclass(frozen=True)
class Axis:
    """One axis of a mesh; bandwidth is one way."""

    name: str
    size: int
    topology: Topology
    bandwidth: float
    """of one link, one chip or one pair, as the topology says [B/s]"""
    latency: float = 0.0
    """of one hop or step [s]"""
    in_network_reduction: bool = False
    """the switch adds what the chips send"""

    @property
    def is_torus(self) -> bool:
        """Whether neighbours pass on what goes further."""
        return self.topology in ("ring", "line")


@dataclass(frozen=True)
class Mesh:
    """Axes, innermost first; without any it is one chip."""

    axes: tuple[Axis, ...] = ()

    @property
    def devices(self) -> float:
        """Chips on all axes together.

        >>> Mesh((Axis("x", 4, "ring", 4.5e10), Axis("y", 2, "line", 4.5e10))).devices
        8.0
        """
        return chips(self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple([axis.name for axis in self.axes])

    def size(self, name: str) -> int:
        """Chips along the axis called `name`, which exists."""
        return next(axis.size for axis in self.axes if axis.name == name)

    def select(self, names: Sequence[str], pointer: str = "/axes") -> tuple[Axis, ...]:
        """The axes called `names`, innermost first, those of one chip left out; `pointer` is where the list of names stands.

        Raises `InvalidInput`: unknown-axis with the names that resemble it, axis-repeated.
        """
        faults = self._faults(names, pointer)
        if faults:
            raise InvalidInput(faults)
        return tuple([axis for axis in self.axes if axis.size > 1 and axis.name in names])

    def _faults(self, names: Sequence[str], pointer: str) -> list[Fault]:
        found = []
        for at, name in enumerate(names):
            if name not in self.names:
                found.append(Fault(f"{pointer}/{at}", "unknown-axis", self._unknown, near(name, self.names) or self.names))
            elif name in names[:at]:
                found.append(Fault(f"{pointer}/{at}", "axis-repeated", "The axis is named twice in this list."))
        return found

    @property
    def _unknown(self) -> str:
        return "The mesh has no axis of this name." if self.axes else "The target has no mesh, so there is no axis; state target.mesh."


def chips(axes: Sequence[Axis]) -> float:
    """How many chips `axes` span together."""
    return float(math.prod([axis.size for axis in axes]))
