"""All-gather: every chip of the group ends with the whole array, of which it held one of N pieces.

volume      V is the gathered array
sent        V·(N−1)/N by each chip: its own piece, and those that it passes on
time        max over levels of V·(D−1)/(D·W), and the steps of the slowest level; rings and lines are one level, their W add
asymptotic  V/W
Source      How to Scale Your Model, "Sharded Matrices": AllGather; "How to Think About GPUs": collectives across levels
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..collective import Collective, collective
from ..term import dim


@collective("all_gather")
@dataclass(frozen=True, kw_only=True)
class AllGather(Collective):
    bytes: Real = dim("V, the array after it is gathered, as one group of the axes sees it [B]")

    example: ClassVar = {"bytes": 33_554_432, "axes": ["gpu"]}
