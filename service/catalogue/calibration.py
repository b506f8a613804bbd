"""The calibrations that speak of a chip: its own, its architecture's, and the one that takes whatever has none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..engine.pace import Band, Pace
from .calibration_file import CalibrationFile, Factors, KindOfCollective
from .chip import Chip
from .record import Record

Basis = Literal["chip", "architecture", "generic"]
"""What the parameters of an estimate were fitted on; generic ones are published by no maker of the chip in particular."""


class Fitted(NamedTuple):
    """The parameters of one kind of collective, on one fabric."""

    pace: Pace
    band: Band
    largest: int | None
    """chips of the largest group that was measured; None where their number does not matter"""
    topology: str | None
    """of the axis that was measured; None where it does not matter"""


@dataclass(frozen=True, eq=False)
class Calibration(Record[CalibrationFile]):
    """One revision of one calibration."""

    def is_of(self, chip: Chip | None) -> Basis | None:
        """How it speaks of `chip`; None where it speaks of others."""
        if self.file.chip is not None:
            return "chip" if chip is not None and self.file.chip == chip.measured_as else None
        if self.file.architectures:
            return "architecture" if chip is not None and chip.architecture in self.file.architectures else None
        return "generic"

    def collective(self, kind: str) -> Fitted | None:
        """The parameters for `kind`, inside a domain, or those for any; None where it has neither."""
        return self._stated(kind) or self._stated("any")

    def across(self) -> Fitted | None:
        """The parameters for collectives that leave a domain; None where it has none."""
        return self._stated("across")

    def _stated(self, name: str) -> Fitted | None:
        section = self.file.collectives
        found = None if section is None else dict(section.kinds).get(name)  # type: ignore[call-overload]
        return None if section is None or found is None else _fitted(found, section.topology)


def _fitted(stated: KindOfCollective, topology: str | None) -> Fitted:
    band = Band(p10=_floats(stated.band.p10), p90=_floats(stated.band.p90))
    return Fitted(Pace(**stated.parameters.si), band, None if stated.ranks is None else stated.ranks[1], topology)


def _floats(factors: Factors) -> tuple[float, float, float]:
    low, middle, high = factors
    return float(low), float(middle), float(high)


@dataclass(frozen=True)
class Calibrations:
    """What there is for one chip, the nearest first: chip, architecture, generic."""

    nearest: tuple[tuple[Basis, Calibration], ...] = ()

    @property
    def refs(self) -> list[str]:
        """The ids with their revisions."""
        return [calibration.ref for _, calibration in self.nearest]

    @property
    def lent(self) -> Calibrations:
        """The same for a chip with other numbers than the one that was measured, which is then but one of its architecture."""
        return Calibrations(tuple([("architecture" if basis == "chip" else basis, each) for basis, each in self.nearest]))


def of_chip(chip: Chip | None, known: Iterable[Calibration]) -> Calibrations:
    """Those of `known` that speak of `chip`; None is a chip that the catalogue does not have."""
    speaking = [(basis, each) for each in known if (basis := each.is_of(chip)) is not None]
    order: tuple[Basis, ...] = ("chip", "architecture", "generic")
    return Calibrations(tuple(sorted(speaking, key=lambda found: order.index(found[0]))))
