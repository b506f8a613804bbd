"""Quantize: out = round(X / scale) in a narrower format, the scales found from X and written beside it.

operations  4·rows·cols on the vector unit: absolute value and maximum for the scale, multiply by its inverse, round
traffic     X read once (a group stays on the chip between its two passes), out and its scales written once
scales      one per group of `group_size` along the row or one per block, in out_scale; formats like mxfp8 bring their own
Source      counted from the definition; OCP Microscaling Formats 1.0, section 6.3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..demand import Demand, row_pass
from ..formats import Scale
from ..registry import op
from ..rowwise import OnRows
from ..term import REQUIRED, Formulas, choice

FORMULAS = Formulas(
    flops="4·rows·cols",
    elements={"x": "rows·cols", "out": "rows·cols"},
    source="counted from the definition: absolute value, maximum, multiply, round for each element",
)


@op("quantize")
@dataclass(frozen=True, kw_only=True)
class Quantize(OnRows):
    dtype: str = choice("format of x", default=REQUIRED)
    out_dtype: str = choice("format of out", default=REQUIRED)
    out_scale: Scale | None = choice("scales written beside out", "scale")
    compute_dtype: str | None = choice("arithmetic class (that of dtype)", "class")

    example: ClassVar = {
        "rows": 4096,
        "cols": 8192,
        "dtype": "bf16",
        "out_dtype": "fp8_e4m3",
        "out_scale": {"group_size": 128, "dtype": "fp32"},
    }

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return row_pass(operations=4.0 * b * d, reads={"x": (b, d)}, writes={"out": (b, d)})

    def formulas(self) -> Formulas:
        return FORMULAS
