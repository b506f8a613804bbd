"""What a term needs, free of hardware and of number formats: operands in elements, operations by unit.

Ops build their demand here and never import each other: `matrix_product` and `row_pass` return demands that add, so that an op
made of two products and a softmax is the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .arrays import Real, constant, product

NOTHING: Real = np.zeros(1)
"""No operations, or no time, in every row."""
NOTHING.setflags(write=False)

TWO = constant(2.0)

Shape = tuple[Real, ...]


class Operand(NamedTuple):
    """An array that the op reads or writes once from HBM."""

    name: str
    shape: Shape
    """dims in the operand's own order [elements]"""
    written: bool = False
    along: tuple[int, ...] = (-1,)
    """axes of `shape` along which group scales run (the contraction of a product, else the innermost)"""
    uncut: int = 0
    """outermost dims that a block of scales does not cut (the batch of a product)"""

    @property
    def elements(self) -> Real:
        return product(self.shape)

    @property
    def cut_dims(self) -> int:
        """How many dims a block of scales has."""
        return len(self.shape) - self.uncut


class Gemm(NamedTuple):
    """A batch of matrix products [m, k] x [k, n]."""

    m: Real
    k: Real
    n: Real
    batch: Real


@dataclass(frozen=True)
class Demand:
    """Operands by names of their own, operations of each unit, None where the op has no work for it."""

    operands: tuple[Operand, ...]
    matrix_operations: Real | None = None
    """FLOP on the matrix unit, one multiply or one add each"""
    vector_operations: Real | None = None
    """FLOP on the vector unit"""
    gemms: tuple[Gemm, ...] = ()
    """the matrix products, in the order in which they run"""
    is_plain_product: bool = False
    """whether the operands are a, b and out of the one product, in this order and with no element that it does not use"""

    @property
    def has_product(self) -> bool:
        return self.matrix_operations is not None

    @property
    def has_arithmetic(self) -> bool:
        return self.matrix_operations is not None or self.vector_operations is not None

    @property
    def flops(self) -> Real:
        """Operations of the unit that the op is judged by: the matrix unit where it has a product, else the vector unit [FLOP]."""
        return self.vector_flops if self.matrix_operations is None else self.matrix_operations

    @property
    def vector_flops(self) -> Real:
        """Operations of the vector unit [FLOP]."""
        return NOTHING if self.vector_operations is None else self.vector_operations

    def __add__(self, other: Demand) -> Demand:
        """Both, one after the other. What they share must have one name in one of them: bytes are counted by operand."""
        names = [each.name for each in (*self.operands, *other.operands)]
        if len(set(names)) < len(names):
            raise ValueError(f"two operands have one name: {', '.join(names)}")
        return Demand(
            operands=self.operands + other.operands,
            matrix_operations=_sum(self.matrix_operations, other.matrix_operations),
            vector_operations=_sum(self.vector_operations, other.vector_operations),
            gemms=self.gemms + other.gemms,
        )


def _sum(one: Real | None, other: Real | None) -> Real | None:
    if one is None or other is None:
        return one if other is None else other
    return one + other


def matrix_product(gemm: Gemm, a: Operand, b: Operand, out: Operand, *, is_plain: bool = True) -> Demand:
    """out = a · b: 2·batch·m·k·n operations, each operand moved once; not plain where the rows of a matrix overlap in memory.

    Source: How to Scale Your Model, "All About Rooflines", matrix multiplication; the k-1 adds are counted as k, as there.
    """
    operations = TWO * (gemm.batch * gemm.m * gemm.k * gemm.n)
    return Demand((a, b, out), matrix_operations=operations, gemms=(gemm,), is_plain_product=is_plain)


def row_pass(*, operations: Real, reads: Mapping[str, Shape], writes: Mapping[str, Shape]) -> Demand:
    """One pass over rows on the vector unit: every array named is moved once, `operations` [FLOP] in all."""
    return Demand(_arrays(reads, writes), vector_operations=operations)


def moves(*, reads: Mapping[str, Shape], writes: Mapping[str, Shape]) -> Demand:
    """Arrays that are moved once each, and no arithmetic."""
    return Demand(_arrays(reads, writes))


def _arrays(reads: Mapping[str, Shape], writes: Mapping[str, Shape]) -> tuple[Operand, ...]:
    read = [Operand(name, shape) for name, shape in reads.items()]
    return (*read, *[Operand(name, shape, written=True) for name, shape in writes.items()])
