"""Embedding: out[t, :] = table[ids[t], :], a gather of rows.

operations  none
traffic     one row of the table read for each token (a repeated token reads its row again), 4-byte ids, one row written;
            never the whole table, however large the vocabulary
Source      counted from the definition
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Real
from ..demand import Demand, Operand, moves
from ..registry import op
from ..term import Formulas, Term, choice, dim

FORMULAS = Formulas(
    flops="0",
    elements={"table": "tokens·d", "ids": "tokens", "out": "tokens·d"},
    source="counted from the definition: one row for each token",
)


@op("embedding")
@dataclass(frozen=True, kw_only=True)
class Embedding(Term):
    tokens: Real = dim("rows gathered")
    vocab: Real = dim("rows of the table; what is not gathered is not read")
    d: Real = dim("width of a row")
    dtype: str | None = choice("format of the table and of out")
    out_dtype: str | None = choice("format of out (dtype)")

    example: ClassVar = {"tokens": 4096, "vocab": 128256, "d": 8192, "dtype": "bf16"}
    fixed: ClassVar = {"ids": "int32"}

    @property
    def factors(self) -> tuple[str, ...]:
        return ("table",)

    @property
    def grows(self) -> tuple[str, ...]:
        return ("tokens", "d")

    def demand(self) -> Demand:
        t, d = np.broadcast_arrays(self.tokens, self.vocab)[0], self.d  # a list of vocab makes rows, though none moves a byte
        return moves(reads={"table": (t, d), "ids": (t,)}, writes={"out": (t, d)})

    def residents(self) -> tuple[Operand, ...]:
        """The whole table: which rows are gathered is known only at run time."""
        table, *others = self.demand().operands
        return table._replace(shape=(self.vocab, self.d)), *others

    def formulas(self) -> Formulas:
        return FORMULAS
