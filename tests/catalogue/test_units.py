"""Conversion to SI is exact in decimal, and whole numbers stay whole."""

from __future__ import annotations

from decimal import Decimal

import pytest

from service.catalogue.units import UNITS, Dimension, known_unit, to_si, units_of


@pytest.mark.parametrize(
    ("value", "unit", "si"),
    [
        ("133.8", "TFLOP/s", 133_800_000_000_000),  # 133.8 * 1e12 in binary is 133800000000000.02
        ("13500", "TFLOP/s", 1.35e16),  # beyond 2^53
        ("3.35", "TB/s", 3_350_000_000_000),
        ("819", "GB/s", 819_000_000_000),
        ("400", "Gbit/s", 50_000_000_000),
        ("80", "GiB", 85_899_345_920),
        ("44", "GB", 44_000_000_000),
        ("126.5", "MiB", 132_644_864),
        ("228", "KiB", 233_472),
        ("1.83", "GHz", 1_830_000_000),
        ("0.6", "us", 6e-07),
        ("0.85", "ratio", 0.85),
        ("700", "W", 700),
    ],
)
def test_a_data_sheets_number_becomes_si(value: str, unit: str, si: float) -> None:
    converted = to_si(Decimal(value), unit)
    assert converted == si
    assert type(converted) is type(si)


def test_one_gigabyte_at_one_gigabyte_per_second_takes_one_second() -> None:
    """G is 10^9 on both sides; GenZ read GB/s as GiB/s and made every link 7 % faster."""
    assert to_si(1, "GB") / to_si(1, "GB/s") == 1


def test_every_dimension_has_units_and_every_unit_is_positive() -> None:
    assert all(units_of(dimension) for dimension in Dimension)
    assert all(unit.factor > 0 for unit in UNITS.values())


def test_an_unknown_unit_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="no unit of the catalogue; it knows FLOP/s, GFLOP/s, "):
        known_unit("GHZ")
