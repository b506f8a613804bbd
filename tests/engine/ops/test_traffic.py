"""Ops that only move bytes, and those that change formats: every byte named, scales included."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.formats import Scale
from service.errors import InvalidInput

from ..asking import ask, bounds, term
from ..chips import EVERYTHING, H100, machine
from .counting import Counter, moved

PURE: dict[str, dict[str, Any]] = {
    "copy": {"rows": 3, "cols": 5, "dtype": "bf16"},
    "transpose": {"rows": 3, "cols": 5, "dtype": "bf16"},
    "cast": {"rows": 3, "cols": 5, "dtype": "fp32", "out_dtype": "bf16"},
    "embedding": {"tokens": 3, "vocab": 7, "d": 5, "dtype": "bf16"},
}
NO_VECTOR_UNIT = machine({"bf16": 1e15}, 1e12, is_partial=False)


@pytest.mark.parametrize("kind", sorted(PURE))
def test_what_only_moves_bytes_takes_their_time_on_any_chip(kind: str) -> None:
    for chip in (NO_VECTOR_UNIT, machine({}, 1e12), EVERYTHING):
        found = ask(kind, chip, **PURE[kind])
        assert found.placement.peak is None
        assert found.critical is None
        assert (found.flops.item(), found.times.math.item(), bounds(found)) == (0, 0, ["hbm"])
        assert found.lower.item() == found.upper.item() == found.bytes_total.item() / chip.memory.item()
        assert all(np.isnan(each.exact).all() for each in found.thresholds)


def test_what_computes_needs_a_vector_peak_of_a_catalogue_chip() -> None:
    with pytest.raises(InvalidInput) as error:
        ask("softmax", NO_VECTOR_UNIT, rows=3, cols=5, dtype="bf16")
    assert [fault.code for fault in error.value.faults] == ["unsupported-dtype"]


def test_a_copy_is_what_stream_counts() -> None:
    """McCalpin's STREAM counts 16 bytes per iteration of its copy of 8-byte words: one read, one written."""
    found = ask("copy", H100, rows=10_000_000, cols=1, dtype="fp64")
    assert moved(found) == {"x": 80e6, "out": 80e6}
    assert found.lower.item() == pytest.approx(160e6 / 3.35e12, rel=1e-15)


@given(rows=st.integers(1, 40), cols=st.integers(1, 100), dtype=st.sampled_from(["bf16", "int4", "fp6", "mxfp8"]))
def test_a_transpose_moves_what_a_copy_moves_but_for_the_scales_of_other_rows(rows: int, cols: int, dtype: str) -> None:
    straight, turned = (moved(ask(kind, EVERYTHING, rows=rows, cols=cols, dtype=dtype)) for kind in ("copy", "transpose"))
    assert turned["x"] == straight["x"] == straight["out"]
    assert turned["out"] == moved(ask("copy", EVERYTHING, rows=cols, cols=rows, dtype=dtype))["out"]


def test_an_embedding_reads_the_rows_that_it_gathers_and_not_the_table() -> None:
    """Llama-3.1-70B: 64 tokens read 64 rows of 16 KiB, 1.05 MB in 0.3 µs, and not the 2.1 GB of the table."""
    found = ask("embedding", H100, tokens=64, vocab=128_256, d=8192, dtype="bf16")
    assert moved(found) == {"table": 64 * 16_384, "ids": 256, "out": 64 * 16_384}
    assert moved(found)["table"] / 3.35e12 == pytest.approx(0.313e-6, rel=1e-3)


def test_a_list_of_vocabularies_is_answered_row_by_row() -> None:
    found = ask("embedding", H100, tokens=64, vocab=[1000, 128_256, 10**6], d=8192, dtype="bf16")
    assert found.rows == 3
    assert len(set(found.bytes_total.tolist())) == 1


@given(tokens=st.integers(1, 6), d=st.integers(1, 40))
def test_gathered_rows_may_be_widened(tokens: int, d: int) -> None:
    found = ask("embedding", EVERYTHING, tokens=tokens, vocab=10, d=d, dtype="mxfp8", out_dtype="bf16")
    assert moved(found) == {"table": tokens * (d + math.ceil(d / 32)), "ids": 4 * tokens, "out": 2 * tokens * d}


def test_a_cast_moves_each_side_in_its_own_format() -> None:
    assert moved(ask("cast", EVERYTHING, rows=3, cols=5, dtype="fp32", out_dtype="fp8_e4m3")) == {"x": 60, "out": 15}
    assert moved(ask("cast", EVERYTHING, rows=3, cols=5, dtype="int4", out_dtype="fp64")) == {"x": 8, "out": 120}


SHAPES = {"rows": st.integers(1, 6), "cols": st.integers(1, 40), "group": st.integers(1, 16)}


def groups(rows: int, cols: int, group: int) -> int:
    """Scales of rows cut into groups, counted by walking along them."""
    return len({(row, at // group) for row in range(rows) for at in range(cols)})


@given(**SHAPES)
def test_quantizing_writes_the_scales_that_it_finds(rows: int, cols: int, group: int) -> None:
    """Each element: absolute value and maximum for the scale of its group, then times the inverse, and rounded."""
    counter = Counter()
    for _ in range(rows):
        for x in counter.numbers([0.5] * cols):
            abs(x).maximum(0)
            (x * 127).rounded()
    found = ask("quantize", EVERYTHING, rows=rows, cols=cols, dtype="bf16", out_dtype="int8", out_scale=Scale("fp32", group_size=group))
    assert found.flops.item() == counter.operations
    assert moved(found) == {"x": 2 * rows * cols, "out": rows * cols + 4 * groups(rows, cols, group)}


@given(**SHAPES)
def test_dequantizing_reads_the_scales_and_zero_points(rows: int, cols: int, group: int) -> None:
    counter = Counter()
    for x in counter.numbers([3.0] * (rows * cols)):
        (x - 1) * 0.5
    scale = Scale("fp16", group_size=group, zero_point_dtype="int8")
    found = ask("dequantize", EVERYTHING, rows=rows, cols=cols, dtype="int8", out_dtype="bf16", x_scale=scale)
    assert found.flops.item() == counter.operations
    assert moved(found) == {"x": rows * cols + 3 * groups(rows, cols, group), "out": 2 * rows * cols}
    plain = ask("dequantize", EVERYTHING, rows=rows, cols=cols, dtype="int8", out_dtype="bf16")
    assert plain.flops.item() == rows * cols


def test_microscaling_formats_bring_their_scales() -> None:
    """OCP MX: 32 elements of 4 bits and an exponent of 8, 0.53125 bytes each; nvfp4: 16 and 8 bits, 0.5625 bytes."""
    for dtype, size in (("mxfp4", 0.53125), ("nvfp4", 0.5625), ("mxfp8", 1.03125)):
        found = ask("quantize", EVERYTHING, rows=1024, cols=4096, dtype="bf16", out_dtype=dtype)
        assert moved(found)["out"] == 1024 * 4096 * size
        found = ask("dequantize", EVERYTHING, rows=1024, cols=4096, dtype=dtype, out_dtype="bf16")
        assert moved(found)["x"] == 1024 * 4096 * size


@pytest.mark.parametrize(
    ("kind", "members", "pointer", "code"),
    [
        ("quantize", {"out_dtype": "mxfp8", "out_scale": Scale("fp32", group_size=32)}, "/out_scale", "invalid-request"),
        ("quantize", {"out_dtype": "int8", "out_scale": Scale("mxfp8", group_size=32)}, "/out_scale/dtype", "invalid-request"),
        ("quantize", {"out_dtype": "int8", "out_scale": Scale("fp32", block=(1, 2, 3))}, "/out_scale/block", "out-of-range"),
        ("dequantize", {"out_dtype": "fp32", "x_scale": Scale("fp32", block=(64,))}, "/x_scale/block", "out-of-range"),
        (
            "dequantize",
            {"out_dtype": "fp32", "x_scale": Scale("fp32", group_size=1, zero_point_dtype="nvfp4")},
            "/x_scale/zero_point_dtype",
            "invalid-request",
        ),
    ],
)
def test_scales_that_do_not_fit_are_refused(kind: str, members: dict[str, Any], pointer: str, code: str) -> None:
    with pytest.raises(InvalidInput) as error:
        ask(kind, EVERYTHING, rows=4, cols=64, dtype="bf16", **members)
    assert [(fault.pointer, fault.code) for fault in error.value.faults] == [(pointer, code)]


@pytest.mark.parametrize("kind", ["copy", "transpose", "softmax", "reduce"])
def test_an_op_that_is_told_no_format_asks_for_the_one_that_it_takes(kind: str) -> None:
    with pytest.raises(InvalidInput) as error:
        term(kind, rows=2, cols=3)
    assert [(fault.pointer, fault.code, fault.detail) for fault in error.value.faults] == [("/dtype", "missing", "State dtype.")]
