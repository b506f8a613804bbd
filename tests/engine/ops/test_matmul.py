"""Matrix multiplication as the textbook counts it. Letters as there: X[B, D] @ Y[D, F], so m = B, k = D, n = F."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine import batch
from service.engine.arrays import column
from service.engine.ops.matmul import Matmul
from service.errors import InvalidInput

from ..asking import ask, bounds, intensity, term, threshold
from ..chips import EVERYTHING, V5E, machine

DIM = st.integers(1, 40)


def twin(m: int, k: int, n: int, batch: int) -> tuple[int, dict[str, int]]:
    """Operations and elements of a batch of products, counted in the loops that would compute them."""
    operations, read_a, read_b, written = 0, set(), set(), set()
    for p in range(batch):
        for i in range(m):
            for j in range(n):
                written.add((p, i, j))
                for at in range(k):
                    operations += 2  # one multiply, one add
                    read_a.add((p, i, at))
                    read_b.add((p, at, j))
    return operations, {"a": len(read_a), "b": len(read_b), "out": len(written)}


@given(m=st.integers(1, 6), k=st.integers(1, 6), n=st.integers(1, 6), pairs=st.integers(1, 3))
def test_operations_and_elements_are_those_of_the_loops(m: int, k: int, n: int, pairs: int) -> None:
    found = ask("matmul", EVERYTHING, m=m, k=k, n=n, batch=pairs, dtype="int8")
    operations, elements = twin(m, k, n, pairs)
    assert found.flops.item() == operations
    assert {name: each.item() for name, each in found.bytes.items()} == elements
    assert found.vector_flops.item() == 0


def test_a_product_of_two_to_the_21_does_not_wrap() -> None:
    """2·(2²¹)³ is 2⁶⁴, which a 64-bit integer holds as 0."""
    found = ask("matmul", V5E, m=2**21, k=2**21, n=2**21, dtype="bf16")
    assert found.flops.item() == 2.0**64
    assert bounds(found) == ["compute"]


@given(m=DIM, k=DIM, n=DIM, scale=st.sampled_from([2, 4, 8]))
def test_s_times_every_dim_is_s_cubed_the_work_and_s_squared_the_bytes(m: int, k: int, n: int, scale: int) -> None:
    small = ask("matmul", V5E, m=m, k=k, n=n, dtype="bf16")
    large = ask("matmul", V5E, m=m * scale, k=k * scale, n=n * scale, dtype="bf16")
    assert large.times.math.item() == scale**3 * small.times.math.item()
    assert large.times.hbm.item() == scale**2 * small.times.hbm.item()


def test_each_operand_is_itemised() -> None:
    """2BD + 2DF + 2BF bytes in bf16; How To Scale Your Model, ch. 1."""
    found = ask("matmul", V5E, m=64, k=8192, n=4096, dtype="bf16")
    assert {name: each.item() for name, each in found.bytes.items()} == {"a": 1_048_576, "b": 67_108_864, "out": 524_288}
    assert found.bytes_total.item() == 68_681_728


def test_the_output_is_counted_as_it_is_written_not_as_it_is_summed() -> None:
    found = ask("matmul", EVERYTHING, m=64, k=8192, n=4096, a_dtype="int8", b_dtype="int8", out_dtype="int32")
    assert found.bytes["out"].item() == 4 * 64 * 4096


def test_a_turn_at_the_ridge_point_when_the_weights_dominate() -> None:
    """With k, n ≫ m the intensity tends to m; the ridge of this chip is at 200 FLOP/B."""
    chip = machine({"bf16": 2e14}, 1e12)
    assert bounds(ask("matmul", chip, m=[150, 250], k=1_000_000, n=1_000_000, dtype="bf16")) == ["hbm", "compute"]


def test_a_column_of_batches_has_one_matrix_of_weights_per_sample() -> None:
    """Intensity 2/(1 + 1/F + 1/D) whatever B, and no number of samples changes the verdict. How To Scale Your Model, ch. 1, problem 4."""
    found = ask("matmul", V5E, batch=[1, 16, 4096], m=1, k=4096, n=4096, dtype="int8")
    assert intensity(found) == pytest.approx([2 / (1 + 2 / 4096)] * 3, rel=1e-15)
    assert bounds(found) == ["hbm"] * 3
    assert [math.isnan(each) for each in threshold(found, "batch").exact] == [True] * 3


@given(m=DIM, k=st.integers(1, 5000), n=st.integers(1, 5000), b=st.sampled_from(["bf16", "int8", "int4", "mxfp4"]))
def test_the_approximation_overstates_the_intensity_by_the_share_of_a_and_out(m: int, k: int, n: int, b: str) -> None:
    """approximate / exact = 1 + (a·m/n + o·m/k)/w with a, o, w bytes per element; here from the bytes as counted."""
    found = ask("matmul", V5E, m=m, k=k, n=n, dtype="bf16", b_dtype=b)
    weights = found.bytes["b"].item()
    assert found.approximation is not None
    assert found.approximation.item() == 2 * m * k * n / weights
    ratio = found.approximation.item() / intensity(found).item()
    assert ratio == pytest.approx(1 + (found.bytes["a"].item() + found.bytes["out"].item()) / weights, rel=1e-12)
    assert ratio > 1


def test_rows_follow_from_sequences() -> None:
    asked = term("matmul", sequences=512, sequence_length=4096, replicas=128, k=64, n=64, dtype="bf16")
    assert batch.evaluate(asked, V5E).bytes["a"].item() == 16_384 * 64 * 2
    assert asked.derived == {"m"}


@pytest.mark.parametrize(
    ("members", "pointer", "code"),
    [
        ({}, "/m", "missing"),
        ({"m": 1, "sequences": 2, "sequence_length": 3}, "/m", "invalid-request"),
        ({"sequences": 2}, "/sequence_length", "missing"),
        ({"sequence_length": 2}, "/sequences", "missing"),
        ({"m": 4, "replicas": 2}, "/m", "invalid-request"),
    ],
)
def test_rows_are_given_once(members: dict[str, int], pointer: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        term("matmul", **members, k=8, n=8, dtype="bf16")
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [(pointer, code)]


def test_rows_are_unknown_until_the_term_is_resolved() -> None:
    asked = Matmul(k=column(8), n=column(8), dtype="bf16")
    with pytest.raises(ValueError, match="resolved"):
        asked.demand()
