"""Logarithmic axes of a roofline: whole decades around all that is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

ROOM = 1.5
"""How far beyond the outermost value an axis reaches, as a factor."""


@dataclass(frozen=True)
class LogAxis:
    """An axis from 10^low to 10^high."""

    low: int
    high: int

    @classmethod
    def over(cls, values: Iterable[float]) -> LogAxis:
        """Whole decades that hold `values`; what is not positive has no place on a logarithmic axis.

        >>> LogAxis.over([0.0, 0.3, 295.3])
        LogAxis(low=-1, high=3)
        """
        positive = [value for value in values if value > 0.0]
        if not positive:
            return cls(0, 1)
        low = math.floor(math.log10(min(positive) / ROOM))
        return cls(low, max(low + 1, math.ceil(math.log10(max(positive) * ROOM))))

    @property
    def least(self) -> float:
        return 10.0**self.low

    @property
    def most(self) -> float:
        return 10.0**self.high

    def share(self, value: float) -> float:
        """Where a positive value stands, 0 at the low end and 1 at the high end.

        >>> LogAxis(0, 4).share(100.0)
        0.5
        """
        return (math.log10(value) - self.low) / (self.high - self.low)

    def decades(self, most: int) -> list[float]:
        """The powers of ten on the axis, at most about `most` of them.

        >>> LogAxis(0, 4).decades(3)
        [1.0, 100.0, 10000.0]
        """
        step = math.ceil((self.high - self.low + 1) / most)
        return [10.0**exponent for exponent in range(self.low, self.high + 1, step)]
