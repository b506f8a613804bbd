"""The units in which data sheets print their numbers, and the one conversion to SI.

k, M, G, T and P are powers of ten, Ki, Mi and Gi of two. One multiply-add is two FLOP. A bit is an eighth of a byte.
Conversion is exact: the decimal number of the file times a decimal factor, then one rounding to the nearest float.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

LARGEST_EXACT = 2**53
"""Whole numbers up to here have an exact float, so they stay whole."""


class Dimension(Enum):
    """What a number measures: its SI unit, and the ending of its name in a document."""

    FLOP_RATE = ("FLOP/s", "_flops_per_s")
    FLOP_PER_CLOCK = ("FLOP/clk", "_flops_per_clock")
    BYTE_RATE = ("B/s", "_bytes_per_s")
    BYTES = ("B", "_bytes")
    BYTES_PER_CLOCK = ("B/clk", "_bytes_per_clock")
    TIME = ("s", "_s")
    FREQUENCY = ("Hz", "_hz")
    POWER = ("W", "_watts")
    COUNT = ("count", "")
    RATIO = ("ratio", "")

    def __init__(self, si_unit: str, suffix: str) -> None:
        self.si_unit = si_unit
        self.suffix = suffix


@dataclass(frozen=True)
class Unit:
    """A unit of `dimension`; `factor` of the SI unit make one of it."""

    dimension: Dimension
    factor: Decimal


def _units(dimension: Dimension, **factors: str) -> dict[str, Unit]:
    return {name: Unit(dimension, Decimal(factor)) for name, factor in factors.items()}


UNITS: dict[str, Unit] = {
    **_units(Dimension.FLOP_RATE, **{"FLOP/s": "1", "GFLOP/s": "1e9", "TFLOP/s": "1e12", "PFLOP/s": "1e15", "TOP/s": "1e12"}),
    **_units(Dimension.FLOP_PER_CLOCK, **{"FLOP/clk": "1"}),
    **_units(Dimension.BYTE_RATE, **{"B/s": "1", "GB/s": "1e9", "TB/s": "1e12", "PB/s": "1e15", "Gbit/s": "1.25e8"}),
    **_units(Dimension.BYTES, B="1", MB="1e6", GB="1e9", KiB="1024", MiB="1048576", GiB="1073741824"),
    **_units(Dimension.BYTES_PER_CLOCK, **{"B/clk": "1"}),
    **_units(Dimension.TIME, s="1", us="1e-6", ns="1e-9"),
    **_units(Dimension.FREQUENCY, MHz="1e6", GHz="1e9"),
    **_units(Dimension.POWER, W="1", kW="1e3"),
    **_units(Dimension.COUNT, count="1"),
    **_units(Dimension.RATIO, ratio="1"),
}


def units_of(dimension: Dimension) -> tuple[str, ...]:
    """The names of the units that measure `dimension`.

    >>> units_of(Dimension.BYTE_RATE)
    ('B/s', 'GB/s', 'TB/s', 'PB/s', 'Gbit/s')
    """
    return tuple(name for name, unit in UNITS.items() if unit.dimension is dimension)


def known_unit(name: str) -> str:
    """`name`, if it is a unit of this table; else `ValueError`."""
    if name not in UNITS:
        raise ValueError(f"this is no unit of the catalogue; it knows {', '.join(UNITS)}")
    return name


def to_si(value: int | Decimal, unit: str) -> int | float:
    """`value`, stated in `unit`, in SI; a whole number of at most 2^53 stays an int.

    >>> to_si(Decimal("989.4"), "TFLOP/s"), to_si(80, "GiB"), to_si(400, "Gbit/s"), to_si(1, "us")
    (989400000000000, 85899345920, 50000000000, 1e-06)
    """
    exact = Decimal(value) * UNITS[unit].factor
    whole = exact == exact.to_integral_value() and abs(exact) <= LARGEST_EXACT
    return int(exact) if whole else float(exact)
