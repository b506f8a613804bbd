"""Thresholds: both times compared just above and just below every one of them, scans where there is none, brute force on stairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from service.engine import batch
from service.engine.arrays import Real, column
from service.engine.formats import Scale
from service.engine.hbm import operand_bytes
from service.engine.machine import Machine
from service.engine.ops import OPS
from service.engine.thresholds import Line, Stair, climbed, crossing

from .asking import ask, bounds, exact, term, threshold
from .chips import EVERYTHING, V5E, machine
from .drawing import numbers, questions

KINDS = pytest.mark.parametrize("kind", sorted(OPS))
SCAN = [2**power for power in range(52)]


def gap(kind: str, members: dict[str, Any], chip: Machine, name: str, values: Any) -> np.ndarray[Any, Any]:
    """t_math − t_hbm of a question with other values of one dim [s], over the larger of both."""
    asked = term(kind, **members)
    demand = asked.with_columns({name: column(values)}).demand()
    found = ask(kind, chip, **members)
    peak = found.placement.peak
    assert peak is not None
    moved = sum(bytes_of(each, asked) for each in demand.operands)
    t_math, t_hbm = demand.flops / peak, moved / chip.memory
    difference: np.ndarray[Any, Any] = (t_math - t_hbm) / np.maximum(t_math, t_hbm)
    return difference


def bytes_of(operand: Any, asked: Any) -> Any:
    return operand_bytes(operand, asked.storages(asked.demand())[operand.name])


@KINDS
@settings(max_examples=12)
@given(data=st.data(), ridge=st.floats(0.05, 2000))
def test_both_times_are_equal_at_a_threshold_and_the_order_changes_there(kind: str, data: st.DataObject, ridge: float) -> None:
    """On the stairs of scales and of packed bits the order may change on a step; it never does so away from the threshold."""
    members = data.draw(questions(kind))
    chip = machine(dict.fromkeys(EVERYTHING.matrix_peaks, ridge * 1e12), 1e12, vector=dict.fromkeys(EVERYTHING.vector_peaks, ridge * 1e12))
    found = ask(kind, chip, **members)
    for each in found.thresholds:
        value, name = each.exact.item(), "m" if each.variable == "sequences" else each.variable
        if each.variable == "sequences" or found.placement.peak is None:
            continue
        if math.isnan(value):
            scanned, slack = gap(kind, members, chip, name, SCAN), 1e-9 + byte_slack(kind, members, name, SCAN)
            assert (scanned < slack).all() or (scanned > -slack).all(), f"the order changes in {name}, and no threshold is given"
        else:
            below, above = gap(kind, members, chip, name, [value * (1 - 1e-6), value * (1 + 1e-6)])
            slack = 3e-6 + byte_slack(kind, members, name, value).item()
            assert below <= slack
            assert above >= -slack


def byte_slack(kind: str, members: dict[str, Any], name: str, values: Any) -> np.ndarray[Any, Any]:
    """One byte per operand and its scales: formats of 4 and 6 bits end on a whole byte, which the line of their bytes ignores."""
    asked = term(kind, **members)
    demand = asked.with_columns({name: column(values)}).demand()
    slack: np.ndarray[Any, Any] = sum((3 / bytes_of(each, asked) for each in demand.operands), start=0.0 * column(values))
    return slack


@KINDS
@settings(max_examples=10, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_whole_numbers_on_both_sides_of_a_threshold_have_different_verdicts(kind: str, data: st.DataObject) -> None:
    members = data.draw(questions(kind))
    known = numbers(kind, members)
    found = ask(kind, EVERYTHING, **members)
    assume(all(not storage.has_scales and storage.dtype.bits % 8 == 0 for storage in storages(kind, members)))
    for each in found.thresholds:
        value = each.exact.item()
        if not 1 < value < 2**50 or each.variable not in known:
            continue
        below, above = math.ceil(value) - 1, math.floor(value) + 1
        asked, sides = term(kind, **members), column([below, above])  # channels between two multiples of groups, too
        both = asked.batch_of(sides) if each.variable == "sequences" else asked.with_columns({each.variable: sides})
        verdicts = bounds(batch.evaluate(both, EVERYTHING, is_class_asked="compute_dtype" in members))
        assert verdicts == ["hbm", "compute"] or "balanced" in verdicts


def storages(kind: str, members: dict[str, Any]) -> list[Any]:
    asked = term(kind, **members)
    return list(asked.storages(asked.demand()).values())


def first(holds: Callable[[int], bool], most: int) -> float:
    """The first whole number from 1 on for which `holds`; NaN where none up to `most` does."""
    return next((value for value in range(1, most + 1) if holds(value)), math.nan)


@settings(max_examples=100)
@given(
    shape=st.tuples(st.integers(1, 200), st.integers(1, 200)),
    block=st.tuples(st.integers(1, 80), st.integers(1, 6)),
    scale=st.sampled_from([("fp64", 8), ("fp32", 4), ("fp16", 2)]),
    peak=st.integers(1, 400),
    bandwidth=st.integers(1, 20),
)
def test_on_the_stairs_of_block_scales_the_first_row_count_that_suffices_is_found(
    shape: tuple[int, int], block: tuple[int, int], scale: tuple[str, int], peak: int, bandwidth: int
) -> None:
    """Blocks of scales run along m; every m is tried with whole numbers. Times that only touch at the end of a stair may count."""
    k, n = shape

    def excess(m: int) -> int:
        scales = -(-m // block[0]) * -(-k // block[1]) * scale[1]
        return 2 * m * k * n * bandwidth - (m * k + scales + 2 * k * n + 2 * m * n) * peak

    chip = machine({"bf16": float(peak)}, float(bandwidth))
    found = exact(ask("matmul", chip, m=5, k=k, n=n, dtype="bf16", a_dtype="int8", a_scale=Scale(scale[0], block=block)), "m")
    touches, exceeds = (first(test, 3000) for test in (lambda m: excess(m) >= 0, lambda m: excess(m) > 0))
    if math.isnan(exceeds):
        assert math.isnan(found) or found > 3000 * (1 - 1e-9) or math.ceil(found) == touches
    else:
        assert math.ceil(found - 1e-9 * found) in {touches, exceeds}


@settings(max_examples=100)
@given(
    inputs=st.integers(1, 4),
    flops=st.integers(1, 400),
    peak=st.integers(1, 400),
    bandwidth=st.integers(1, 20),
)
def test_on_the_stairs_of_built_in_scales_the_first_length_that_suffices_is_found(
    inputs: int, flops: int, peak: int, bandwidth: int
) -> None:
    """mxfp8: a scale of one byte for every 32 elements or fewer of each array."""

    def suffices(n: int) -> bool:
        return flops * n * bandwidth >= (inputs + 1) * (n + -(-n // 32)) * peak

    chip = machine(hbm=float(bandwidth), vector={"fp32": float(peak)})
    found = exact(ask("elementwise", chip, n=7, inputs=inputs, flops_per_element=flops, dtype="mxfp8"), "n")
    expected = first(suffices, 500)
    if math.isnan(expected):
        assert math.isnan(found)
    else:
        assert math.ceil(found - 1e-9 * found) == expected


def test_a_threshold_in_a_group_of_scales() -> None:
    """mxfp8, read and written: flops 5n, bytes 2n + 2·⌈n/32⌉, ridge 2: 5n = 4n + 4·⌈n/32⌉ at n = 4 on the first stair."""
    chip = machine(hbm=1.0, vector={"fp32": 2.0})
    found = ask("elementwise", chip, n=100, inputs=1, flops_per_element=5, dtype="mxfp8")
    assert exact(found, "n") == 4.0


def test_group_scales_of_the_weights_move_the_threshold_by_their_share() -> None:
    """0.515625 B per weight instead of 0.5: B* = w·I/(2 − I·(2/F + 2/D)) with w = 0.515625."""
    scale = Scale("fp16", group_size=128)
    found = exact(ask("matmul", V5E, m=16, k=8192, n=8192, dtype="bf16", b_dtype="int4", b_scale=scale), "m")
    ridge = 1.97e14 / 8.2e11
    assert found == pytest.approx(0.515625 * ridge / (2 - ridge * 4 / 8192), rel=1e-12)


@given(m=st.integers(1, 500), k=st.integers(300, 20_000), n=st.integers(300, 20_000), ridge=st.floats(1, 400))
def test_the_critical_batch_is_the_closed_form(m: int, k: int, n: int, ridge: float) -> None:
    """B = w·I/(2 − I·(a/F + o/D)), none where the denominator is not positive."""
    found = ask("matmul", machine({"bf16": ridge * 1e12}, 1e12), m=m, k=k, n=n, dtype="bf16")
    denominator = 2 - ridge * (2 / n + 2 / k)
    assume(abs(denominator) > 1e-6)
    value, approximate = exact(found, "m"), threshold(found, "m").approximate
    assert approximate is not None
    assert approximate.item() == pytest.approx(ridge, rel=1e-12)
    if denominator < 0:
        assert math.isnan(value)
    else:
        assert value == pytest.approx(2 * ridge / denominator, rel=1e-9)
        assert value > approximate.item()


def test_there_is_none_when_k_and_n_are_small() -> None:
    """I·(1/F + 1/D) ≥ 1: no batch makes the product compute-bound, which a scan confirms."""
    found = ask("matmul", V5E, m=SCAN, k=256, n=256, dtype="bf16")
    assert np.isnan(threshold(found, "m").exact).all()
    assert set(bounds(found)) == {"hbm"}


def test_lines_that_are_parallel_never_meet() -> None:
    ridge = column(100.0)
    with np.errstate(divide="ignore"):
        assert np.isnan(crossing(Line(column(0.0), column(200.0)), Line(column(5.0), column(2.0)), ridge))
    assert crossing(Line(column(0.0), column(201.0)), Line(column(5.0), column(2.0)), ridge).item() == 500.0


def test_without_a_peak_there_is_no_threshold() -> None:
    found = ask("elementwise", V5E, n=1024, dtype="mxfp8")
    assert found.critical is None
    assert np.isnan(exact(found, "n"))


def test_rows_on_different_stairs_settle_each_for_itself() -> None:
    scale = Scale("fp64", block=(48, 3))
    chip = machine({"bf16": 304.0}, 20.0)
    sizes = [(32, 11), (64, 91), (138, 123), (266, 148)]
    together = ask("matmul", chip, m=1, k=[k for k, _ in sizes], n=[n for _, n in sizes], dtype="bf16", a_dtype="int8", a_scale=scale)
    alone = [exact(ask("matmul", chip, m=1, k=k, n=n, dtype="bf16", a_dtype="int8", a_scale=scale), "m") for k, n in sizes]
    assert np.array_equal(threshold(together, "m").exact, np.array(alone), equal_nan=True)


CONVOLVED: dict[str, Any] = {"dtype": "mxfp8", "b_dtype": "mxfp4"}
"""Formats whose scales climb along the input channels, in stairs as wide as the kernel is large, and beside it."""


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("conv1d", {"batch": 96, "in_channels": 1064, "out_channels": 2**53 - 2, "length": (2**53 - 2, 100), "kernel": (1, 3)}),
        ("conv2d", {"batch": 263, "in_channels": 3, "out_channels": 218428, "height": 278131, "width": 4502, "kernel_height": (1, 3)}),
        (
            "conv2d",
            {"batch": 186, "in_channels": 261720, "out_channels": 749962, "height": 16565, "width": 401456, "kernel_height": (1, 5)},
        ),
    ],
)
def test_a_row_of_one_stair_is_the_same_beside_rows_of_two(kind: str, sizes: dict[str, Any]) -> None:
    members = {**CONVOLVED, **sizes} if kind == "conv1d" else {"kernel_width": 1, "padding": 1, **CONVOLVED, **sizes}
    columns = {name: list(value) for name, value in members.items() if isinstance(value, tuple)}
    for chip in (machine({"fp8": 4.5e15}, 8e12), machine({"fp8": 1.979e15}, 3.35e12)):
        together = threshold(ask(kind, chip, **{**members, **columns}), "in_channels").exact
        for at in range(2):
            alone = ask(kind, chip, **{**members, **{name: each[at] for name, each in columns.items()}})
            assert threshold(alone, "in_channels").exact.tobytes() == together[at : at + 1].tobytes()


Steps = list[tuple[int, int] | None]
FLIGHTS = st.lists(st.none() | st.tuples(st.integers(1, 300), st.integers(1, 1000)), min_size=3, max_size=3).filter(any)


def at_an_edge(flight: Steps, above: float, count: int) -> tuple[float, float]:
    """The slope of operations, and a base with which they meet the bytes where stair `count` of the first width ends, but for rounding."""
    stairs = [each for each in flight if each]
    rise = sum(height / width for width, height in stairs) * (1.0 + above)
    end = count * stairs[0][0]
    return 1.0 + rise, max(rise * end - sum(height * -(-end // width) for width, height in stairs), 0.0)


@settings(max_examples=500)
@given(rows=st.lists(st.tuples(FLIGHTS, st.floats(1e-3, 2.0), st.integers(1, 1000)), min_size=2, max_size=5))
def test_a_climb_is_the_same_beside_climbs_of_other_stairs(rows: list[tuple[Steps, float, int]]) -> None:
    """At the ends of stairs, where rounding decides on which one a value stands. Where a row has fewer stairs than others, there
    stand some of no height that are as wide as can be.
    """
    slopes, bases = zip(*[at_an_edge(*each) for each in rows], strict=True)
    padded = [[(math.inf, 0.0) if each is None else each for each in flight] for flight, _, _ in rows]
    one = np.ones(1)

    def climb(slope: Any, base: Any, stairs: list[Stair]) -> Real:
        with np.errstate(invalid="ignore", divide="ignore"):
            return climbed(Line(0.0 * one, column(slope)), Line(column(base), one), stairs, one)

    together = climb(slopes, bases, [Stair(*map(column, zip(*each, strict=True))) for each in zip(*padded, strict=True)])
    for at, (flight, _, _) in enumerate(rows):
        alone = climb(slopes[at], bases[at], [Stair(column(width), column(height)) for width, height in filter(None, flight)])
        assert alone.tobytes() == together[at : at + 1].tobytes()


def test_a_threshold_beyond_all_dims_does_not_exist() -> None:
    """v = 2⁴⁰ + (1 − 2⁻²⁰)·v at 2⁶⁰, and dims end at 2⁵³."""
    flat = Line(column(0.0), column(1.0))
    near = Line(column(2.0**40), column(1.0 - 2.0**-20))
    assert np.isnan(crossing(flat, near, column(1.0)))
    assert np.isnan(climbed(flat, near, [Stair(column(32.0), column(0.0))], column(1.0)))


def first_on_stairs(base: float, rise: float, stairs: tuple[tuple[int, int], ...], most: float) -> float:
    """The first v with rise·v ≥ base + Σ height·⌈v/width⌉, stair after stair; NaN where it lies beyond `most`."""
    start = 0.0
    while start < most:
        end = min((start // width + 1) * width for width, _ in stairs)
        value = (base + sum(height * -(-end // width) for width, height in stairs)) / rise
        if value <= end:
            return max(value, start)
        start = end
    return math.nan


@settings(max_examples=300)
@given(
    base=st.integers(0, 10**6),
    stairs=st.lists(st.tuples(st.integers(1, 300), st.integers(1, 1000)), min_size=1, max_size=3),
    above=st.floats(1e-3, 2.0),
)
def test_the_first_value_that_suffices_is_found_stair_after_stair(base: int, stairs: list[tuple[int, int]], above: float) -> None:
    """Bytes base + v + Σ height·⌈v/width⌉ against operations (1 + rise)·v at a ridge of 1; where they only touch, rounding decides."""
    rise, most, one = sum(height / width for width, height in stairs) * (1.0 + above), 1e5, np.ones(1)
    flights = [Stair(width * one, height * one) for width, height in stairs]
    found = climbed(Line(0.0 * one, (1.0 + rise) * one), Line(base * one, one), flights, one).item()
    early, late = (first_on_stairs(base * more, rise / more, tuple(stairs), most) for more in (1 - 1e-9, 1 + 1e-9))
    assert math.isnan(found) or found >= early * (1 - 1e-9) or (math.isnan(early) and found >= most * (1 - 1e-9))
    assert math.isnan(late) or found <= late * (1 + 1e-9)


@pytest.mark.parametrize("above", [1e-3, 1e-6, 1e-9])
def test_a_threshold_that_lies_a_million_stairs_up_is_found(above: float) -> None:
    """Blocks of 128 rows, 1000 B each: operations rise so little more than the stairs that they gain 1000·above a stair."""
    one = np.ones(1)
    rise = 1000 / 128 * (1.0 + above)
    found = climbed(Line(0.0 * one, (1.0 + rise) * one), Line(1000.0 * one, one), [Stair(128.0 * one, 1000.0 * one)], one).item()
    count = math.ceil(1000.0 / (1000.0 * above) - 1e-3)
    assert found == pytest.approx((1000.0 + 1000.0 * count) / rise, rel=1e-6)


@pytest.mark.parametrize("above", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("heights", [(144, 8), (100, 100), (1000, 1000)])
@pytest.mark.parametrize("base", [1.0, 10.0, 1000.0])
def test_a_climb_ends_at_the_right_stair_or_says_that_it_does_not(above: float, heights: tuple[int, int], base: float) -> None:
    """Stairs of nearly one width drift apart so slowly that a climb close to the parallel can take more rounds than it has."""
    widths, one, most = (255, 256), np.ones(1), 3e6
    slope = sum(height / width for height, width in zip(heights, widths, strict=True))
    rise = slope * (1.0 + above)
    stairs = [Stair(width * one, height * one) for height, width in zip(heights, widths, strict=True)]
    found = climbed(Line(0.0 * one, (1.0 + rise) * one), Line(base * one, one), stairs, one).item()
    right = first_on_stairs(base, rise, tuple(zip(widths, heights, strict=True)), most)
    assert math.isnan(found) or found > most or found == pytest.approx(right, rel=1e-9)
    assert above < 1e-2 or not math.isnan(found)
