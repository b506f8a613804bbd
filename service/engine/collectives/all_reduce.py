"""All-reduce: every chip of the group holds an array of partial sums and ends with all of the total.

volume      V is the array of one chip
sent        2·V·(N−1)/N by each chip, a reduce-scatter and an all-gather; V where every level adds in the network
time        twice an all-gather, bytes and steps alike; where every level is a switch that reduces, max over levels of V/W and two steps
asymptotic  2·V/W; reduced in the network as exact
Source      How to Scale Your Model, "Sharded Matrices": AllReduce; "How to Think About GPUs": SHARP
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..collective import Collective, collective
from ..term import dim
from ..wiring import Form, Group


def is_in_network(over: Group) -> bool:
    """Whether every level adds what passes through it."""
    return all(level.reduces for level in over.levels)


@collective("all_reduce")
@dataclass(frozen=True, kw_only=True)
class AllReduce(Collective):
    bytes: Real = dim("V, the array of partial sums that one chip holds [B]")

    example: ClassVar = {"bytes": 33_554_432, "axes": ["gpu"]}

    def held(self, chips: float) -> tuple[Real, Real]:
        return self.bytes, self.bytes

    def sent(self, over: Group) -> float:
        return 1.0 if is_in_network(over) else 2.0 * super().sent(over)

    def slope(self, over: Group, form: Form) -> float:
        if is_in_network(over):
            return max(level.stream for level in over.levels)
        return 2.0 * super().slope(over, form)

    def steps(self, over: Group) -> float:
        return 2.0 if is_in_network(over) else 2.0 * super().steps(over)

    def latency(self, over: Group) -> float:
        if is_in_network(over):
            return 2.0 * max(axis.latency for axis in over.axes)
        return 2.0 * super().latency(over)

    def bus(self, chips: float) -> float:
        return 2.0 * super().bus(chips)
