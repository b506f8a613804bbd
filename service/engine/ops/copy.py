"""Copy of an array X[rows, cols].

operations  none
traffic     X read once, out written once
Source      counted from the definition; McCalpin 1995, STREAM, copy
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..demand import Demand, moves
from ..registry import op
from ..term import Formulas, Term, choice, dim

FORMULAS = Formulas(
    flops="0",
    elements={"x": "rows·cols", "out": "rows·cols"},
    source="counted from the definition: every element read and written once",
)


@op("copy")
@dataclass(frozen=True, kw_only=True)
class Copy(Term):
    rows: Real = dim("rows")
    cols: Real = dim("width of a row")
    dtype: str | None = choice("format of x and out")

    example: ClassVar = {"rows": 8192, "cols": 8192, "dtype": "bf16"}

    @property
    def factors(self) -> tuple[str, ...]:
        return ("x",)

    @property
    def grows(self) -> tuple[str, ...]:
        return ("rows", "cols")

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return moves(reads={"x": (b, d)}, writes={"out": (b, d)})

    def formulas(self) -> Formulas:
        return FORMULAS
