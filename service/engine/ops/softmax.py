"""Softmax over each row: Y[b, d] = exp(X[b, d] − max X[b, :]) / Σ exp(X[b, :] − max X[b, :]).

operations  5·b·d on the vector unit: maximum, subtraction, exponential (as one), sum, division
traffic     X read once, Y written once: the row stays on the chip between its passes
Source      counted from the definition; Milakov & Gimelshein 2018, "Online normalizer calculation for softmax", algorithm 2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..demand import Demand, row_pass
from ..registry import op
from ..rowwise import Rowwise
from ..term import Formulas

FORMULAS = Formulas(
    flops="5·rows·cols",
    elements={"x": "rows·cols", "out": "rows·cols"},
    source="counted from the definition: max, subtract, exp, sum, divide for each element",
)


@op("softmax")
@dataclass(frozen=True, kw_only=True)
class Softmax(Rowwise):
    example: ClassVar = {"rows": 4096, "cols": 4096, "dtype": "bf16"}

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return row_pass(operations=5.0 * b * d, reads={"x": (b, d)}, writes={"out": (b, d)})

    def formulas(self) -> Formulas:
        return FORMULAS
