"""Elementwise maps."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..asking import ask, bounds, exact, intensity
from ..chips import EVERYTHING, H100

SMALL = st.integers(1, 6)


@given(n=SMALL, inputs=SMALL, outputs=SMALL, flops=SMALL)
def test_counts_are_those_of_the_loop(n: int, inputs: int, outputs: int, flops: int) -> None:
    operations = elements_read = elements_written = 0
    for _ in range(n):
        elements_read += inputs
        operations += flops
        elements_written += outputs
    found = ask("elementwise", EVERYTHING, n=n, inputs=inputs, outputs=outputs, flops_per_element=flops, dtype="bf16")
    assert found.flops.item() == operations
    assert {name: each.item() for name, each in found.bytes.items()} == {"in": 2 * elements_read, "out": 2 * elements_written}


def test_a_vector_add_of_fp32() -> None:
    """One add for 12 bytes, ridge at 10: 3.85 ms for 2³⁰ elements, where 4.1 are measured. How To Scale Your Model, ch. 12, problem 1."""
    found = ask("elementwise", H100, n=[65_536, 2**30], dtype="fp32")
    assert intensity(found) == pytest.approx([1 / 12] * 2, rel=1e-15)
    assert found.critical == pytest.approx(10, rel=1e-15)
    assert found.lower == pytest.approx([2.3475582089552238e-07, 0.0038462393695522386], rel=1e-12)
    assert bounds(found) == ["hbm", "hbm"]


def test_the_swiglu_gate_of_llama_70b_is_as_wide_as_the_layer_within() -> None:
    """Two reads and one write of 28,672 elements per token, not of the hidden 8,192 (Llama 3.1 70B, config.json)."""
    found = ask("elementwise", H100, n=28_672, flops_per_element=1, dtype="bf16")
    assert found.bytes_total.item() == 3 * 28_672 * 2


def test_no_length_turns_it() -> None:
    assert math.isnan(exact(ask("elementwise", H100, n=8, dtype="fp32"), "n"))


def test_the_intensity_does_not_depend_on_the_length() -> None:
    found = ask("elementwise", H100, n=[3, 1000, 2**40], inputs=3, outputs=2, flops_per_element=7, dtype="bf16")
    assert intensity(found).tolist() == [7 / 10] * 3


def test_a_wider_output() -> None:
    found = ask("elementwise", H100, n=100, inputs=1, dtype="fp8", out_dtype="fp32")
    assert {name: each.item() for name, each in found.bytes.items()} == {"in": 100, "out": 400}
