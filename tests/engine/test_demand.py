"""Demands that add: what an op of several products and passes needs is the sum of what each needs."""

from __future__ import annotations

import pytest

from service.engine.arrays import column
from service.engine.demand import Demand, Gemm, Operand, matrix_product, moves, row_pass

ROWS, DEPTH, HEAD = column(128.0), column(512.0), column(64.0)


def product(gemm: Gemm, a: str, b: str, out: str) -> Demand:
    return matrix_product(
        gemm,
        a=Operand(a, (gemm.m, gemm.k)),
        b=Operand(b, (gemm.k, gemm.n)),
        out=Operand(out, (gemm.m, gemm.n), written=True),
    )


SCORES = product(Gemm(ROWS, HEAD, DEPTH, column(1.0)), "q", "k", "scores")
WEIGHTED = product(Gemm(ROWS, DEPTH, HEAD, column(1.0)), "weights", "v", "out")
SOFTMAX = row_pass(operations=5.0 * ROWS * DEPTH, reads={"logits": (ROWS, DEPTH)}, writes={"shares": (ROWS, DEPTH)})


def test_two_products_and_a_pass_keep_both_products_and_the_work_of_both_units() -> None:
    """2·128·64·512 FLOP for each product, 5·128·512 for the pass."""
    whole = SCORES + SOFTMAX + WEIGHTED
    assert whole.gemms == (*SCORES.gemms, *WEIGHTED.gemms)
    assert whole.flops.item() == 2 * 2 * 128 * 64 * 512
    assert whole.vector_flops.item() == 5 * 128 * 512
    assert [each.name for each in whole.operands] == ["q", "k", "scores", "logits", "shares", "weights", "v", "out"]


def test_what_only_moves_adds_no_work() -> None:
    copied = moves(reads={"x": (ROWS,)}, writes={"y": (ROWS,)})
    assert not copied.has_arithmetic
    assert copied.flops.item() == 0
    assert (copied + SOFTMAX).flops is SOFTMAX.flops
    assert (SCORES + copied).flops is SCORES.flops
    assert not (copied + moves(reads={"z": (ROWS,)}, writes={})).has_arithmetic


def test_an_operand_counted_twice_is_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="two operands have one name"):
        SCORES + product(SCORES.gemms[0], "q", "v", "out")
