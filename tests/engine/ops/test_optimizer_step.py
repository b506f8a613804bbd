"""A step of an optimizer: what the algorithm does to one parameter, and every array that it keeps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput

from ..asking import ask, term
from ..chips import EVERYTHING
from .counting import Counter, moved

N = 1_000_000


@given(gradient=st.floats(-2, 2), step=st.integers(1, 50))
def test_adam_is_its_algorithm(gradient: float, step: int) -> None:
    """Kingma & Ba 2014, algorithm 1; 1 − β and the corrections 1 − β^t are numbers of the step, not of a parameter."""
    counter = Counter()
    g, first, second, weight = counter.numbers([gradient, 0.1, 0.2, 1.0])
    first = first * 0.9 + g * 0.1
    second = second * 0.999 + g * g * 0.001
    direction = first / (1 - 0.9**step) / ((second / (1 - 0.999**step)).sqrt() + 1e-8)
    updated = weight - direction * 1e-3
    assert abs(updated.value - 1) < 1
    assert ask("optimizer_step", EVERYTHING, n=1, algorithm="adam", dtype="fp32").flops.item() == counter.operations


def test_sgd_is_a_multiply_and_a_subtraction() -> None:
    counter = Counter()
    weight, g = counter.numbers([1.0, 0.5])
    assert (weight - g * 0.1).value == 0.95
    assert ask("optimizer_step", EVERYTHING, n=1, algorithm="sgd", dtype="fp32").flops.item() == counter.operations


def test_the_state_of_adam_is_ten_bytes_for_each_parameter() -> None:
    """bf16 weights and two fp32 moments, 2 + 4 + 4 bytes: read, and written again; the gradient is read alone."""
    found = moved(ask("optimizer_step", EVERYTHING, n=N, algorithm="adam", dtype="bf16"))
    state = {"weights": 2 * N, "moment1": 4 * N, "moment2": 4 * N}
    assert found == {**state, "gradients": 2 * N, **{f"{name}_out": size for name, size in state.items()}}


def test_a_master_copy_is_what_the_step_changes() -> None:
    found = moved(ask("optimizer_step", EVERYTHING, n=N, algorithm="adam", dtype="bf16", master_dtype="fp32"))
    state = {"master": 4 * N, "moment1": 4 * N, "moment2": 4 * N}
    assert found == {**state, "gradients": 2 * N, **{f"{name}_out": size for name, size in state.items()}, "weights_out": 2 * N}


def test_sgd_keeps_nothing_beside_the_weights() -> None:
    found = moved(ask("optimizer_step", EVERYTHING, n=N, algorithm="sgd", dtype="fp32", gradients_dtype="bf16"))
    assert found == {"weights": 4 * N, "gradients": 2 * N, "weights_out": 4 * N}


def test_moments_may_be_kept_in_eight_bits() -> None:
    found = moved(ask("optimizer_step", EVERYTHING, n=N, algorithm="adam", dtype="bf16", state_dtype="fp8_e4m3"))
    assert (found["moment1"], found["moment2_out"]) == (N, N)


def test_a_step_computes_in_fp32_whatever_it_stores() -> None:
    assert ask("optimizer_step", EVERYTHING, n=N, algorithm="adam", dtype="bf16").placement.dtype == "fp32"


def test_the_format_of_the_gradients_says_nothing_of_the_weights() -> None:
    with pytest.raises(InvalidInput) as error:
        term("optimizer_step", n=N, algorithm="sgd", gradients_dtype="bf16")
    assert [(fault.pointer, fault.code) for fault in error.value.faults] == [("/dtype", "missing")]
