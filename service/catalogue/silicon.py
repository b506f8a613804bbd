"""What kernels see of a chip of the catalogue: cores, clock, last cache, room for a tile, in SI.

A number that a chip does not state is taken from a shipped chip of the same die, and the loan is named. What users add lends nothing:
whoever adds, changes or deletes a chip changes no answer for another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .chip import Chip

SUMS = frozenset({"TMEM", "PSUM", "register file"})
"""Stores beside a core that hold the sums of a tile, so that they take no room from its operands."""


@dataclass(frozen=True)
class Die:
    """Numbers by the names that the engine's `Silicon` has, and from which chip each borrowed one comes."""

    numbers: Mapping[str, float]
    borrowed: Mapping[str, str]


def die(chip: Chip, chips: Iterable[Chip]) -> Die:
    """The numbers of `chip`; what it lacks comes from its relatives among `chips`."""
    numbers, borrowed = dict(_stated(chip)), dict[str, str]()
    for relative in _relatives(chip, chips):
        for name, value in _stated(relative).items():
            if name not in numbers:
                numbers[name], borrowed[name] = value, relative.id
    return Die(MappingProxyType(numbers), MappingProxyType(borrowed))


def _stated(chip: Chip) -> Mapping[str, float]:
    file, known = chip.file, chip.numbers()
    array = _array(chip)
    sums = max((level.capacity.si for level in file.on_chip if level.name in SUMS and level.capacity), default=None)
    found: dict[str, float | None] = {
        "cores": known.get("cores"),
        "clock": _clock(chip),
        "cache_bytes": known.get("l2", {}).get("capacity_bytes"),
        "tile_bytes": known.get("on_chip_bytes_per_core"),
        "accumulator_bytes": 0.0 if array is not None and sums is None else sums,
        "array": array,
    }
    return {name: float(value) for name, value in found.items() if value is not None}


def _array(chip: Chip) -> int | None:
    """Edge of the systolic array. The small arrays in the cores of a processor are fed like vector registers and are not one."""
    unit = chip.file.matrix_unit
    return None if unit is None or unit.shape is None or chip.kind == "cpu" else unit.shape.value[0]


def _clock(chip: Chip) -> float | None:
    """Under matrix load where that is stated, else the boost clock, else the base clock [1/s]."""
    clock = chip.file.clock
    known = () if clock is None else (clock.matrix, clock.boost, clock.base)
    return next((each.si for each in known if each is not None), None)


def _relatives(chip: Chip, chips: Iterable[Chip]) -> list[Chip]:
    """Other chips of the same die, by id."""
    return sorted((each for each in chips if each.id != chip.id and _die_name(each) == _die_name(chip)), key=lambda each: each.id)


def _die_name(chip: Chip) -> str:
    """The architecture without the processor that is packaged beside it."""
    return chip.architecture.partition(" +")[0]
