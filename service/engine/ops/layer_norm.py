"""Layer normalisation: Y[b, d] = (X[b, d] − mean(X[b, :])) / std(X[b, :]) · g[d] + c[d].

operations  7·b·d on the vector unit: add for the mean, subtract it, square, add for the variance, scale, gain, bias;
            the root and the divisions of each row (a few per row) are ignored
traffic     X read once, Y written once, gain g and bias c read once
Source      counted from the definition in Ba, Kiros & Hinton 2016, "Layer Normalization", eq. 3 and 4
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
    flops="7·rows·cols",
    elements={"x": "rows·cols", "gain": "cols", "bias": "cols", "out": "rows·cols"},
    source="Ba, Kiros & Hinton 2016, eq. 3 and 4: seven operations for each element",
)


@op("layer_norm")
@dataclass(frozen=True, kw_only=True)
class LayerNorm(Rowwise):
    example: ClassVar = {"rows": 4096, "cols": 8192, "dtype": "bf16"}

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        one = np.ones(1)
        return row_pass(
            operations=7.0 * b * d,
            reads={"x": (b, d), "gain": (one, d), "bias": (one, d)},
            writes={"out": (b, d)},
        )

    def formulas(self) -> Formulas:
        return FORMULAS
