"""What kernels see of a chip."""

from __future__ import annotations

import pytest

from service.catalogue import load
from service.catalogue.silicon import Die, die

CATALOGUE = load()


def of(name: str) -> Die:
    return die(CATALOGUE.chip(name), CATALOGUE.chips)


def test_a_chip_states_what_its_kernels_see() -> None:
    """H100 SXM: 132 SMs at 1.83 GHz under matrix load, 50 MiB of L2, 228 of 256 KiB for a tile, sums in the registers."""
    found = of("nvidia-h100-sxm")
    assert dict(found.numbers) == {
        "cores": 132.0,
        "clock": 1.83e9,
        "cache_bytes": 50 * 2.0**20,
        "tile_bytes": 228 * 1024.0,
        "accumulator_bytes": 256 * 1024.0,
    }
    assert not found.borrowed


@pytest.mark.parametrize(
    ("chip", "lender", "lent"), [("nvidia-b100", "nvidia-b200", "cores"), ("nvidia-b300", "nvidia-gb300", "cache_bytes")]
)
def test_what_a_chip_lacks_comes_from_one_of_its_die_and_the_loan_is_named(chip: str, lender: str, lent: str) -> None:
    found = of(chip)
    assert found.borrowed[lent] == lender
    assert found.numbers[lent] == of(lender).numbers[lent]


def test_nothing_is_borrowed_across_dies() -> None:
    """Gaudi 2 has no cache of the kind that Gaudi 3 has."""
    assert "cache_bytes" not in of("intel-gaudi2").numbers
    assert not of("intel-gaudi2").borrowed


def test_the_sums_of_a_systolic_array_share_its_store_unless_it_has_another() -> None:
    assert of("google-tpu-v5e").numbers["accumulator_bytes"] == 0.0
    assert of("google-tpu-v5e").numbers["array"] == 128.0
    assert of("aws-trainium2").numbers["accumulator_bytes"] == 2 * 2.0**20


def test_the_small_arrays_of_a_processor_are_no_systolic_array() -> None:
    assert "array" not in of("intel-xeon-8480plus").numbers
