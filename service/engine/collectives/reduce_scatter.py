"""Reduce-scatter: every chip of the group holds an array of partial sums and ends with one of N pieces of the total.

volume      V is the array of one chip before it is scattered
sent        V·(N−1)/N by each chip
time        as an all-gather, of which it is the transpose: max over levels of V·(D−1)/(D·W), and the steps
asymptotic  V/W
Source      How to Scale Your Model, "Sharded Matrices": ReduceScatter
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..collective import Collective, collective
from ..term import dim


@collective("reduce_scatter")
@dataclass(frozen=True, kw_only=True)
class ReduceScatter(Collective):
    bytes: Real = dim("V, the array of partial sums that one chip holds, before it is scattered [B]")

    example: ClassVar = {"bytes": 33_554_432, "axes": ["gpu"]}

    def held(self, chips: float) -> tuple[Real, Real]:
        return self.bytes, self.bytes / chips
