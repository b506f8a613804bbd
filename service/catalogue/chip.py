"""A chip of the catalogue: its numbers, its ridge points, and where each number comes from."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from .chip_file import ChipFile, Level
from .fields import ChipNumbers, HbmNumbers, L2Numbers
from .record import Record


class Chip(Record[ChipFile]):
    """One revision of one chip."""

    @property
    def vendor(self) -> str:
        return self.file.vendor

    @property
    def kind(self) -> str:
        return self.file.kind

    @property
    def architecture(self) -> str:
        return self.file.architecture

    @property
    def launch_year(self) -> int:
        return self.file.launch_year

    @property
    def measured_as(self) -> str:
        """Id under which measured times speak of it: its own, or that of the shipped chip that it is a copy of."""
        return (self.own and self.own.measured_as) or self.id

    def numbers(self) -> ChipNumbers:
        """What an engine needs to know, in SI; a fresh dictionary each time, without what is unknown."""
        fresh: ChipNumbers = {**self._numbers}
        if "peak_flops_per_s" in fresh:
            fresh["peak_flops_per_s"] = {**fresh["peak_flops_per_s"]}
        if "vector_peak_flops_per_s" in fresh:
            fresh["vector_peak_flops_per_s"] = {**fresh["vector_peak_flops_per_s"]}
        if "l2" in fresh:
            fresh["l2"] = {**fresh["l2"]}
        fresh["hbm"] = {**fresh["hbm"]}
        return fresh

    @cached_property
    def _numbers(self) -> ChipNumbers:
        file = self.file
        numbers: ChipNumbers = {}
        if file.compute:
            numbers["peak_flops_per_s"] = {name: peak.si for name, peak in file.compute.items()}
        if file.vector:
            numbers["vector_peak_flops_per_s"] = {name: peak.si for name, peak in file.vector.items()}
        numbers["hbm"] = HbmNumbers(bandwidth_bytes_per_s=file.hbm.bandwidth.si)
        if file.hbm.capacity is not None:
            numbers["hbm"]["capacity_bytes"] = file.hbm.capacity.si
        if file.cores.count is not None:
            numbers["cores"] = int(file.cores.count.si)
        tile = self._level("tile")
        if tile is not None and (room := tile.usable or tile.capacity) is not None:
            numbers["on_chip_bytes_per_core"] = room.si
        if l2 := _l2(self._level("l2")):
            numbers["l2"] = l2
        return numbers

    def _level(self, role: str) -> Level | None:
        return next((level for level in self.file.on_chip if level.role == role), None)

    @property
    def core_bandwidth(self) -> float | None:
        """Of the store beside one core [B/s], where it is known."""
        tile = self._level("tile")
        return None if tile is None or tile.bandwidth is None else tile.bandwidth.si

    def ridge(self) -> dict[str, dict[str, float]]:
        """Arithmetic intensity [FLOP/B] above which each unit, in each class, is the limit and not the main memory."""
        bandwidth = self.file.hbm.bandwidth.si
        units = {"matrix": self.file.compute, "vector": self.file.vector}
        return {unit: {name: peak.si / bandwidth for name, peak in peaks.items()} for unit, peaks in units.items() if peaks}

    def summary(self) -> dict[str, Any]:
        """The chip in a list of chips: what it is, and the numbers of its roofline."""
        return {
            "id": self.id,
            "ref": self.ref,
            "digest": self.digest,
            "origin": self.origin,
            "name": self.name,
            "vendor": self.vendor,
            "kind": self.kind,
            "architecture": self.architecture,
            "launch_year": self.launch_year,
            "confidence": self.confidence,
            **self.numbers(),
            "ridge_flops_per_byte": self.ridge(),
        }

    def document(self) -> dict[str, Any]:
        """All that is known of the chip, every value with its sources, then what follows from them."""
        return {
            **super().document(),
            "alternatives": [each.document() for each in self.file.alternatives],
            "ridge_flops_per_byte": self.ridge(),
            "numbers": self.numbers(),
        }


def _l2(level: Level | None) -> L2Numbers:
    numbers: L2Numbers = {}
    if level is not None and level.capacity is not None:
        numbers["capacity_bytes"] = level.capacity.si
    if level is not None and level.bandwidth is not None:
        numbers["bandwidth_bytes_per_s"] = level.bandwidth.si
    return numbers
