"""Dot product. Source: How To Scale Your Model, ch. 1, "Arithmetic intensity"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..asking import ask, bounds, exact, intensity
from ..chips import EVERYTHING, machine

CHIP = machine({"bf16": 1.97e14}, 8.2e11, vector={"fp32": 6.1e12})


@given(n=st.integers(1, 200))
def test_operations_are_those_of_the_loop(n: int) -> None:
    operations = sum(1 if at == 0 else 2 for at in range(n))  # the first product is only kept, each later one also added
    found = ask("dot", EVERYTHING, n=n, dtype="fp32")
    assert found.flops.item() == found.vector_flops.item() == operations
    assert found.bytes_total.item() == 4 * (2 * n + 1)


def test_the_intensity_tends_to_half_an_operation_per_byte() -> None:
    """(2N − 1)/(4N + 2) in bf16, so 1/6 at N = 1 and 15/34 at 8."""
    found = ask("dot", CHIP, n=[1, 8, 1_048_576], dtype="bf16")
    assert intensity(found).tolist() == [1 / 6, 15 / 34, 2_097_151 / 4_194_306]
    assert found.approximation is not None
    assert found.approximation.tolist() == [0.5] * 3


def test_it_runs_on_the_vector_unit_in_its_fallback_class() -> None:
    found = ask("dot", CHIP, n=1024, dtype="bf16")
    assert (found.placement.unit, found.placement.dtype) == ("vector", "fp32")
    assert bounds(found) == ["hbm"]


@pytest.mark.parametrize("n", [2**10, 2**20, 2**40])
def test_more_of_it_changes_the_time_and_not_the_verdict(n: int) -> None:
    assert bounds(ask("dot", CHIP, n=n, dtype="bf16")) == ["hbm"]


def test_the_turn_on_a_chip_with_a_slow_vector_unit() -> None:
    """(2N − 1)/(4N + 2) = 0.25 at N = 1.5."""
    chip = machine(hbm=8e12, vector={"fp32": 2e12})
    assert exact(ask("dot", chip, n=1, dtype="bf16"), "n") == 1.5
    assert bounds(ask("dot", chip, n=[1, 2], dtype="bf16")) == ["hbm", "compute"]
