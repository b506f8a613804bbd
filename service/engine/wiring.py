"""The wiring that a group of chips uses in a collective: which levels its axes form, and what a byte costs on each.

    torus     rings and lines together, the innermost level: they carry pieces side by side and add their bandwidth
    switched  a switch, or a full connection, around what lies inside: each level has the egress of all chips inside a child

V is the bytes of the array that the group sees, N the chips of the group, D the children that a level joins, M how many such
children the whole group has, W what one child sends per second. On a switched level W is the egress of a chip times the chips
of the group inside a child; chips that take no part lend nothing. On a full connection a chip sends on D−1 links of w each.
Source: How to Scale Your Model, "Sharded Matrices" (rings and lines), "How to Think About GPUs" (levels: the slowest decides).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from .mesh import Axis, chips

Form = Literal["exact", "asymptotic"]
"""With the factors (N−1)/N of the group's size, or without, as for a large group."""


class Level(Protocol):
    """One level of the wiring. What a byte of V costs is in s/B; multiplied by V it is the time that the level needs."""

    @property
    def reduces(self) -> bool:
        """Whether the network itself adds what is sent."""
        ...

    @property
    def steps(self) -> float:
        """Hops, or rounds, of a gather."""
        ...

    @property
    def latency(self) -> float:
        """Time of these steps when next to nothing is sent [s]."""
        ...

    @property
    def stream(self) -> float:
        """All of V through each child's links: 1/W [s/B]."""
        ...

    def gather(self, form: Form) -> float:
        """Every chip receives the pieces of all others: (D−1)/(D·W) [s/B]."""
        ...

    def exchange(self, form: Form) -> float:
        """Every chip has a piece for every other [s/B]."""
        ...


@dataclass(frozen=True)
class Torus:
    """Rings and lines together; `group` is the chips of the whole group."""

    axes: tuple[Axis, ...]
    group: float
    reduces = False

    @property
    def steps(self) -> float:
        return float(sum(map(_hops, self.axes)))

    @property
    def latency(self) -> float:
        return sum(_hops(axis) * axis.latency for axis in self.axes)

    @property
    def stream(self) -> float:
        return 1.0 / sum(map(width, self.axes))

    def gather(self, form: Form) -> float:
        return _share(chips(self.axes), form) * self.stream

    def exchange(self, form: Form) -> float:
        """The middle of the longest axis carries a quarter of what crosses it: max X/(4·N·w'), w' both ways on a ring.

        Source: How to Scale Your Model, "Sharded Matrices", AllToAll. It is met by even rings; an odd one of X needs 1 − 1/X² of it.
        """
        return max(axis.size / width(axis) for axis in self.axes) / (4.0 * self.group)


@dataclass(frozen=True)
class Switched:
    """One switched or fully connected axis around `inside` chips of the group per child."""

    axis: Axis
    inside: float
    group: float

    @property
    def reduces(self) -> bool:
        return self.axis.in_network_reduction

    @property
    def steps(self) -> float:
        return 1.0 if self.axis.topology == "fully_connected" else self.axis.size - 1.0

    @property
    def latency(self) -> float:
        return self.steps * self.axis.latency

    @property
    def stream(self) -> float:
        return 1.0 / (width(self.axis) * self.inside)

    def gather(self, form: Form) -> float:
        return _share(self.axis.size, form) * self.stream

    def exchange(self, form: Form) -> float:
        """A child holds V/M and sends all of it but the part of itself: (M−1)/(M²·W)."""
        children = self.group / self.inside
        return _share(children, form) * self.stream / children


@dataclass(frozen=True)
class Group:
    """The chips of a collective."""

    chips: float
    axes: tuple[Axis, ...]
    levels: tuple[Level, ...]


def group(axes: Sequence[Axis]) -> Group:
    """The group that spans `axes`, each of more than one chip, innermost first."""
    total = chips(axes)
    torus = tuple([axis for axis in axes if axis.is_torus])
    levels: list[Level] = [Torus(torus, total)] if torus else []
    inside = chips(torus)
    for axis in axes:
        if not axis.is_torus:
            levels.append(Switched(axis, inside, total))
            inside *= axis.size
    return Group(total, tuple(axes), tuple(levels))


def width(axis: Axis) -> float:
    """What one chip sends along an axis, all its links on it together [B/s]."""
    links = {"ring": 2.0, "line": 1.0, "switch": 1.0, "fully_connected": axis.size - 1.0}
    return links[axis.topology] * axis.bandwidth


def _hops(axis: Axis) -> int:
    """To the farthest chip: half way round a ring, the length of a line."""
    return axis.size // 2 if axis.topology == "ring" else axis.size - 1


def _share(parts: float, form: Form) -> float:
    """Of `parts` equal pieces all but one's own."""
    return 1.0 if form == "asymptotic" else (parts - 1.0) / parts
