"""Transpose: out[cols, rows] = X[rows, cols]ᵀ.

operations  none
traffic     X read once, out written once, as whole blocks: a kernel that stages tiles on the chip wastes no sector
Source      counted from the definition
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..demand import Demand, moves
from ..registry import op
from ..rowwise import OnRows
from ..term import Formulas, choice

FORMULAS = Formulas(
    flops="0",
    elements={"x": "rows·cols", "out": "cols·rows"},
    source="counted from the definition: every element read and written once",
)


@op("transpose")
@dataclass(frozen=True, kw_only=True)
class Transpose(OnRows):
    dtype: str | None = choice("format of x and out")

    example: ClassVar = {"rows": 8192, "cols": 4096, "dtype": "bf16"}

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return moves(reads={"x": (b, d)}, writes={"out": (d, b)})

    def formulas(self) -> Formulas:
        return FORMULAS
