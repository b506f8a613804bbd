"""Reduction of each row to one element: out[b] = X[b, 0] ∘ X[b, 1] ∘ …, where ∘ is an add or a maximum.

operations  rows·(cols − 1) on the vector unit
traffic     X read once, one element per row written
Source      counted from the definition
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..demand import Demand, row_pass
from ..registry import op
from ..rowwise import Rowwise
from ..term import Formulas

FORMULAS = Formulas(
    flops="rows·(cols − 1)",
    elements={"x": "rows·cols", "out": "rows"},
    source="counted from the definition: one operation for each element after the first of its row",
)


@op("reduce")
@dataclass(frozen=True, kw_only=True)
class Reduce(Rowwise):
    example: ClassVar = {"rows": 4096, "cols": 8192, "dtype": "fp32"}

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return row_pass(operations=b * (d - 1.0), reads={"x": (b, d)}, writes={"out": (b,)})

    def formulas(self) -> Formulas:
        return FORMULAS
