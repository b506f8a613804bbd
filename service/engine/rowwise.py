"""Ops that pass over the rows of one array X[rows, cols]: the fields that they share."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Real
from .term import Term, choice, dim


@dataclass(frozen=True, kw_only=True)
class Rowwise(Term):
    rows: Real = dim("rows, one per token")
    cols: Real = dim("width of a row")
    dtype: str | None = choice("format of all arrays")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (that of dtype)", "class")

    @property
    def factors(self) -> tuple[str, ...]:
        return ("x",)

    @property
    def grows(self) -> tuple[str, ...]:
        return ("rows", "cols")
