"""Broadcast: one chip's array ends on every chip of the group.

volume  V is the array
sent    V by each chip that passes it on, in pieces that follow each other
time    max over levels of V/W, and the steps of an all-gather; the same in both forms
Source  How to Scale Your Model, "Sharded Matrices"; the stream in pieces of Thakur, Rabenseifner, Gropp 2005, section 4.2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..collective import Collective, collective
from ..term import dim
from ..wiring import Form, Group


@collective("broadcast")
@dataclass(frozen=True, kw_only=True)
class Broadcast(Collective):
    bytes: Real = dim("V, the array that is sent to all [B]")

    example: ClassVar = {"bytes": 33_554_432, "axes": ["gpu"]}

    def held(self, chips: float) -> tuple[Real, Real]:
        return self.bytes, self.bytes

    def sent(self, over: Group) -> float:
        return 1.0

    def slope(self, over: Group, form: Form) -> float:
        return max(level.stream for level in over.levels)

    def bus(self, chips: float) -> float:
        return 1.0
