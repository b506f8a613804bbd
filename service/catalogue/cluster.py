"""A system of the catalogue: chips of one kind wired together."""

from __future__ import annotations

from typing import Any

from .cluster_file import ClusterFile
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
        """The system in a list of systems."""
        return {
            "id": self.id,
            "ref": self.ref,
            "digest": self.digest,
            "name": self.name,
            "chip": self.chip,
            "chips": self.chips,
            "axes": [{"name": axis.name, "topology": axis.topology} for axis in self.file.axes],
            "confidence": self.confidence,
        }
