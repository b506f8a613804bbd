"""Thresholds: the value of one dim at which the verdict of a path flips, the others held.

Operations and bytes of a term are affine in each of its dims v, but for stairs where blocks of scales run along it:

    flops(v) = f0 + f1·v        bytes(v) = b0 + b1·v
    flops(v) = I·bytes(v)       at     v* = (I·b0 − f0) / (f1 − I·b1)      with I = C/W, the critical intensity

For a matmul and v = m this is the exact critical batch B* = w·I/(2 − I·(a/F + o/D)).
Source: How to Scale Your Model, "All About Rooflines" (critical batch), solved for the bytes as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .arrays import Real

PARALLEL = 1e-12
"""Two lines whose slopes differ by less, relative to them, never meet."""

ROUNDS = 64
"""Steps after which a climb up the stairs is given up."""


@dataclass(frozen=True)
class Threshold:
    """Where the verdict of `path` flips as `variable` grows; NaN where it never does."""

    path: str
    variable: str
    exact: Real
    approximate: Real | None
    """the textbook's value; None where it has none"""


@dataclass(frozen=True)
class Line:
    """A count as a function of one dim: base + slope·v."""

    base: Real
    slope: Real


@dataclass(frozen=True)
class Roofs:
    """Peak C [FLOP/s], where the op has one, and bandwidth W [B/s]: what a threshold lies between."""

    peak: Real | None
    bandwidth: Real

    @property
    def ridge(self) -> Real | None:
        """Critical intensity C/W [FLOP/B]."""
        return None if self.peak is None else self.peak / self.bandwidth


def line(at_zero: Real, at_probe: Real, probe: float) -> Line:
    return Line(at_zero, (at_probe - at_zero) / probe)


def crossing(flops: Line, moved: Line, roofs: Roofs) -> Real:
    """The positive v* at which both times are equal; NaN where there is none."""
    ridge = roofs.ridge
    if ridge is None:
        return np.full_like(moved.base, np.nan)
    steeper = flops.slope - ridge * moved.slope
    value = (ridge * moved.base - flops.base) / steeper
    meets = (np.abs(steeper) > PARALLEL * (flops.slope + ridge * moved.slope)) & (value > 0)
    return np.where(meets, value, np.nan)


def settled(start: Real, moved_at: Callable[[Real], Real], flops: Line, moved: Line, roofs: Roofs) -> Real:
    """`crossing` where bytes climb in stairs: the first v at which the time of the operations reaches that of the bytes.

    The line through the stairs lies below them, so its crossing `start` comes too early; each round adds what the stairs hold
    above the line at the last v, until nothing changes. NaN where `ROUNDS` do not settle it.
    """
    if roofs.ridge is None:
        return start
    steeper = flops.slope / roofs.ridge - moved.slope
    value = start
    for _ in range(ROUNDS):
        above = moved_at(value) - (moved.base + moved.slope * value)
        following = start + above / steeper
        if np.array_equal(following, value, equal_nan=True):
            return value
        value = following
    return np.full_like(value, np.nan)
