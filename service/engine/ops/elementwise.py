"""Elementwise map: each of n positions reads `inputs` elements and writes `outputs`.

operations  flops_per_element·n on the vector unit
traffic     every input read once, every output written once
Source      counted from the definition; How to Scale Your Model, "How to Think About GPUs", vector addition
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..demand import Demand, row_pass
from ..registry import op
from ..term import Formulas, Term, choice, dim

FORMULAS = Formulas(
    flops="flops_per_element·n",
    elements={"in": "inputs·n", "out": "outputs·n"},
    source="counted from the definition: every position of every array once",
)


@op("elementwise")
@dataclass(frozen=True, kw_only=True)
class Elementwise(Term):
    n: Real = dim("positions")
    inputs: Real = dim("arrays read", default=2)
    outputs: Real = dim("arrays written", default=1)
    flops_per_element: Real = dim("operations per position", default=1)
    dtype: str | None = choice("format of all arrays")
    out_dtype: str | None = choice("format of the arrays written (dtype)")
    compute_dtype: str | None = choice("arithmetic class (that of dtype)", "class")

    example: ClassVar = {"n": 1048576, "dtype": "fp32"}
    grows = ("n",)
    factors = ("in",)

    def demand(self) -> Demand:
        return row_pass(
            operations=self.flops_per_element * self.n,
            reads={"in": (self.inputs, self.n)},
            writes={"out": (self.outputs, self.n)},
        )

    def formulas(self) -> Formulas:
        return FORMULAS
