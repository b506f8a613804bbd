"""A system of the catalogue: chips of one kind wired together."""

from __future__ import annotations

from typing import Any

from .cluster_file import Axis, ClusterFile
from .document import members
from .quantity import Sourced
from .record import Record


class Cluster(Record[ClusterFile]):
    """One revision of one system."""

    @property
    def chip(self) -> str:
        """Id of the chip it is made of."""
        return self.file.chip

    @property
    def chips(self) -> int:
        """How many of them."""
        return int(self.file.chips.si)

    def summary(self) -> dict[str, Any]:
        """The system in a list of systems: what it is, and the numbers of its axes in SI, innermost first."""
        return {
            "id": self.id,
            "ref": self.ref,
            "digest": self.digest,
            "origin": self.origin,
            "name": self.name,
            "chip": self.chip,
            "chips": self.chips,
            "axes": [_numbers(axis) for axis in self.file.axes],
            "confidence": self.confidence,
        }


def _numbers(axis: Axis) -> dict[str, Any]:
    """An axis as plain values, named as in the document of the system; what is unknown is absent."""
    return {name: value.si if isinstance(value, Sourced) else value for name, value in members(axis)}
