"""A system as its file states it: `clusters/<id>.toml`, chips of one kind wired together, level by level."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .entry import Entry
from .quantity import ByteRate, Claim, Count, Notes, Section, Slug, Text, Time


class Axis(Section):
    """One level of the wiring, innermost first. `size` is how many chips (or domains) it joins at most.

    `ring`: one link to each of two neighbours, `bandwidth_per_direction` is that of one link.
    `switch`: any chip reaches any other, it is what one chip sends. `fully_connected`: it is that of one pair.
    `mesh`: an irregular graph, which no single rate describes.
    """

    name: Annotated[str, Field(pattern=r"^[a-z]+$", max_length=100)]
    topology: Literal["ring", "switch", "fully_connected", "mesh"]
    network: Text
    size: Count | None = None
    bandwidth_per_direction: ByteRate | None = None
    latency: Time | None = None
    in_network_reduction: Claim | None = None
    note: Text | None = None


class Measured(Section):
    """A rate that somebody measured on the system."""

    name: Text
    bandwidth: ByteRate


class ClusterFile(Entry):
    """A system. Rates per chip are sums over its links, one way; `aggregate_bandwidth` counts both ways, as vendors print it."""

    chip: Slug
    chips: Count
    notes: Notes = ()
    links_per_chip: Count | None = None
    bandwidth_per_chip_per_direction: ByteRate | None = None
    aggregate_bandwidth: ByteRate | None = None
    nics_per_node: Count | None = None
    axes: Annotated[tuple[Axis, ...], Field(min_length=1, max_length=16)]
    measured: Annotated[tuple[Measured, ...], Field(max_length=100)] = ()
