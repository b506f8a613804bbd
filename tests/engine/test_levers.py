"""Levers: what the answer says a change would do is what the changed question answers."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.engine.levers import FACTORS, variants
from service.engine.machine import Machine
from service.engine.ops import OPS
from service.engine.report import Report

from .asking import ask, bounds, lever, term
from .chips import EVERYTHING, V5E
from .drawing import numbers, questions, with_numbers

KINDS = pytest.mark.parametrize("kind", sorted(OPS))


def twice_the_peak(chip: Machine) -> Machine:
    return dataclasses.replace(
        chip,
        matrix_peaks={name: 2 * peak for name, peak in chip.matrix_peaks.items()},
        vector_peaks={name: 2 * peak for name, peak in chip.vector_peaks.items()},
    )


def twice_the_bandwidth(chip: Machine) -> Machine:
    return dataclasses.replace(chip, hbm_bandwidth=2 * chip.memory)


def agrees(found: Report, change: str, changed: Report, work: float = 1.0) -> None:
    after, bound_after, speedup = lever(found, change)
    assert after == changed.lower.item()
    assert bound_after == bounds(changed)[0]
    assert speedup == work * (found.lower.item() / changed.lower.item())


@KINDS
@settings(max_examples=10)
@given(data=st.data())
def test_a_lever_is_the_changed_question(kind: str, data: st.DataObject) -> None:
    members = data.draw(questions(kind))
    found = ask(kind, EVERYTHING, **members)
    agrees(found, "peak_flops_per_s", ask(kind, twice_the_peak(EVERYTHING), **members))
    agrees(found, "hbm_bandwidth_bytes_per_s", ask(kind, twice_the_bandwidth(EVERYTHING), **members))
    known = numbers(kind, members)
    for change in ("m", "batch"):
        if change in found.levers.changes and change in known:
            agrees(found, change, ask(kind, EVERYTHING, **with_numbers(members, {change: 2 * known[change]})), work=2.0)


def test_half_the_bytes_of_b_is_a_format_of_half_the_bits() -> None:
    shape: dict[str, Any] = {"m": 16, "k": 8192, "n": 8192, "dtype": "bf16"}
    agrees(ask("matmul", V5E, **shape), "b_bytes", ask("matmul", V5E, **shape, b_dtype="int8"))
    agrees(ask("matmul", V5E, **shape, b_dtype="int8"), "b_bytes", ask("matmul", V5E, **shape, b_dtype="int4"))


@pytest.mark.parametrize(
    ("kind", "members", "changes"),
    [
        ("matmul", {"m": 1, "k": 2, "n": 3}, ("peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "b_bytes", "m")),
        ("matmul", {"m": 1, "k": 2, "n": 3, "batch": 2}, ("peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "b_bytes", "m", "batch")),
        ("dot", {"n": 3}, ("peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "b_bytes")),
        ("elementwise", {"n": 3}, ("peak_flops_per_s", "hbm_bandwidth_bytes_per_s")),
        ("einsum", {"equation": "i->", "dims": {"i": 3}}, ("peak_flops_per_s", "hbm_bandwidth_bytes_per_s")),
        ("einsum", {"equation": "i,i->", "dims": {"i": 3}}, ("peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "b_bytes")),
    ],
)
def test_the_list_of_levers_is_closed(kind: str, members: dict[str, Any], changes: tuple[str, ...]) -> None:
    asked = term(kind, **members, dtype="bf16")
    assert variants(asked).changes == changes
    assert set(changes) <= set(FACTORS)


def test_below_the_ridge_more_bandwidth_helps_and_more_peak_does_not() -> None:
    """m = 16 is far below 240: half the time with twice the bandwidth, the same with twice the peak."""
    found = ask("matmul", V5E, m=16, k=8192, n=8192, dtype="bf16")
    assert lever(found, "hbm_bandwidth_bytes_per_s")[2] == 2
    assert lever(found, "peak_flops_per_s")[2] == 1
    assert lever(found, "b_bytes")[2] > 1.9
    assert lever(found, "m")[2] > 1.9


def test_on_the_plateau_only_more_peak_helps() -> None:
    found = ask("matmul", V5E, m=8192, k=8192, n=8192, dtype="bf16")
    assert lever(found, "peak_flops_per_s")[2] == 2
    assert [lever(found, change)[2] for change in ("hbm_bandwidth_bytes_per_s", "b_bytes", "m")] == [1, 1, 1]


def test_more_samples_with_weights_of_their_own_gain_nothing() -> None:
    """Twice the work in twice the time. How To Scale Your Model, ch. 1, problem 4."""
    assert lever(ask("matmul", V5E, batch=128, m=1, k=4096, n=4096, dtype="int8"), "batch")[2] == 1


@given(m=st.integers(1, 4096), change=st.sampled_from(["peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "b_bytes", "m"]))
def test_no_lever_makes_anything_slower(m: int, change: str) -> None:
    assert 1 - 1e-12 <= lever(ask("matmul", V5E, m=m, k=4096, n=4096, dtype="bf16"), change)[2] <= 2
