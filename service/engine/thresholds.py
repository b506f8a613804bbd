"""Thresholds: the value of one dim at which the verdict of a path flips, the others held.

Operations and bytes of a term are affine in each of its dims v, but for stairs where blocks of scales run along it:

    flops(v) = f0 + f1·v        bytes(v) = b0 + b1·v
    flops(v) = I·bytes(v)       at     v* = (I·b0 − f0) / (f1 − I·b1)      with I = C/W, the critical intensity

For a matmul and v = m this is the exact critical batch B* = w·I/(2 − I·(a/F + o/D)). With stairs of height s and width g

    bytes(v) = b0 + b1·v + s·⌈v/g⌉        flops(n·g) ≥ I·bytes(n·g)    from    n = ⌈(b0 − f0/I) / (g·(f1/I − b1) − s)⌉

so v* lies on stair n, which ends at n·g and on which the bytes are b0 + s·n + b1·v. All dims of a question are solved at once, in
blocks [dims, rows].
Source: How to Scale Your Model, "All About Rooflines" (critical batch), solved for the bytes as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .arrays import ONE, ZERO, Real, any_of, constant

PARALLEL = constant(1e-12)
"""Two lines whose slopes differ by less, relative to them, never meet; two values that differ by less are one."""

ROUNDS = 256
"""Steps after which a climb up stairs of different widths is given up; three or four are usual."""

NOWHERE = constant(np.nan)

UNREACHED = constant(2.0**53)
"""No dim is as large."""

FIRST = constant(2.0**-60)
"""A dim this small stands on the first stair."""


class Threshold(NamedTuple):
    """Where the verdict of `path` flips as `variable` grows; NaN where it never does."""

    path: str
    variable: str
    exact: Real
    approximate: Real | None
    """the textbook's value; None where it has none"""
    axis: str | None = None
    """the axis of the mesh, where the variable is its size"""


class Line(NamedTuple):
    """A count as a function of one dim: base + slope·v."""

    base: Real
    slope: Real


class Stair(NamedTuple):
    """Bytes as a function of one dim: height·⌈v/width⌉. No stairs are as wide as can be, and of no height."""

    width: Real
    height: Real

    def at(self, value: Real) -> Real:
        return self.height * np.ceil(value / self.width)


def crossing(flops: Line, moved: Line, ridge: Real) -> Real:
    """The positive v* at which both times are equal, at the critical intensity `ridge` [FLOP/B]; NaN where there is none."""
    fed = ridge * moved.slope
    steeper = flops.slope - fed
    value: Real = (ridge * moved.base - flops.base) / steeper
    meets = (value > ZERO) & (value < UNREACHED) & (np.abs(steeper) > PARALLEL * fed)
    return np.where(meets, value, NOWHERE)


def climbed(flops: Line, straight: Line, stairs: Sequence[Stair], ridge: Real) -> Real:
    """`crossing` where bytes climb in stairs beside a `straight` part: the first v at which operations take the time of bytes.

    The line on which the stairs stand crosses too early. Stairs of one width are then solved as above; of several, one is solved
    while the others stay as high as they are at the v found so far, in turn, until none of them changes it; a row that has settled
    stays as it is, whatever the others do. NaN where there is no threshold, and where `ROUNDS` do not reach it: a value on the way
    would be too low.
    """
    floor = Line(straight.base, straight.slope + sum((each.height / each.width for each in stairs), start=ZERO))
    value = crossing(flops, floor, ridge)
    climbs = ~np.isnan(value) | (ridge * floor.base <= flops.base)
    climbs &= flops.slope > ridge * floor.slope * (1.0 + PARALLEL)
    value = np.where(climbs, np.fmax(value, FIRST), value)
    stands = [np.isfinite(each.width) for each in stairs]
    is_one = sum(stands, start=ZERO) == ONE  # then solved at once
    moves = climbs
    for _ in range(ROUNDS):
        before = value
        for at, stair in enumerate(stairs):
            beside = sum((each.at(value) for each in (*stairs[:at], *stairs[at + 1 :])), start=straight.base)
            value = np.where(moves & stands[at], _on_one(stair, Line(beside, straight.slope), flops, ridge), value)
        moves = moves & ~is_one & (np.abs(value - before) > PARALLEL * before)
        if not any_of(moves):
            break
    is_known = (value > FIRST) & (value < UNREACHED) & ~moves
    return np.where(is_known, value, np.nan)


def _on_one(stair: Stair, straight: Line, flops: Line, ridge: Real) -> Real:
    """The threshold where there are stairs of one width, which rise less than the operations do."""
    spared, rise = flops.base / ridge, flops.slope / ridge - straight.slope
    count = np.ceil((straight.base - spared) / (rise * stair.width - stair.height) * (1.0 - PARALLEL))
    return (straight.base + stair.height * np.maximum(count, 1.0) - spared) / rise
