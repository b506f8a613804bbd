"""Bounds, ties and verdicts. Source: How To Scale Your Model, ch. 1; Williams, Waterman, Patterson 2009."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine import roofline
from service.engine.arrays import column
from service.engine.roofline import BOUNDS, REGIMES, Times

from .asking import ask, bounds, regimes
from .chips import V5E, machine

SECONDS = st.floats(1e-12, 1e6)
PATHS = ("compute", "hbm", "network")


def verdict(math_s: float, hbm_s: float, network_s: float = 0.0) -> tuple[str | None, str | None]:
    times = Times(column(math_s), column(hbm_s), column(network_s))
    paths = roofline.longest_paths(times, roofline.lower(times)).item()
    return BOUNDS[paths], REGIMES[paths]


def twin(*times: float) -> tuple[str, str]:
    """The verdicts in words, read off a sorted list."""
    ranked = sorted(zip(times, PATHS, strict=True), reverse=True)
    is_tied = ranked[1][0] >= ranked[0][0] * (1 - 1e-9)
    bound = "balanced" if is_tied else ranked[0][1]
    compute, largest = times[0], ranked[0][0]
    if compute < largest * (1 - 1e-9):
        return bound, "communication-bound"
    return bound, "balanced" if is_tied else "compute-bound"


@given(SECONDS, SECONDS, SECONDS)
def test_the_longest_path_binds(math_s: float, hbm_s: float, network_s: float) -> None:
    assert verdict(math_s, hbm_s, network_s) == twin(math_s, hbm_s, network_s)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ((1.0, 1.0, 0.0), ("balanced", "balanced")),
        ((1.0, 1.0 - 9e-10, 0.0), ("balanced", "balanced")),
        ((1.0 - 9e-10, 1.0, 0.0), ("balanced", "balanced")),
        ((1.0, 1.0 - 2e-9, 0.0), ("compute", "compute-bound")),
        ((1.0 - 2e-9, 1.0, 0.0), ("hbm", "communication-bound")),
        ((0.5, 1.0, 1.0), ("balanced", "communication-bound")),
        ((1.0, 0.5, 1.0), ("balanced", "balanced")),
        ((1.0, 1.0, 1.0), ("balanced", "balanced")),
        ((0.5, 0.2, 1.0), ("network", "communication-bound")),
        ((0.0, 1.0, 0.0), ("hbm", "communication-bound")),
        ((0.0, 0.0, 0.0), (None, None)),
    ],
)
def test_ties_and_regimes(times: tuple[float, float, float], expected: tuple[str | None, str | None]) -> None:
    assert verdict(*times) == expected


def test_a_product_exactly_on_the_ridge_is_balanced() -> None:
    """2·2³ operations at 2 TFLOP/s and 3·2·2² bytes at 3 TB/s are 8 ps each; both together 16."""
    found = ask("matmul", machine({"bf16": 2e12}, 3e12), m=2, k=2, n=2, dtype="bf16")
    assert (bounds(found), regimes(found)) == (["balanced"], ["balanced"])
    assert (found.lower.item(), found.upper.item()) == (8e-12, 16e-12)


def test_at_equal_times_the_bounds_are_a_factor_of_two_apart() -> None:
    """3 ms each: between 3 and 6 ms. How To Scale Your Model, ch. 1."""
    times = Times(column(3e-3), column(3e-3))
    assert (roofline.lower(times).item(), roofline.upper(times).item()) == (3e-3, 6e-3)


@given(SECONDS, SECONDS, SECONDS)
def test_with_three_paths_the_sum_is_at_most_three_times_the_largest(math_s: float, hbm_s: float, network_s: float) -> None:
    times = Times(column(math_s), column(hbm_s), column(network_s))
    least, most = roofline.lower(times).item(), roofline.upper(times).item()
    assert least <= most <= 3 * least * (1 + 1e-15)


@given(least=SECONDS, factor=st.floats(1, 3), overlap=st.floats(0, 1))
def test_overlap_is_linear_between_the_bounds(least: float, factor: float, overlap: float) -> None:
    most = least * factor
    between = roofline.overlapped(column(least), column(most), overlap).item()
    assert between == pytest.approx(overlap * least + (1 - overlap) * most, rel=1e-12)
    assert roofline.overlapped(column(least), column(most), 1.0).item() == least
    assert roofline.overlapped(column(least), column(most), 0.0).item() == pytest.approx(most, rel=1e-15)


def test_half_an_overlap() -> None:
    found = ask("matmul", V5E, overlap=0.5, m=1024, k=8192, n=8192, dtype="bf16")
    assert found.overlapped.item() == pytest.approx((found.lower.item() + found.upper.item()) / 2, rel=1e-15)
