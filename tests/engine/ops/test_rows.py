"""Ops that pass over rows, against twins that do each operation of the definition and count it.

What the ops say that they ignore is ignored here too: what happens once per row, and the missing first step of a running sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput

from ..asking import ask, term
from ..chips import EVERYTHING
from .counting import Counted, Counter, moved

ROW = st.lists(st.floats(-4, 4), min_size=1, max_size=12)
SIZES = {"rows": st.integers(1, 5), "cols": st.integers(1, 12)}


def softmax(row: list[Counted]) -> None:
    largest, total = row[0], row[0].counter.number(0)
    for x in row:
        largest = largest.maximum(x)
    raised = []
    for x in row:
        raised.append((x - largest).exp())
        total = total + raised[-1]
    written = [each / total for each in raised]
    assert sum(each.value for each in written) == pytest.approx(1)


def layer_norm(row: list[Counted]) -> None:
    total, variance = row[0].counter.number(0), row[0].counter.number(0)
    for x in row:
        total = total + x
    mean = total.value / len(row)
    centred = [x - mean for x in row]
    for x in centred:
        variance = variance + x * x
    inverse = (variance.value / len(row) + 1e-5) ** -0.5
    written = [x * inverse * 1.5 + 0.25 for x in centred]
    assert sum(each.value for each in written) == pytest.approx(0.25 * len(row))


def rms_norm(row: list[Counted]) -> None:
    total = row[0].counter.number(0)
    for x in row:
        total = total + x * x
    inverse = (total.value / len(row) + 1e-5) ** -0.5
    for x in row:
        x * inverse * 1.5


def reduce(row: list[Counted]) -> None:
    total = row[0]
    for x in row[1:]:
        total = total + x


def cross_entropy(row: list[Counted]) -> None:
    largest, total = row[0], row[0].counter.number(0)
    for x in row:
        largest = largest.maximum(x)
    for x in row:
        total = total + (x - largest).exp()
    assert math.log(total.value) + largest.value >= max(x.value for x in row)


def topk(row: list[Counted]) -> None:
    kept = row[0]
    for x in row:
        kept = kept.maximum(x)


DEFINITIONS: dict[str, Callable[[list[Counted]], None]] = {
    "softmax": softmax,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "reduce": reduce,
    "cross_entropy": cross_entropy,
    "topk": topk,
}


@pytest.mark.parametrize("kind", sorted(DEFINITIONS))
@given(rows=st.integers(1, 4), row=ROW)
def test_the_operations_are_those_that_the_definition_does(kind: str, rows: int, row: list[float]) -> None:
    counter = Counter()
    for _ in range(rows):
        DEFINITIONS[kind](counter.numbers(row))
    found = ask(kind, EVERYTHING, rows=rows, cols=len(row), dtype="fp32", **({"k": 1} if kind == "topk" else {}))
    assert found.vector_flops.item() == found.flops.item() == counter.operations


def gelu(x: Counted) -> Counted:
    return x * 0.5 * ((x * math.sqrt(0.5)).erf() + 1)


def silu(x: Counted) -> Counted:
    return x / ((-x).exp() + 1)


FUNCTIONS: dict[str, Callable[[Counted, Counted], Counted]] = {
    "relu": lambda x, _: x.maximum(0),
    "gelu": lambda x, _: gelu(x),
    "silu": lambda x, _: silu(x),
    "swiglu": lambda x, up: silu(x) * up,
    "geglu": lambda x, up: gelu(x) * up,
}


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
@given(row=ROW)
def test_an_activation_does_what_its_function_does(function: str, row: list[float]) -> None:
    counter = Counter()
    for x in counter.numbers(row):
        FUNCTIONS[function](x, counter.number(2))
    assert ask("activation", EVERYTHING, rows=1, cols=len(row), function=function, dtype="fp32").flops.item() == counter.operations


def test_the_activation_of_a_gated_layer_is_as_wide_as_the_layer_within() -> None:
    """Llama-3.1-70B: SwiGLU reads gate and up of 28,672 each and writes as many; 8192, the width of the model, plays no part."""
    found = ask("activation", EVERYTHING, rows=64, cols=28_672, function="swiglu", dtype="bf16")
    one = 64 * 28_672 * 2
    assert moved(found) == {"gate": one, "up": one, "out": one}
    plain = ask("activation", EVERYTHING, rows=64, cols=28_672, function="silu", dtype="bf16")
    assert moved(plain) == {"x": one, "out": one}


@given(**SIZES)
def test_every_array_is_moved_once_in_its_own_format(rows: int, cols: int) -> None:
    n = rows * cols
    shape: dict[str, Any] = {"rows": rows, "cols": cols, "dtype": "bf16"}
    assert moved(ask("softmax", EVERYTHING, **shape)) == {"x": 2 * n, "out": 2 * n}
    assert moved(ask("softmax", EVERYTHING, **shape, out_dtype="fp32")) == {"x": 2 * n, "out": 4 * n}
    assert moved(ask("layer_norm", EVERYTHING, **shape)) == {"x": 2 * n, "gain": 2 * cols, "bias": 2 * cols, "out": 2 * n}
    assert moved(ask("rms_norm", EVERYTHING, **shape)) == {"x": 2 * n, "gain": 2 * cols, "out": 2 * n}
    assert moved(ask("reduce", EVERYTHING, **shape)) == {"x": 2 * n, "out": 2 * rows}
    assert moved(ask("cross_entropy", EVERYTHING, **shape)) == {"x": 2 * n, "targets": 4 * rows, "loss": 4 * rows}
    assert moved(ask("topk", EVERYTHING, **shape, k=cols)) == {"x": 2 * n, "out": 2 * n, "places": 4 * n}


def test_the_sum_of_a_row_of_one_needs_no_operation() -> None:
    found = ask("reduce", EVERYTHING, rows=1000, cols=1, dtype="fp32")
    assert (found.flops.item(), found.times.math.item(), found.lower.item()) == (0, 0, 8000 / 3e12)


def test_the_mean_of_a_row_may_be_taken_in_another_class() -> None:
    """A bf16 norm computes in bf16 where the vector unit does, and in fp32 where the caller says so."""
    shape: dict[str, Any] = {"rows": 8, "cols": 64, "dtype": "bf16"}
    assert ask("rms_norm", EVERYTHING, **shape).placement.dtype == "bf16"
    assert ask("rms_norm", EVERYTHING, **shape, compute_dtype="fp32").placement.dtype == "fp32"


def test_no_more_can_be_kept_of_a_row_than_it_has() -> None:
    assert term("topk", rows=[2, 3], cols=[4, 5], k=[4, 5], dtype="fp32").columns()["k"].tolist() == [4, 5]
    for cols, k, pointer in ((4, 5, "/k"), ([5, 4], 5, "/cols/1"), (4, [4, 4, 5, 6], "/k/2"), ([6, 4], [5, 5], "/k/1")):
        with pytest.raises(InvalidInput) as error:
            term("topk", rows=2, cols=cols, k=k, dtype="fp32")
        assert [(fault.pointer, fault.code) for fault in error.value.faults] == [(pointer, "out-of-range")]


@given(tokens=st.integers(1, 4), heads=st.integers(1, 4), pairs=st.integers(1, 4))
def test_rope_turns_every_pair_of_every_head(tokens: int, heads: int, pairs: int) -> None:
    """x' = x·cos − y·sin and y' = x·sin + y·cos; the angles of a position serve all of its heads."""
    counter = Counter()
    angles = set()
    for token in range(tokens):
        for _ in range(heads):
            for pair in range(pairs):
                x, y = counter.number(1), counter.number(2)
                angles |= {(token, pair, "sin"), (token, pair, "cos")}
                turned = (x * 0.6 - y * 0.8, x * 0.8 + y * 0.6)
                assert turned[0].value ** 2 + turned[1].value ** 2 == pytest.approx(5)
    found = ask("rope", EVERYTHING, tokens=tokens, heads=heads, head_dim=2 * pairs, dtype="bf16", table_dtype="fp32")
    n = tokens * heads * 2 * pairs
    assert found.flops.item() == counter.operations
    assert moved(found) == {"x": 2 * n, "table": 4 * len(angles), "out": 2 * n}
    assert found.placement.dtype == "fp32"
