"""From the target of a question to a machine: a chip of the catalogue, one in place, or a catalogue chip with numbers replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from ..catalogue import Calibration, Calibrations, Catalogue, Chip
from ..catalogue.calibration import of_chip as calibrations_of
from ..catalogue.quantity import Quantity
from ..catalogue.silicon import Die, die
from ..engine.arrays import column
from ..engine.kernels.silicon import Silicon
from ..engine.machine import Machine, Placement
from ..schemas.mesh import MeshModel
from ..schemas.target import ChipModel, TargetModel
from . import meshes
from .canonical import digest
from .meshes import Wired

Numbers = Mapping[str, Any]
IN_PLACE = "given in the request"
ONE_CORE = 1
"""Cores of a chip in place that states none."""


@dataclass(frozen=True)
class Target:
    """The hardware of a question as understood."""

    machine: Machine
    document: Mapping[str, Any]
    """the target with the chip pinned to its revision"""
    numbers: Numbers
    """what is known of the chip, in SI, where it is written in place as well"""
    digest: str
    """of the numbers that the engine may use, and of the calibrations, pinned"""
    chip: Chip | None
    """the catalogue entry, where the chip is one"""
    assumed: tuple[Mapping[str, Any], ...] = field(default=())
    wired: Wired = Wired()
    """the mesh that the chips form, and what must be said of it"""
    linked: Chip | None = None
    """the chip whose links the mesh may take"""
    calibrations: Calibrations = Calibrations()
    """what measured times say of it"""
    die: Die = Die({}, {})
    """what kernels see of the chip"""

    @property
    def is_like_measured(self) -> bool:
        """Whether kernels may be timed with what was measured: it was on chips that share the work among many cores."""
        is_by_itself = self.chip is None and "base" not in self.document["chip"]
        return not is_by_itself or self.numbers["cores"] > ONE_CORE

    @cached_property
    def silicon(self) -> Silicon | None:
        """What kernels see of the chip, as columns; None where its memory is unknown."""
        bandwidth = self.numbers.get("hbm", {}).get("bandwidth_bytes_per_s")
        return None if bandwidth is None else Silicon.of(self.die.numbers, bandwidth)

    @property
    def l2_bytes(self) -> int | None:
        """Capacity of the cache between HBM and the cores, where it is known [B]."""
        return self._capacity("l2")

    @property
    def hbm_bytes(self) -> int | None:
        """Capacity of HBM, where it is known [B]."""
        return self._capacity("hbm")

    def _capacity(self, memory: str) -> int | None:
        capacity = self.numbers.get(memory, {}).get("capacity_bytes")
        return None if capacity is None else int(capacity)

    @property
    def source(self) -> str:
        """Where the numbers are from, in words."""
        return f"catalogue {self.chip.ref}" if self.chip is not None else IN_PLACE

    def source_of_peak(self, placed: Placement) -> str:
        """The works behind the peak at which an op runs."""
        if self.chip is None:
            return IN_PLACE
        peaks = self.chip.file.compute if placed.unit == "matrix" else self.chip.file.vector
        return self._cited(peaks[placed.dtype])

    @property
    def source_of_bandwidth(self) -> str:
        """The works behind the HBM bandwidth."""
        return IN_PLACE if self.chip is None else self._cited(self.chip.file.hbm.bandwidth)

    def meshed(self, asked: MeshModel | None, chip: Chip | None, catalogue: Catalogue, pointer: str = "/target") -> Target:
        """The target with the mesh that is asked for, if any; `chip` is the one whose links it may take."""
        if asked is None:
            return self
        wired = meshes.resolve(asked, chip, catalogue, f"{pointer}/mesh")
        return replace(
            self,
            document={**self.document, "mesh": wired.document},
            digest=digest({"chip": self.digest, "mesh": _plain(wired.document)}),
            assumed=(*self.assumed, *wired.assumed),
            wired=wired,
            linked=chip,
        )

    def _cited(self, value: Quantity) -> str:
        assert self.chip is not None
        titles = "; ".join(f"{self.chip.sources[key].title} ({self.chip.sources[key].publisher})" for key in value.source)
        return f"{self.source}: {titles}"


def resolve(asked: TargetModel, catalogue: Catalogue, pointer: str = "/target") -> Target:
    """The target as understood; `pointer` is where it stands.

    Raises `InvalidInput`: unknown-chip, unknown-revision, and as `meshes.resolve` does.
    """
    if isinstance(asked.chip, str):
        chip = catalogue.chip(asked.chip, f"{pointer}/chip")
        target = of_chip(chip, catalogue, None if asked.chip == chip.ref else f"{pointer}/chip")
        return target.meshed(asked.mesh, chip, catalogue, pointer)
    base = None if asked.chip.base is None else catalogue.chip(asked.chip.base, f"{pointer}/chip/base")
    return _in_place(asked.chip, base, catalogue, pointer).meshed(asked.mesh, base, catalogue, pointer)


def of_chip(chip: Chip, catalogue: Catalogue, named_at: str | None = None) -> Target:
    """A chip of the catalogue as a target; `named_at` is where it was named without its revision."""
    return _of_chip(chip, _measured(chip, catalogue), catalogue.lenders, catalogue.calibrations, named_at)


@lru_cache(maxsize=1024)
def _of_chip(chip: Chip, measured: Chip, lenders: tuple[Chip, ...], known: tuple[Calibration, ...], named_at: str | None) -> Target:
    """Remembered by what it depends on, which no change of users' own hardware makes anew."""
    numbers, seen = chip.numbers(), die(chip, lenders)
    calibrations = _calibrated(calibrations_of(chip, known), numbers, measured)
    return Target(
        machine=_machine(numbers, is_partial=False),
        document={"chip": chip.ref},
        numbers=numbers,
        digest=_digest(numbers, calibrations, seen),
        chip=chip,
        assumed=() if named_at is None else ({"pointer": named_at, "value": chip.ref},),
        calibrations=calibrations,
        die=seen,
    )


def _in_place(asked: ChipModel, base: Chip | None, catalogue: Catalogue, pointer: str) -> Target:
    given = asked.model_dump(exclude_none=True)
    assumed: list[Mapping[str, Any]] = []
    if base is None and "cores" not in given:
        given["cores"] = ONE_CORE
        assumed.append({"pointer": f"{pointer}/chip/cores", "value": ONE_CORE})
    numbers = given
    if base is not None:
        given["base"] = base.ref
        if base.ref != asked.base:
            assumed.append({"pointer": f"{pointer}/chip/base", "value": base.ref})
        numbers = _merged(dict(base.numbers()), {name: value for name, value in given.items() if name != "base"})
    seen = _seen(numbers, base, catalogue)
    calibrations = catalogue.calibrations_of(base)
    if base is not None:
        calibrations = _calibrated(calibrations, numbers, _measured(base, catalogue))
    return Target(
        machine=_machine(numbers, is_partial=True),
        document={"chip": given},
        numbers=numbers,
        digest=_digest(numbers, calibrations, seen),
        chip=None,
        assumed=tuple(assumed),
        calibrations=calibrations,
        die=seen,
    )


def _measured(chip: Chip, catalogue: Catalogue) -> Chip:
    """The shipped chip at the root of the copies of which `chip` is one."""
    return chip if chip.measured_as == chip.id else catalogue.chip(chip.measured_as, "/target/chip")


def _calibrated(known: Calibrations, numbers: Numbers, measured: Chip) -> Calibrations:
    """What is known of a chip with these numbers where times were measured on `measured`: of that one nothing, if they differ."""
    return known if _plain(numbers) == _plain(measured.numbers()) else known.lent


def _seen(numbers: Numbers, base: Chip | None, catalogue: Catalogue) -> Die:
    """What kernels see of a chip with these numbers; what they do not say is as on its base."""
    of_base = Die({"accumulator_bytes": 0.0}, {}) if base is None else die(base, catalogue.lenders)
    stated = {
        "cores": numbers.get("cores"),
        "tile_bytes": numbers.get("on_chip_bytes_per_core"),
        "cache_bytes": numbers.get("l2", {}).get("capacity_bytes"),
    }
    known = {name: float(value) for name, value in stated.items() if value is not None}
    return Die({**of_base.numbers, **known}, {name: chip for name, chip in of_base.borrowed.items() if name not in known})


def _merged(base: dict[str, Any], changes: Numbers) -> dict[str, Any]:
    """`base` with the numbers of `changes` in their place, member by member."""
    return base | {name: {**base.get(name, {}), **value} if isinstance(value, Mapping) else value for name, value in changes.items()}


def _machine(numbers: Numbers, *, is_partial: bool) -> Machine:
    bandwidth = numbers.get("hbm", {}).get("bandwidth_bytes_per_s")
    return Machine(
        matrix_peaks={name: column(peak) for name, peak in numbers.get("peak_flops_per_s", {}).items()},
        vector_peaks={name: column(peak) for name, peak in numbers.get("vector_peak_flops_per_s", {}).items()},
        hbm_bandwidth=None if bandwidth is None else column(bandwidth),
        is_partial=is_partial,
    )


def _digest(numbers: Numbers, calibrations: Calibrations, seen: Die) -> str:
    """Equal numbers have equal digests where they are calibrated alike, whether they are written as 1 or as 1.0."""
    return digest({"chip": _plain(numbers), "die": _plain(seen.numbers), "calibrations": calibrations.refs})


def _plain(value: Any) -> Any:
    """`value` with every number that is whole and fits 64 bits as a whole number."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, str | bool):
        return value
    return int(value) if value == int(value) and value < 2**63 else value
