"""RMS normalisation: Y[b, d] = X[b, d] / rms(X[b, :]) · g[d].

operations  4·b·d on the vector unit: square, add, scale, gain; the root and the mean of each row (a few per row) are ignored
traffic     X read once, Y written once, g read once
Source      counted from the definition in Zhang & Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..demand import Demand, row_pass
from ..registry import op
from ..rowwise import Rowwise
from ..term import Formulas

FORMULAS = Formulas(
    flops="4·rows·cols",
    elements={"x": "rows·cols", "gain": "cols", "out": "rows·cols"},
    source="Zhang & Sennrich 2019, eq. 4: square, add, scale, gain for each element",
)


@op("rms_norm")
@dataclass(frozen=True, kw_only=True)
class RMSNorm(Rowwise):
    example: ClassVar = {"rows": 4096, "cols": 8192, "dtype": "bf16"}

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return row_pass(operations=4.0 * b * d, reads={"x": (b, d), "gain": (np.ones(1), d)}, writes={"out": (b, d)})

    def formulas(self) -> Formulas:
        return FORMULAS
