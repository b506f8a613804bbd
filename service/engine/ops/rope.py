"""Rotary position embedding: each pair of elements of a head is turned by an angle of its position.

operations  3·tokens·heads·head_dim on the vector unit: four multiplies and two adds for each pair
traffic     x read and out written once; the table of sines and cosines, tokens·head_dim elements, read once for all heads
Source      counted from the definition in Su et al. 2021, "RoFormer", eq. 34
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..demand import Demand, row_pass
from ..registry import op
from ..term import Formulas, Term, choice, dim

FORMULAS = Formulas(
    flops="3·tokens·heads·head_dim",
    elements={"x": "tokens·heads·head_dim", "table": "tokens·head_dim", "out": "tokens·heads·head_dim"},
    source="Su et al. 2021, eq. 34: four multiplies and two adds for each pair",
)


@op("rope")
@dataclass(frozen=True, kw_only=True)
class Rope(Term):
    tokens: Real = dim("positions, over all sequences")
    heads: Real = dim("heads that are turned: queries and keys together, or either")
    head_dim: Real = dim("width of a head")
    dtype: str | None = choice("format of x and out, and of the table unless table_dtype is given")
    table_dtype: str | None = choice("format of the sines and cosines (dtype)")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (the promotion of the formats of x and the table)", "class")

    example: ClassVar = {"tokens": 4096, "heads": 72, "head_dim": 128, "dtype": "bf16"}

    @property
    def factors(self) -> tuple[str, ...]:
        return ("x", "table")

    @property
    def grows(self) -> tuple[str, ...]:
        return ("tokens", "heads", "head_dim")

    def demand(self) -> Demand:
        t, h, d = self.tokens, self.heads, self.head_dim
        return row_pass(operations=3.0 * t * h * d, reads={"x": (t, h, d), "table": (t, d)}, writes={"out": (t, h, d)})

    def formulas(self) -> Formulas:
        return FORMULAS
