"""Activation: Y = f(X), or Y = f(gate) · up for the gated forms, each array [rows, cols].

operations  per element on the vector unit, an exponential or erf counted as one:
                relu    1  max(x, 0)
                gelu    5  x/2 · (1 + erf(x/√2)): two scalings, erf, add, multiply
                silu    4  x / (1 + exp(−x)): negate, exp, add, divide
                swiglu  5  silu(gate) · up
                geglu   6  gelu(gate) · up
traffic     one array read, or two in the gated forms; one written; `cols` is the width of one of them
Source      counted from the definitions: Hendrycks & Gimpel 2016 (GELU), Elfwing et al. 2017 (SiLU), Shazeer 2020 (gated forms)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..demand import Demand, row_pass
from ..registry import op
from ..rowwise import Rowwise
from ..term import REQUIRED, Formulas, choice

OPERATIONS = {"relu": 1, "gelu": 5, "silu": 4, "swiglu": 5, "geglu": 6}
GATED = ("swiglu", "geglu")


@op("activation")
@dataclass(frozen=True, kw_only=True)
class Activation(Rowwise):
    function: str = choice("which function", "name", default=REQUIRED, names=tuple(OPERATIONS))

    example: ClassVar = {"rows": 4096, "cols": 28672, "function": "swiglu", "dtype": "bf16"}

    @property
    def reads(self) -> tuple[str, ...]:
        return ("gate", "up") if self.function in GATED else ("x",)

    @property
    def factors(self) -> tuple[str, ...]:
        return self.reads

    def demand(self) -> Demand:
        b, d = self.rows, self.cols
        return row_pass(
            operations=float(OPERATIONS[self.function]) * b * d,
            reads=dict.fromkeys(self.reads, (b, d)),
            writes={"out": (b, d)},
        )

    def formulas(self) -> Formulas:
        return Formulas(
            flops=f"{OPERATIONS[self.function]}·rows·cols",
            elements=dict.fromkeys((*self.reads, "out"), "rows·cols"),
            source=f"counted from the definition of {self.function}, exp and erf as one operation",
        )
