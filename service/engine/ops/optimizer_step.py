"""One step of an optimizer over n parameters, fused: every array passes once.

operations  per parameter on the vector unit
                sgd    2  w ← w − lr·g
                adam  14  m ← β1·m + (1−β1)·g (3); v ← β2·v + (1−β2)·g² (4); two bias corrections, root, ε, division, lr, subtraction
traffic     weights and gradients read, weights written; adam reads and writes both moments as well
            with a master copy the step reads and writes that, and writes the working weights besides
Source      counted from the definitions; Kingma & Ba 2014, "Adam", algorithm 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..demand import Demand, Operand, row_pass
from ..registry import op
from ..term import REQUIRED, Formulas, Term, choice, dim

OPERATIONS = {"sgd": 2, "adam": 14}
STATE = {"sgd": (), "adam": ("moment1", "moment2")}


@op("optimizer_step")
@dataclass(frozen=True, kw_only=True)
class OptimizerStep(Term):
    n: Real = dim("parameters")
    algorithm: str = choice("which optimizer", "name", default=REQUIRED, names=tuple(OPERATIONS))
    dtype: str | None = choice("format of the weights")
    gradients_dtype: str | None = choice("format of the gradients (dtype)")
    state_dtype: str = choice("format of the moments of adam", default="fp32")
    master_dtype: str | None = choice("format of a master copy of the weights, where one is kept")
    compute_dtype: str = choice("arithmetic class", "class", default="fp32")

    example: ClassVar = {"n": 1000000000, "algorithm": "adam", "dtype": "bf16", "master_dtype": "fp32"}
    formats: ClassVar = {
        **dict.fromkeys(("moment1", "moment2", "moment1_out", "moment2_out"), "state_dtype"),
        "master_out": "master_dtype",
    }

    @property
    def factors(self) -> tuple[str, ...]:
        return ("weights", "gradients")

    @property
    def grows(self) -> tuple[str, ...]:
        return ("n",)

    @property
    def kept(self) -> tuple[str, ...]:
        """Arrays that are read and written again."""
        return ("weights" if self.master_dtype is None else "master", *STATE[self.algorithm])

    def demand(self) -> Demand:
        written = tuple(f"{name}_out" for name in self.kept)
        working = () if self.master_dtype is None else ("weights_out",)
        return row_pass(
            operations=float(OPERATIONS[self.algorithm]) * self.n,
            reads=dict.fromkeys((*self.kept, "gradients"), (self.n,)),
            writes=dict.fromkeys((*written, *working), (self.n,)),
        )

    def residents(self) -> tuple[Operand, ...]:
        """What is read and written again is one array, which the step updates in place."""
        updated = {f"{name}_out" for name in self.kept}
        return tuple([each for each in self.demand().operands if each.name not in updated])

    def formulas(self) -> Formulas:
        names = [operand.name for operand in self.demand().operands]
        return Formulas(
            flops=f"{OPERATIONS[self.algorithm]}·n",
            elements=dict.fromkeys(names, "n"),
            source=f"counted from the definition of {self.algorithm}: every array passes once",
        )
