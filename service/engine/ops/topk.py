"""Top-k: the k largest elements of each row, with their places.

operations  rows·cols on the vector unit: each element is compared once, which is the least that any selection needs
traffic     X read once; k values and k 4-byte places written for each row
Source      counted from the definition
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...errors import Fault
from ..arrays import Real
from ..demand import Demand, row_pass
from ..registry import op
from ..rowwise import Rowwise
from ..term import Formulas, dim

FORMULAS = Formulas(
    flops="rows·cols",
    elements={"x": "rows·cols", "out": "rows·k", "places": "rows·k"},
    source="counted from the definition: one comparison for each element",
)


@op("topk")
@dataclass(frozen=True, kw_only=True)
class TopK(Rowwise):
    k: Real = dim("elements kept of each row, at most cols")

    example: ClassVar = {"rows": 4096, "cols": 128256, "k": 50, "dtype": "fp32"}
    fixed: ClassVar = {"places": "int32"}

    @property
    def grows(self) -> tuple[str, ...]:
        return ("rows",)

    def demand(self) -> Demand:
        b, d, k = self.rows, self.cols, self.k
        return row_pass(operations=b * d, reads={"x": (b, d)}, writes={"out": (b, k), "places": (b, k)})

    def formulas(self) -> Formulas:
        return FORMULAS

    def faults(self) -> list[Fault]:
        is_short = self.cols < self.k
        if not is_short.any():
            return []
        return [Fault(self._pointer(int(is_short.argmax())), "out-of-range", "A row has fewer than k elements.")]

    def _pointer(self, row: int) -> str:
        """Where the k of `row` stands, or what it is held against where k is one number and cols a list."""
        listed = next((name for name in ("k", "cols") if self.__dict__[name].size > 1), None)
        return "/k" if listed is None else f"/{listed}/{row}"
