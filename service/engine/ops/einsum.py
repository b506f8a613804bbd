"""Einstein summation, e.g. "bd,df->bf": out = Σ over the indices that out lacks of the product of the operands.

operations  with two or more operands 2·(product of all distinct dims) when an index is summed, without the 2 when none is;
            one operand alone multiplies nothing: one add per element when it is summed, none when its dims only change places
unit        the matrix unit when two operands share a summed index and each keeps an index that the other lacks, else the vector unit
traffic     every operand read once, out written once; nothing between the operands is stored
Source      How to Scale Your Model, "All the Transformer Math You Need to Know", FLOPs of einsum
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Self

import numpy as np

from ...errors import Fault, InvalidInput, refuse
from ..arrays import Real, product
from ..demand import Demand, Gemm, Operand
from ..formats import Scale
from ..registry import op
from ..term import REQUIRED, Formulas, Term, choice

EQUATION = re.compile(r"[A-Za-z]+(,[A-Za-z]+)*->[A-Za-z]*")
NAMES = tuple("abcdefghijklmnopqrstuvwxyz")
SOURCE = "How to Scale Your Model, All the Transformer Math: 2 · the product of all distinct dims"


@dataclass(frozen=True)
class Equation:
    """An einsum in explicit form, each index at most once per operand."""

    operands: tuple[str, ...]
    out: str

    @property
    def indices(self) -> tuple[str, ...]:
        """All distinct indices, in the order of appearance."""
        return tuple(dict.fromkeys("".join(self.operands)))

    @property
    def summed(self) -> frozenset[str]:
        return frozenset(self.indices) - frozenset(self.out)

    @property
    def is_copy(self) -> bool:
        """One operand of which nothing is summed: its dims only change places."""
        return len(self.operands) == 1 and not self.summed

    @property
    def is_plain_product(self) -> bool:
        """Whether it is a batch of products of two matrices: every index is of two of a, b and the result, or of all three."""
        parts = (*self.operands, self.out)
        return len(self.operands) == 2 and all(sum(index in part for part in parts) > 1 for index in self.indices)

    @property
    def pair(self) -> tuple[str, str, frozenset[str]] | None:
        """The first two operands that share a summed index while each keeps an index that the other lacks, and what they keep.

        They keep what the result has, or another operand: in a chain of products, what the next product sums.
        """
        for at, to in combinations(range(len(self.operands)), 2):
            x, y = self.operands[at], self.operands[to]
            others = (part for place, part in enumerate(self.operands) if place not in {at, to})
            kept = frozenset(self.out).union(*others)
            if self.summed & set(x) & set(y) and (kept & set(x)) - set(y) and (kept & set(y)) - set(x):
                return x, y, kept
        return None


def read(text: str) -> Equation:
    """The equation in `text`, blanks ignored. Raises `InvalidInput` (wrong-type) at /equation."""
    compact = text.replace(" ", "")
    if not EQUATION.fullmatch(compact):
        raise _refused('An equation reads like "bd,df->bf": letters, a comma between operands, "->" before the result.')
    left, out = compact.split("->")
    equation = Equation(tuple(left.split(",")), out)
    if any(len(set(part)) != len(part) for part in (*equation.operands, out)):
        raise _refused("An index stands at most once in each operand and in the result.")
    if not set(out) <= set(equation.indices):
        raise _refused("Every index of the result must stand in an operand.")
    if len(equation.operands) > len(NAMES):
        raise _refused(f"At most {len(NAMES)} operands are read.")
    return equation


def _refused(detail: str) -> InvalidInput:
    return refuse("/equation", "wrong-type", detail)


@op("einsum")
@dataclass(frozen=True, kw_only=True)
class Einsum(Term):
    equation: str = choice('what is summed, like "bd,df->bf"', "equation", default=REQUIRED)
    dims: Mapping[str, Real] = choice("the size of each index", "sizes", default=REQUIRED)
    dtype: str | None = choice("format of all operands and of out")
    a_dtype: str | None = choice("format of the first operand (dtype)")
    b_dtype: str | None = choice("format of the second operand (dtype)")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (the promotion of the operands' formats)", "class")
    a_scale: Scale | None = choice("scales stored beside the first operand, along its summed indices or per block", "scale")
    b_scale: Scale | None = choice("scales stored beside the second operand, along its summed indices or per block", "scale")

    example: ClassVar = {"equation": "bd,df->bf", "dims": {"b": 512, "d": 8192, "f": 28672}, "dtype": "bf16"}

    @property
    def parts(self) -> Equation:
        return read(self.equation)

    @property
    def factors(self) -> tuple[str, ...]:
        return NAMES[: len(self.parts.operands)]

    @property
    def grows(self) -> tuple[str, ...]:
        return self.parts.indices

    @property
    def batch_dim(self) -> str | None:
        """The first index of the result; None where everything is summed."""
        return self.parts.out[:1] or None

    def columns(self) -> dict[str, Real]:
        return dict(self.dims)

    def with_columns(self, columns: Mapping[str, Real]) -> Self:
        return dataclasses.replace(self, dims={**self.dims, **columns})

    def pointer_to_row(self, index: int) -> str:
        return (at := super().pointer_to_row(index)) and f"/dims{at}"

    def demand(self) -> Demand:
        equation = self.parts
        operands = tuple(self._operand(name, part, equation.summed) for name, part in zip(self.factors, equation.operands, strict=True))
        out = self._operand("out", equation.out, frozenset())._replace(written=True)
        if equation.is_copy:
            return Demand((*operands, out))
        operations = self._operations(equation)
        if equation.pair is None:
            return Demand((*operands, out), vector_operations=operations)
        gemms = (self._gemm(*equation.pair, equation),)
        return Demand((*operands, out), matrix_operations=operations, gemms=gemms, is_plain_product=equation.is_plain_product)

    def _size(self, indices: Iterable[str]) -> Real:
        return product((np.ones(1), *(self.dims[index] for index in indices)))

    def _operand(self, name: str, part: str, summed: frozenset[str]) -> Operand:
        """Group scales run along the summed indices, or along the last index of an operand that has none."""
        along = tuple(axis for axis, index in enumerate(part) if index in summed) or (-1,)
        return Operand(name, tuple(self.dims[index] for index in part) or (np.ones(1),), along=along)

    def _operations(self, equation: Equation) -> Real:
        points = self._size(equation.indices)
        return points * (2.0 if equation.summed and len(equation.operands) > 1 else 1.0)

    def _gemm(self, x: str, y: str, kept: frozenset[str], equation: Equation) -> Gemm:
        """The product of the two operands that make it one; indices of further operands repeat it."""
        rows = [i for i in x if i in kept and i not in y]
        cols = [i for i in y if i in kept and i not in x]
        inner = [i for i in x if i in y and i in equation.summed]
        rest = [i for i in equation.indices if i not in {*rows, *cols, *inner}]
        return Gemm(self._size(rows), self._size(inner), self._size(cols), self._size(rest))

    def formulas(self) -> Formulas:
        equation = self.parts
        points = "·".join(equation.indices)
        double = "2·" if equation.summed and len(equation.operands) > 1 else ""
        flops = "0" if equation.is_copy else double + points
        parts = {**dict(zip(self.factors, equation.operands, strict=True)), "out": equation.out}
        return Formulas(flops, {name: "·".join(part) or "1" for name, part in parts.items()}, SOURCE)

    def faults(self) -> list[Fault]:
        equation = self.parts
        faults = [
            Fault(f"/dims/{index}", "missing", "Every index of the equation needs a size.")
            for index in equation.indices
            if index not in self.dims
        ]
        faults += [
            Fault(f"/dims/{index}", "unknown-member", "The equation has no such index.", equation.indices)
            for index in self.dims
            if index not in equation.indices
        ]
        if len(equation.operands) == 1:
            alone = "The equation has one operand."
            faults += [Fault(f"/{name}", "invalid-request", alone) for name in ("b_dtype", "b_scale") if getattr(self, name) is not None]
        return faults

    def resolved(self) -> Self:
        equation = self.parts
        return super().resolved()._replaced({"equation": f"{','.join(equation.operands)}->{equation.out}"})
