"""Cast: out = X in another format, without scales.

operations  none: a conversion is neither a multiply nor an add, and rides along with the load and the store
traffic     X read once in its format, out written once in its own
Source      counted from the definition
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..demand import Demand, moves
from ..registry import op
from ..rowwise import OnRows
from ..term import REQUIRED, Formulas, choice

FORMULAS = Formulas(
    flops="0",
    elements={"x": "rows·cols", "out": "rows·cols"},
    source="counted from the definition: every element read and written once",
)


@op("cast")
@dataclass(frozen=True, kw_only=True)
class Cast(OnRows):
    dtype: str = choice("format of x", default=REQUIRED)
    out_dtype: str = choice("format of out", default=REQUIRED)

    example: ClassVar = {"rows": 8192, "cols": 8192, "dtype": "fp32", "out_dtype": "bf16"}

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return moves(reads={"x": (b, d)}, writes={"out": (b, d)})

    def formulas(self) -> Formulas:
        return FORMULAS
