"""What a term needs, free of hardware and of number formats: operands in elements, operations by unit.

Ops build their demand here and never import each other: `matrix_product` and `row_pass` return demands that add, so that an op
made of two products and a softmax is the sum of theirs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .arrays import Real, product

ZERO: Real = np.zeros(1)
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
    operands: tuple[Operand, ...]
    matrix_operations: Real = field(default_factory=lambda: ZERO)
    """FLOP on the matrix unit, one multiply or one add each"""
    vector_operations: Real = field(default_factory=lambda: ZERO)
    """FLOP on the vector unit"""
    gemm: Gemm | None = None

    @property
    def has_product(self) -> bool:
        return self.gemm is not None

    @property
    def flops(self) -> Real:
        """Operations of the unit that the op is judged by: the matrix unit where it has a product, else the vector unit [FLOP]."""
        return self.matrix_operations if self.has_product else self.vector_operations

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            operands=self.operands + other.operands,
            matrix_operations=self.matrix_operations + other.matrix_operations,
            vector_operations=self.vector_operations + other.vector_operations,
            gemm=self.gemm or other.gemm,
        )


def matrix_product(gemm: Gemm, a: Operand, b: Operand, out: Operand) -> Demand:
    """out = a · b: 2·batch·m·k·n operations, each operand moved once.

    Source: How to Scale Your Model, "All About Rooflines", matrix multiplication; the k-1 adds are counted as k, as there.
    """
    operations = 2.0 * (gemm.batch * gemm.m * gemm.k * gemm.n)
    return Demand(operands=(a, b, out), matrix_operations=operations, gemm=gemm)


def row_pass(*, operations: Real, reads: Mapping[str, Shape], writes: Mapping[str, Shape]) -> Demand:
    """One pass over rows on the vector unit: every array named is moved once, `operations` [FLOP] in all."""
    return dataclasses.replace(moves(reads=reads, writes=writes), vector_operations=operations)


def moves(*, reads: Mapping[str, Shape], writes: Mapping[str, Shape]) -> Demand:
    """Arrays that are moved once each, and no arithmetic."""
    return Demand(
        (
            *(Operand(name, shape) for name, shape in reads.items()),
            *(Operand(name, shape, written=True) for name, shape in writes.items()),
        )
    )
