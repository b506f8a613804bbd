"""A network adapter as its file states it: `nics/<id>.toml`, a class of adapter or what a cloud attaches to one node."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from .entry import Entry
from .quantity import ByteRate, Count, Text, Time


class NicFile(Entry):
    """`line_rate` is that of one adapter (`adapter`) or of a whole node (`node`), one way."""

    scope: Literal["adapter", "node"]
    notes: tuple[Text, ...] = ()
    line_rate: ByteRate
    chips_per_node: Count | None = None
    bandwidth_per_chip_per_direction: ByteRate | None = None
    latency: Time | None = None

    @model_validator(mode="after")
    def _node_has_chips(self) -> Self:
        shared = (self.chips_per_node, self.bandwidth_per_chip_per_direction)
        if (self.scope == "node") != all(shared) or any(shared) != all(shared):
            raise ValueError("a node, and only a node, states chips_per_node and bandwidth_per_chip_per_direction")
        return self
