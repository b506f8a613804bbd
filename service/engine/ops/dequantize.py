"""Dequantize: out = X · scale in a wider format, the scales read beside X.

operations  rows·cols on the vector unit: one multiply for each element; zero points add one more
traffic     X and its scales read once, out written once
scales      one per group of `group_size` along the row or one per block, in x_scale; formats like mxfp8 bring their own
Source      counted from the definition; OCP Microscaling Formats 1.0, section 5.1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..demand import Demand, row_pass
from ..formats import Scale
from ..registry import op
from ..rowwise import OnRows
from ..term import REQUIRED, Formulas, choice


@op("dequantize")
@dataclass(frozen=True, kw_only=True)
class Dequantize(OnRows):
    dtype: str = choice("format of x", default=REQUIRED)
    out_dtype: str = choice("format of out, in which the op computes", default=REQUIRED)
    x_scale: Scale | None = choice("scales read beside x", "scale")
    compute_dtype: str | None = choice("arithmetic class (that of out_dtype)", "class")

    example: ClassVar = {
        "rows": 4096,
        "cols": 8192,
        "dtype": "int4",
        "out_dtype": "bf16",
        "x_scale": {"group_size": 128, "dtype": "fp16"},
    }

    @property
    def factors(self) -> tuple[str, ...]:
        return ("out",)

    @property
    def operations(self) -> int:
        """Operations for each element."""
        return 2 if self.x_scale is not None and self.x_scale.zero_point_dtype is not None else 1

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return row_pass(operations=float(self.operations) * b * d, reads={"x": (b, d)}, writes={"out": (b, d)})

    def formulas(self) -> Formulas:
        return Formulas(
            flops=f"{self.operations}·rows·cols",
            elements={"x": "rows·cols", "out": "rows·cols"},
            source="counted from the definition: a multiply, and an add where there are zero points, for each element",
        )
