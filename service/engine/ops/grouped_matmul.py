"""Grouped matrix multiplication of a mixture of experts: each token's row goes through the weights of its top_k experts.

    out[i, n] = a[i, k] · b[expert(i), k, n]      for the tokens·top_k rows i, one per token and chosen expert

operations  2·tokens·top_k·k·n on the matrix unit
traffic     a has a row for each token and chosen expert; of b only experts that have a row are read: with balanced routing
            min(experts, tokens·top_k) of them; out has a row like a
approximate where tokens ≪ k, n only b's bytes matter: intensity → 2·tokens·top_k / (experts · bytes per element of b)
ignored     the routing, the sorting of rows and the weighted sum of a token's experts
Source      How to Scale Your Model, "All About Inference", mixture of experts; Shazeer et al. 2017, "Outrageously Large Neural
            Networks", section 2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import Fault
from ..arrays import Real
from ..demand import Demand, Gemm, Operand
from ..formats import Scale, quantised_faults
from ..registry import op
from ..term import Formulas, Term, choice, dim

FORMULAS = Formulas(
    flops="2·tokens·top_k·k·n",
    elements={"a": "tokens·top_k·k", "b": "min(experts, tokens·top_k)·k·n", "out": "tokens·top_k·n"},
    source="How to Scale Your Model, All About Inference: mixture of experts, balanced routing",
)


@op("grouped_matmul")
@dataclass(frozen=True, kw_only=True)
class GroupedMatmul(Term):
    tokens: Real = dim("tokens that are routed")
    experts: Real = dim("experts whose weights are held")
    top_k: Real = dim("experts of each token")
    k: Real = dim("contracted dim: columns of a, rows of each expert's weights")
    n: Real = dim("columns of each expert's weights and of out")
    dtype: str | None = choice("format of a, b and out")
    a_dtype: str | None = choice("format of a (dtype)")
    b_dtype: str | None = choice("format of b (dtype)")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (the promotion of a's and b's formats)", "class")
    a_scale: Scale | None = choice("scales stored beside a, along k or per block of (row, k)", "scale")
    b_scale: Scale | None = choice("scales stored beside b, along k or per block of (k, n)", "scale")
    a_quantized_from: str | None = choice("format in which a arrives before it is quantised on the way; costs time in the estimate alone")

    example: ClassVar = {"tokens": 512, "experts": 128, "top_k": 8, "k": 4096, "n": 1536, "dtype": "bf16"}
    factors = ("a", "b")
    approximates = "tokens"
    grows = ("tokens",)

    def demand(self) -> Demand:
        rows, k, n, read = self.tokens * self.top_k, self.k, self.n, self._read
        return Demand(
            (
                Operand("a", (rows, k)),
                Operand("b", (read, k, n), along=(-2,), uncut=1),
                Operand("out", (rows, n), written=True),
            ),
            matrix_operations=2.0 * (rows * k * n),
            gemms=(Gemm(m=rows / read, k=k, n=n, batch=read),),
            is_plain_product=True,
        )

    def residents(self) -> tuple[Operand, ...]:
        """The weights of all experts: which of them have a row is known only at run time."""
        a, b, out = self.demand().operands
        return a, b._replace(shape=(self.experts, self.k, self.n)), out

    @property
    def _read(self) -> Real:
        """Experts of which the weights are read. No tokens, where only thresholds look, continue the line of many: all experts."""
        rows = self.tokens * self.top_k
        return np.where(rows > 0.0, np.minimum(self.experts, rows), self.experts)

    def formulas(self) -> Formulas:
        return FORMULAS

    def approximation(self, flops: Real, moved: Mapping[str, Real]) -> Real:
        """2·tokens·top_k / (experts·w), w the bytes of one element of b with its scales, once all experts are read [FLOP/B]."""
        return flops / (moved["b"] * (self.experts / self._read))

    def answer(self, variable: str, value: Real) -> Real:
        """A threshold holds where all experts have a row; with fewer tokens each brings weights of its own, and none exists."""
        return np.where(value * self.top_k >= self.experts, value, np.nan)

    def faults(self) -> list[Fault]:
        faults = quantised_faults(self.a_quantized_from, self.a_dtype or self.dtype)
        more = self.top_k > self.experts
        if more.any():
            faults.append(Fault(self.pointer_to_first(more, "top_k", "experts"), "out-of-range", "A token has at most all of the experts."))
        return faults
