"""Laws that hold for every op of the registry; a new op is tested by existing."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.engine import batch
from service.engine.arrays import column
from service.engine.batch import in_chunks
from service.engine.levers import Levers, variants
from service.engine.machine import Machine
from service.engine.ops import OPS
from service.engine.report import ONE_CHIP, Report, report
from service.engine.term import LARGEST_DIM

from .asking import ask, bounds, intensity, term
from .chips import EVERYTHING
from .drawing import agreeing, at_row, examples, is_answered, numbers, questions, questions_in_columns, with_numbers

KINDS = pytest.mark.parametrize("kind", sorted(OPS))
FEW = settings(max_examples=10)

WINDOWS = {
    "stride": "longer steps leave fewer windows",
    "dilation": "wider kernels leave fewer windows",
    "padding": "a long step jumps over what is added",
    "groups": "each kernel sees fewer channels",
    "kernel": "more taps, but fewer windows",
}
NOT_GROWING = {
    ("embedding", "vocab"): "rows that are not gathered are not read",
    ("topk", "k"): "a row has no more than its cols",
    ("attention", "q_len"): "causal queries are no more than keys",
    ("attention", "kv_heads"): "heads is a multiple of it",
    ("mla", "q_len"): "causal queries are no more than keys",
    **{("mla", name): "one form or the other has no use for it" for name in ("latent_dim", "head_dim", "v_head_dim")},
    ("grouped_matmul", "top_k"): "a token has no more experts than there are",
    ("grouped_matmul", "experts"): "experts without a row are not read",
    **{
        (kind, name): WINDOWS[name.partition("_")[0]]
        for kind in ("conv1d", "conv2d", "conv3d")
        for name in OPS[kind].__dataclass_fields__  # type: ignore[attr-defined]
        if name.partition("_")[0] in WINDOWS
    },
}
"""Numbers with which an op does not always have more to do, and why."""


def leaves(found: Any, path: str = "") -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Every column of a report, by its path; levers by the name of their change."""
    if isinstance(found, np.ndarray):
        yield path, found
    for name, each in members_of(found):
        yield from leaves(each, f"{path}/{name}")


def members_of(found: Any) -> list[tuple[str, Any]]:
    if isinstance(found, Levers):
        changes = enumerate(found.changes)
        return [(change, {"lower": found.lower[at], "longest": found.longest[at], "speedup": found.speedup[at]}) for at, change in changes]
    if isinstance(found, Mapping):
        return list(found.items())
    if not isinstance(found, tuple):
        return []
    names = getattr(found, "_fields", [getattr(each, "variable", "") for each in found])
    return list(zip(names, found, strict=True))


def bits(found: Report, index: int) -> dict[str, bytes]:
    """The bits of one row of every column."""
    return {path: np.broadcast_to(values, (found.rows,))[index].tobytes() for path, values in leaves(found)}


@KINDS
@FEW
@given(data=st.data())
def test_a_row_of_a_column_is_the_answer_to_that_row_alone_bit_for_bit(kind: str, data: st.DataObject) -> None:
    members, lists = data.draw(questions_in_columns(kind, rows=3))
    together = ask(kind, EVERYTHING, **with_numbers(members, lists))
    assert together.rows == 3
    for at in range(3):
        alone = bits(ask(kind, EVERYTHING, **at_row(members, lists, at)), 0)
        row = bits(together, at)
        assert alone.items() <= row.items()
        assert all("/batch" in path for path in row.keys() - alone.keys())  # which a batch of one does not have


@KINDS
@FEW
@given(data=st.data(), chunk=st.integers(1, 4))
def test_the_size_of_the_chunks_changes_nothing(kind: str, data: st.DataObject, chunk: int) -> None:
    members, lists = data.draw(questions_in_columns(kind, rows=5))
    asked = term(kind, **with_numbers(members, lists))
    bandwidths = data.draw(st.lists(st.floats(1e9, 1e15), min_size=5, max_size=5))
    chips = Machine(EVERYTHING.matrix_peaks, EVERYTHING.vector_peaks, column(bandwidths))
    over = variants(asked)
    whole, parts = (in_chunks(asked, chips, ONE_CHIP, lambda t, m, f: report(t, m, over, f), rows) for rows in (8192, chunk))
    assert [bits(whole, at) for at in range(5)] == [bits(parts, at) for at in range(5)]


def test_a_batch_that_begins_after_the_first_chunk_is_answered() -> None:
    rows = [1] * 8192 + [2, 3]
    found = ask("matmul", EVERYTHING, m=16, k=64, n=64, batch=rows, dtype="bf16")
    last = ask("matmul", EVERYTHING, m=16, k=64, n=64, batch=3, dtype="bf16")
    assert found.rows == len(rows)
    assert bits(found, 8193) == bits(last, 0)


@KINDS
@FEW
@given(data=st.data())
def test_a_chip_per_row_is_the_same_as_one_chip_after_the_other(kind: str, data: st.DataObject) -> None:
    asked = term(kind, **data.draw(questions(kind)))
    speeds = data.draw(st.lists(st.floats(1e6, 1e18), min_size=3, max_size=3))
    chips = Machine(
        {name: peak * column(speeds) for name, peak in EVERYTHING.matrix_peaks.items()},
        {name: peak * column(speeds) for name, peak in EVERYTHING.vector_peaks.items()},
        column(speeds[::-1]),
    )
    together = batch.evaluate(asked, chips)
    for at in range(3):
        assert bits(together, at) == bits(batch.evaluate(asked, chips.cut(slice(at, at + 1))), 0)


@KINDS
@FEW
@given(data=st.data())
def test_demand_is_never_negative_and_grows_with_every_dim(kind: str, data: st.DataObject) -> None:
    members = data.draw(questions(kind))
    small = ask(kind, EVERYTHING, **members)
    assert small.flops.item() >= 0
    assert all(each.item() > 0 for each in small.bytes.values())
    assert small.bytes_total.item() == sum(each.item() for each in small.bytes.values())
    factor = 4 * members.get("replicas", 1)  # to be seen, growth must fill a byte, and what is dealt out reach every replica
    for name, value in numbers(kind, members).items():
        if (kind, name) in NOT_GROWING or (name == "kv_len" and "window" in members):
            continue
        large = ask(kind, EVERYTHING, **with_numbers(members, {name: factor * value}))
        assert large.flops.item() >= small.flops.item()
        assert all(large.bytes[operand].item() >= small.bytes[operand].item() for operand in small.bytes)
        assert large.flops.item() + large.bytes_total.item() > small.flops.item() + small.bytes_total.item()


@KINDS
@FEW
@given(data=st.data(), overlap=st.floats(0, 1))
def test_the_time_lies_between_the_largest_and_the_sum(kind: str, data: st.DataObject, overlap: float) -> None:
    found = ask(kind, EVERYTHING, overlap=overlap, **data.draw(questions(kind)))
    math_s, hbm_s, lower, upper = (each.item() for each in (found.times.math, found.times.hbm, found.lower, found.upper))
    assert lower == max(math_s, hbm_s) > 0
    assert upper == math_s + hbm_s
    assert lower <= upper <= 2 * lower
    assert lower <= found.overlapped.item() <= upper * (1 + 1e-15)


@KINDS
@FEW
@given(data=st.data())
def test_the_verdict_by_times_is_the_verdict_by_intensity(kind: str, data: st.DataObject) -> None:
    found = ask(kind, EVERYTHING, **data.draw(questions(kind)))
    if found.critical is None:
        assert bounds(found) == ["hbm"]
        return
    ratio = intensity(found).item() / found.critical.item()
    expected = "balanced" if math.isclose(ratio, 1, rel_tol=1e-9) else "compute" if ratio > 1 else "hbm"
    assert bounds(found) == [expected]


@KINDS
@FEW
@given(data=st.data())
def test_twice_every_rate_halves_the_times_and_leaves_verdict_and_thresholds(kind: str, data: st.DataObject) -> None:
    members = data.draw(questions(kind))
    twice = Machine(
        {name: 2 * peak for name, peak in EVERYTHING.matrix_peaks.items()},
        {name: 2 * peak for name, peak in EVERYTHING.vector_peaks.items()},
        2 * EVERYTHING.memory,
    )
    slow, fast = ask(kind, EVERYTHING, **members), ask(kind, twice, **members)
    assert (fast.lower * 2, fast.upper * 2) == (slow.lower, slow.upper)
    assert bounds(fast) == bounds(slow)
    for before, after in zip(slow.thresholds, fast.thresholds, strict=True):
        assert np.array_equal(before.exact, after.exact, equal_nan=True)


@KINDS
@FEW
@given(data=st.data())
def test_the_formulas_give_the_counts_when_numbers_are_put_in(kind: str, data: st.DataObject) -> None:
    asked = term(kind, **data.draw(questions(kind)))
    found, demand, formulas = batch.evaluate(asked, EVERYTHING), asked.demand(), asked.formulas()
    held = {name: Fraction(values.item()) for name, values in asked.columns().items()}
    assert is_counted(found.flops.item(), evaluated(formulas.flops, held))
    assert list(formulas.elements) == list(found.bytes)
    for operand in demand.operands:
        assert is_counted(operand.elements.item(), evaluated(formulas.elements[operand.name], held))


SYMBOLS = str.maketrans({"·": "*", "−": "-", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")"})
WORDS = {"ceil": math.ceil, "floor": math.floor, "min": min, "max": max}


def is_counted(count: float, exact: Fraction) -> bool:
    """Whether a count is the exact one, or beyond 2^53 its nearest neighbours."""
    return exact.denominator == 1 and (count == exact if exact <= LARGEST_DIM else math.isclose(count, exact, rel_tol=1e-14))


def evaluated(formula: str, held: Mapping[str, Fraction]) -> Fraction:
    """A formula of the textbook, computed exactly."""
    code = formula.translate(SYMBOLS)
    assert re.fullmatch(r"[\w\s*+\-/().,]+", code), formula
    value: int | Fraction = eval(code, {"__builtins__": {}, **WORDS}, dict(held))  # noqa: S307 - our own text
    return Fraction(value)


@KINDS
def test_every_op_says_what_it_counts_and_where_that_is_from(kind: str) -> None:
    cls = OPS[kind]
    heading, *rest = cls.description.splitlines()
    assert heading.endswith((".", ":")) or ":" in heading
    assert any(line.startswith("operations") for line in rest)
    assert any(line.startswith("traffic") for line in rest)
    assert any(re.match(r"Source\s+\w", line) for line in rest)
    assert term(kind, **cls.example).formulas().source
    assert all(field.metadata["meaning"] for field in dataclasses.fields(cls))  # type: ignore[arg-type]


@KINDS
def test_the_examples_work_as_they_stand(kind: str) -> None:
    assert all(is_answered(kind, members) for members in examples(kind))


@KINDS
def test_the_largest_numbers_give_finite_counts_or_are_found_too_large(kind: str) -> None:
    """Dims end at 2^53 − 1; a product of integers of that size would have wrapped."""
    for members, structural in itertools.product(examples(kind), (True, False)):
        known = [name for name in numbers(kind, members) if structural or (kind, name) not in NOT_GROWING]
        huge = agreeing(kind, with_numbers(members, dict.fromkeys(known, LARGEST_DIM)))
        found = ask(kind, EVERYTHING, **huge)
        assert batch.too_large(found) is None
        for path, values in leaves(found):
            assert np.isfinite(values).all() or "thresholds" in path, path
