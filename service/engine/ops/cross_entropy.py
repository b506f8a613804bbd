"""Cross entropy of rows of logits: loss[b] = log Σ exp(X[b, :]) − X[b, target[b]].

operations  4·rows·cols on the vector unit: maximum, subtraction, exponential (as one), sum; the logarithm of each row is ignored
traffic     logits read once, 4-byte targets read, one fp32 loss per row written; gradients are an op of their own
Source      counted from the definition; Goodfellow, Bengio & Courville 2016, "Deep Learning", section 6.2.2.3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..demand import Demand, row_pass
from ..registry import op
from ..rowwise import OnRows
from ..term import Formulas, choice

FORMULAS = Formulas(
    flops="4·rows·cols",
    elements={"x": "rows·cols", "targets": "rows", "loss": "rows"},
    source="counted from the definition: max, subtract, exp, sum for each logit",
)


@op("cross_entropy")
@dataclass(frozen=True, kw_only=True)
class CrossEntropy(OnRows):
    dtype: str | None = choice("format of the logits")
    compute_dtype: str | None = choice("arithmetic class (that of dtype)", "class")

    example: ClassVar = {"rows": 4096, "cols": 128256, "dtype": "bf16"}
    fixed: ClassVar = {"targets": "int32", "loss": "fp32"}

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return row_pass(operations=4.0 * b * d, reads={"x": (b, d), "targets": (b,)}, writes={"loss": (b,)})

    def formulas(self) -> Formulas:
        return FORMULAS
