"""Measured times: where they lie between the bounds, and what may be wrong with those that beat the roof."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.catalogue import Catalogue

from .asking import CHIP, MATMUL, Document, ask, refused

FLOPS = 2 * 512 * 8192 * 28_672
T_MATH, T_HBM = FLOPS / 1e15, 507_510_784 / 2e12
"""MATMUL on CHIP: 240.5 µs of operations, 253.8 µs of bytes."""


def timed(catalogue: Catalogue, seconds: float, op: Document = MATMUL, chip: Document | str = CHIP) -> Document:
    found: Document = ask(catalogue, op=op, chip=chip, measured_s=seconds)["result"]["measured"]
    return found


def consistent(found: Document) -> list[str]:
    return [each["cause"] for each in found["causes"] if each["consistent"]]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seconds=st.floats(1e-12, 1e12))
def test_position_and_fractions(catalogue: Catalogue, seconds: float) -> None:
    found = timed(catalogue, seconds)
    assert found["measured_s"] == seconds
    assert found["position"] == pytest.approx((seconds - T_HBM) / T_MATH, rel=1e-9, abs=1e-9)
    assert found["achieved_fraction"] == pytest.approx(T_HBM / seconds, rel=1e-15)
    assert found["achieved_flops_per_s"] == pytest.approx(FLOPS / seconds, rel=1e-15)
    assert found["above_roof"] == (found["achieved_fraction"] > 1) == bool(found["causes"])


def test_the_bounds_are_at_nought_and_one(catalogue: Catalogue) -> None:
    assert timed(catalogue, T_HBM)["position"] == 0
    assert not timed(catalogue, T_HBM)["above_roof"]
    assert timed(catalogue, T_HBM + T_MATH)["position"] == pytest.approx(1)


def test_a_time_above_the_roof_has_causes_that_are_weighed(catalogue: Catalogue) -> None:
    """Just under the bytes: only the cache explains it. Under the operations as well: only another unit, or a slip of two."""
    between = timed(catalogue, (T_HBM + T_MATH) / 2)
    assert [each["cause"] for each in between["causes"]] == ["cache-resident-operands", "sparse-peak", "macs-for-flops", "wrong-unit"]
    assert consistent(between) == ["cache-resident-operands", "wrong-unit"]
    assert consistent(timed(catalogue, T_MATH * 0.99)) == ["wrong-unit"]
    assert consistent(timed(catalogue, T_HBM * 1e-3)) == ["wrong-unit"]
    assert all(each["detail"].endswith(".") for each in between["causes"])


def test_a_slip_of_two_is_seen_where_operations_bind(catalogue: Catalogue) -> None:
    """m = 8192: operations take 3.85 ms. A time of half of it fits a sparse peak or multiply-adds; of a third, neither."""
    op = {**MATMUL, "m": 8192}
    t_math = 16 * T_MATH
    assert consistent(timed(catalogue, t_math * 0.5, op)) == ["sparse-peak", "macs-for-flops", "wrong-unit"]
    assert consistent(timed(catalogue, t_math / 3, op)) == ["wrong-unit"]


def test_what_does_not_fit_a_cache_was_not_found_there(catalogue: Catalogue) -> None:
    """A copy of 2 x 16 MB fits 50 MB of cache, one of 2 x 256 MB does not."""
    for rows, causes in ((1024, ["cache-resident-operands", "wrong-unit"]), (16_384, ["wrong-unit"])):
        op = {"kind": "copy", "rows": rows, "cols": 8192, "dtype": "bf16"}
        chip = {"base": "nvidia-h100-sxm", "l2": {"capacity_bytes": 50_000_000}}
        lower = ask(catalogue, op=op, chip=chip)["result"]["time"]["lower_s"]
        assert consistent(timed(catalogue, lower * 0.9, op, chip)) == causes
        assert consistent(timed(catalogue, lower * 0.9, op, "nvidia-h100-sxm")) == causes


def test_where_both_bounds_are_one_there_is_no_position(catalogue: Catalogue) -> None:
    op = {"kind": "copy", "rows": 10, "cols": 10, "dtype": "bf16"}
    found = timed(catalogue, 1.0, op)
    assert (found["position"], found["achieved_flops_per_s"], found["above_roof"]) == (None, 0, False)


def test_one_time_for_a_list_of_ops(catalogue: Catalogue) -> None:
    ops = [{**MATMUL, "count": 3}, {"kind": "softmax", "rows": 512, "cols": 512, "dtype": "bf16"}]
    whole = ask(catalogue, ops=ops, measured_s=1e-3)
    totals, found = whole["result"]["totals"], whole["result"]["measured"]
    lower, upper = totals["time"]["lower_s"], totals["time"]["upper_s"]
    assert whole["measured_s"] == 1e-3
    assert found["achieved_fraction"] == pytest.approx(lower / 1e-3, rel=1e-12)
    assert found["position"] == pytest.approx((1e-3 - lower) / (upper - lower), rel=1e-9)
    assert not found["above_roof"]
    assert ask(catalogue, ops=ops, measured_s=lower * 0.5)["result"]["measured"]["above_roof"]


def test_columns_have_more_times_than_one(catalogue: Catalogue) -> None:
    faults = refused(lambda: timed(catalogue, 1.0, {**MATMUL, "m": [1, 2]}))
    assert [(fault.pointer, fault.code) for fault in faults] == [("/measured_s", "use-batches")]


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(0, "out-of-range"), (-1.0, "out-of-range"), (1e13, "out-of-range"), (float("nan"), "not-finite"), ("1", "wrong-type")],
)
def test_times_that_are_none_are_refused(catalogue: Catalogue, seconds: Any, code: str) -> None:
    faults = refused(lambda: timed(catalogue, seconds))
    assert [(fault.pointer, fault.code) for fault in faults] == [("/measured_s", code)]


def test_a_measured_time_is_part_of_the_question(catalogue: Catalogue) -> None:
    timed_apart = {ask(catalogue, op=MATMUL, measured_s=seconds)["input_digest"] for seconds in (1.0, 2.0)}
    assert len({ask(catalogue, op=MATMUL)["input_digest"], *timed_apart}) == 3
