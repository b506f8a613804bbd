"""Send: every chip sends an array to its neighbour along one axis.

volume  V is the message
sent    V by each chip
time    V/w of one link: one neighbour's on a ring or line, the chip's egress on a switch, the pair's on a full connection; one hop
Source  How to Scale Your Model, "How to Think About TPUs": links between neighbours; the same in both forms
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..collective import Collective, collective
from ..term import dim
from ..wiring import Form, Group


@collective("send")
@dataclass(frozen=True, kw_only=True)
class Send(Collective):
    bytes: Real = dim("V, the message [B]")

    example: ClassVar = {"bytes": 33_554_432, "axes": ["gpu"]}
    most_axes: ClassVar[int | None] = 1

    def held(self, chips: float) -> tuple[Real, Real]:
        return self.bytes, self.bytes

    def sent(self, over: Group) -> float:
        return 1.0

    def slope(self, over: Group, form: Form) -> float:
        return 1.0 / over.axes[0].bandwidth

    def steps(self, over: Group) -> float:
        return 1.0

    def latency(self, over: Group) -> float:
        return over.axes[0].latency

    def bus(self, chips: float) -> float:
        return 1.0
