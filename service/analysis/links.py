"""What the catalogue knows of the axes of a mesh: the links of a chip, or the levels of a system.

A chip's scale-up link is `gpu`, or `x y z` on a torus; `node` is its scale-out. On a torus an axis closes into a ring only at some
sizes, which depend on the generation; at others it is a line.
Source: How to Scale Your Model, "How to Think About TPUs" (wraparound); the works that the catalogue cites for each chip.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..catalogue import Chip, Cluster
from ..catalogue.chip_file import ScaleUp
from ..catalogue.quantity import Quantity
from ..engine.mesh import TOPOLOGIES
from ..errors import Fault, near

NODE = "node"
"""The name of the scale-out, which lies outside all other axes."""

SCALE_UP = {"torus2d": ("x", "y"), "torus3d": ("x", "y", "z"), "ring": ("gpu", "x")}
"""Names of the scale-up axes by topology; any other has one, `gpu`. A single ring answers to two names."""


IN_PLACE = "Give the axis in place, with topology and bandwidth_bytes_per_s."


@dataclass(frozen=True)
class Link:
    """An axis as the catalogue has it, whatever its size. Unknown is None."""

    topology: str
    """as the engine names them, or `mesh` for an irregular graph"""
    bandwidth: float | None
    """as the topology counts it, one way [B/s]"""
    latency: float | None
    """[s]"""
    can_reduce: bool = False
    """whether the switch can add what the chips send"""
    most: int | None = None
    """chips along the axis"""


@dataclass(frozen=True)
class Wanted:
    """An axis that a question takes from the catalogue, and where it says so."""

    name: str
    size: int
    name_at: str
    size_at: str
    place: str | None = None
    """where its other members would be given; None where it is taken by its name alone"""

    def member_at(self, name: str) -> str:
        return self.name_at if self.place is None else f"{self.place}/{name}"


@dataclass(frozen=True)
class Links:
    """The axes that a chip or a system offers, innermost first."""

    of: str
    """id of the chip or the system, pinned"""
    by_name: Mapping[str, Link]
    most: int | None
    """chips on all axes inside `node` together"""
    ring_at: int | None = None
    """size at which an axis of the torus closes"""
    ring_at_multiples_of: int | None = None
    """what every axis of the slice must be a multiple of for all to close"""

    @property
    def torus(self) -> tuple[str, ...]:
        return tuple(name for name, link in self.by_name.items() if link.topology == "ring")

    def wraps(self, name: str, sizes: Mapping[str, int]) -> bool:
        """Whether the axis closes into a ring in a slice of these sizes; an axis that is not among them has one chip."""
        if self.ring_at is not None:
            return sizes[name] == self.ring_at
        if self.ring_at_multiples_of is not None:
            return all(sizes.get(each, 1) % self.ring_at_multiples_of == 0 for each in self.torus)
        return True

    @property
    def closes(self) -> str:
        """When an axis closes, in words."""
        if self.ring_at is not None:
            return f"only an axis of {self.ring_at} chips closes into a ring"
        return f"axes close into rings only where each of {', '.join(self.torus)} is a multiple of {self.ring_at_multiples_of}"

    def faults(self, wanted: Sequence[Wanted]) -> Iterator[Fault]:
        """Why axes cannot be had: unknown-axis, missing where no rate is known, out-of-range beyond the axis or the domain."""
        for each in wanted:
            link = self.by_name.get(each.name)
            if link is None:
                yield Fault(each.name_at, "unknown-axis", self._unknown, near(each.name, self.by_name) or tuple(self.by_name))
            elif link.topology not in TOPOLOGIES:
                yield Fault(each.member_at("topology"), "missing", f"These links are an irregular graph, which has no one rate. {IN_PLACE}")
            elif link.bandwidth is None:
                yield Fault(each.member_at("bandwidth_bytes_per_s"), "missing", f"No source gives the bandwidth of this link. {IN_PLACE}")
            elif link.most is not None and each.size > link.most:
                yield Fault(each.size_at, "out-of-range", f"At most {link.most} chips of {self.of} stand along this axis.")

    def overfull(self, wanted: Sequence[Wanted]) -> Iterator[Fault]:
        """Whether axes that may stand each alone have more chips together than a domain, at the last of them."""
        inner = [each for each in wanted if each.name != NODE]
        if self.most is not None and math.prod(each.size for each in inner) > self.most:
            detail = f"With this axis there are more than the {self.most} chips of a domain of {self.of}."
            yield Fault(inner[-1].size_at, "out-of-range", detail)

    @property
    def _unknown(self) -> str:
        if not self.by_name:
            return f"No link of {self.of} is known. {IN_PLACE}"
        return f"{self.of} has no such axis; it has {', '.join(self.by_name)}. {IN_PLACE}"


def of_chip(chip: Chip) -> Links:
    """The links of a chip."""
    up, out = chip.file.scale_up, chip.file.scale_out
    links: dict[str, Link] = {}
    if up is not None:
        links |= dict.fromkeys(SCALE_UP.get(up.topology, ("gpu",)), _scale_up(up))
    if out is not None:
        links[NODE] = Link("switch", _si(out.bandwidth_per_chip_per_direction), None)
    return _closing(chip, chip.ref, links, None if up is None else _count(up.max_domain))


def of_system(system: Cluster, chip: Chip) -> Links:
    """The axes of a system that is made of `chip`."""
    links = {
        axis.name: Link(
            axis.topology,
            _si(axis.bandwidth_per_direction),
            _si(axis.latency),
            axis.in_network_reduction is not None and axis.in_network_reduction.value,
            _count(axis.size),
        )
        for axis in system.file.axes
    }
    return _closing(chip, system.ref, links, system.chips)


def _closing(chip: Chip, of: str, links: Mapping[str, Link], most: int | None) -> Links:
    up = chip.file.scale_up
    if up is None:
        return Links(of, links, most)
    return Links(of, links, most, _count(up.wraps_at), _count(up.wraps_at_multiples_of))


def _scale_up(up: ScaleUp) -> Link:
    """One axis of the scale-up; where an axis closes at one size, that is the whole axis."""
    domain, per_chip = _count(up.max_domain), _si(up.bandwidth_per_chip_per_direction)
    reduces = up.in_network_reduction is not None and up.in_network_reduction.value
    latency = _si(up.hop_latency)
    if up.topology in SCALE_UP:
        return Link("ring", _si(up.bandwidth_per_link_per_direction), latency, most=_count(up.wraps_at))
    if up.topology == "fully_connected":
        pair = None if per_chip is None or domain is None else per_chip / (domain - 1)
        return Link("fully_connected", pair, latency, most=domain)
    return Link(up.topology, per_chip, latency, reduces, domain)


def _si(value: Quantity | None) -> float | None:
    return None if value is None else float(value.si)


def _count(value: Quantity | None) -> int | None:
    return None if value is None else int(value.si)
