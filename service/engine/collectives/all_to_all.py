"""All-to-all: every chip of the group has one piece of its array for every other, and ends with theirs for it.

volume      V is the bytes of all chips of the group together
sent        V·(N−1)/N² by each chip; what neighbours pass on along a ring or line is in the time and not counted here
time        rings and lines: V·max X/(4·N·w'), w' = 2w on a ring and w on a line; a switched level: V·(M−1)/(M²·W), where the whole
            group has M children of the level; the largest, and the steps of an all-gather
asymptotic  a switched level: V/(M·W)
ragged      with `destinations` = k at most k of a chip's N pieces are not empty: bytes and their time times min(k/N, 1)
Source      How to Scale Your Model, "Sharded Matrices": AllToAll; "How to Think About GPUs": AllToAll within and across nodes
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Real
from ..collective import Collective, collective
from ..term import dim
from ..wiring import Form, Group


@collective("all_to_all")
@dataclass(frozen=True, kw_only=True)
class AllToAll(Collective):
    bytes: Real = dim("V, the bytes of all chips of one group of the axes together [B]")
    destinations: Real | None = dim("pieces of a chip that are not empty, at most (all of them)", default=None)

    example: ClassVar = {"bytes": 134_217_728, "axes": ["gpu"]}

    def moved(self, chips: float) -> Real:
        if self.destinations is None:
            return self.bytes
        return self.bytes * np.minimum(self.destinations / chips, 1.0)

    def held(self, chips: float) -> tuple[Real, Real]:
        return self.bytes / chips, self.bytes / chips

    def sent(self, over: Group) -> float:
        return super().sent(over) / over.chips

    def slope(self, over: Group, form: Form) -> float:
        return max(level.exchange(form) for level in over.levels)

    def counted(self, chips: float) -> float:
        """The buffer of one chip."""
        return 1.0 / chips
