"""Dot product of two vectors: out = Σ a[i]·b[i], i < n.

operations  2·n − 1 on the vector unit: n multiplies, n−1 adds
traffic     a and b read once, one element written
approximate for large n the intensity tends to 2 over the bytes of one element of a and one of b: 0.5 FLOP/B in bf16
Source      How to Scale Your Model, "All About Rooflines", dot product
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Real
from ..demand import Demand, row_pass
from ..registry import op
from ..term import Formulas, Term, choice, dim

FORMULAS = Formulas(
    flops="2·n − 1",
    elements={"a": "n", "b": "n", "out": "1"},
    source="How to Scale Your Model, All About Rooflines: dot product",
)


@op("dot")
@dataclass(frozen=True, kw_only=True)
class Dot(Term):
    n: Real = dim("length of both vectors")
    dtype: str | None = choice("format of a, b and out")
    a_dtype: str | None = choice("format of a (dtype)")
    b_dtype: str | None = choice("format of b (dtype)")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (the promotion of a's and b's formats)", "class")

    example: ClassVar = {"n": 1048576, "dtype": "bf16"}
    grows = ("n",)
    factors = ("a", "b")

    def demand(self) -> Demand:
        return row_pass(
            operations=2.0 * self.n - 1.0,
            reads={"a": (self.n,), "b": (self.n,)},
            writes={"out": (np.ones(1),)},
        )

    def formulas(self) -> Formulas:
        return FORMULAS

    def approximation(self, flops: Real, moved: Mapping[str, Real]) -> Real:
        """The limit for long vectors: the 2·n operations that the last add rounds up to, over the bytes of a and b [FLOP/B]."""
        return (flops + 1.0) / (moved["a"] + moved["b"])
