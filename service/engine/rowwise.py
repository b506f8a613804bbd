"""Ops on one array X[rows, cols]: the fields that they share."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Real
from .term import Term, choice, dim


@dataclass(frozen=True, kw_only=True)
class OnRows(Term):
    """Reads x, row by row; what is written and in which format is the op's own."""

    rows: Real = dim("rows, one per token")
    cols: Real = dim("width of a row")

    @property
    def factors(self) -> tuple[str, ...]:
        return ("x",)

    @property
    def grows(self) -> tuple[str, ...]:
        return ("rows", "cols")


@dataclass(frozen=True, kw_only=True)
class Rowwise(OnRows):
    """Computes on x and writes out in the format that x has unless told otherwise."""

    dtype: str | None = choice("format of all arrays")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (that of dtype)", "class")
