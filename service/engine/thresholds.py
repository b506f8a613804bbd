"""Thresholds: the value of one dim at which the verdict of a path flips, the others held.

Operations and bytes of a term are affine in each of its dims v, but for stairs where blocks of scales run along it:

    flops(v) = f0 + f1·v        bytes(v) = b0 + b1·v
    flops(v) = I·bytes(v)       at     v* = (I·b0 − f0) / (f1 − I·b1)      with I = C/W, the critical intensity

For a matmul and v = m this is the exact critical batch B* = w·I/(2 − I·(a/F + o/D)).
Source: How to Scale Your Model, "All About Rooflines" (critical batch), solved for the bytes as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .arrays import Real

PARALLEL = 1e-12
"""Two lines whose slopes differ by less, relative to them, never meet."""

ROUNDS = 256
"""Steps after which a climb up the stairs is given up; three or four are usual."""

UNREACHED = float(2**53)
"""No dim is as large."""

FAR = float(2**80)
"""Where a stair is probed: so far that the last ragged block does not show in the slope."""

FIRST = float(2**-60)
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


class Roofs(NamedTuple):
    """Peak C [FLOP/s], where the op has one, and bandwidth W [B/s]: what a threshold lies between."""

    peak: Real | None
    bandwidth: Real | None
    ridge: Real | None
    """critical intensity C/W [FLOP/B]"""


def line(at_zero: Real, at_probe: Real, probe: float) -> Line:
    return Line(at_zero, (at_probe - at_zero) / probe)


def crossing(flops: Line, moved: Line, roofs: Roofs) -> Real:
    """The positive v* at which both times are equal; NaN where there is none."""
    ridge = roofs.ridge
    if ridge is None:
        return np.full_like(moved.base, np.nan)
    fed = ridge * moved.slope
    steeper = flops.slope - fed
    value = (ridge * moved.base - flops.base) / steeper
    meets = (value > 0) & (value < UNREACHED) & (np.abs(steeper) > PARALLEL * fed)
    return np.where(meets, value, np.nan)


def climbed(flops: Line, elements: Line, below: Line, scales_at: Callable[[Real], Real], roofs: Roofs) -> Real:
    """`crossing` where bytes climb in stairs: the first v at which the time of the operations reaches that of the bytes.

    `elements` are the bytes without scales, `scales_at` gives those of the scales at a v and `below` the line on which their
    stairs stand. That line crosses too early; from there each round solves for the v that the stair reached so far asks for,
    until it is the right one. NaN where there is none, and where `ROUNDS` do not reach it: a value on the way would be too low.
    """
    floor = Line(elements.base + below.base, elements.slope + below.slope)
    value = crossing(flops, floor, roofs)
    if roofs.ridge is None:
        return value
    is_within = ~np.isnan(value) | (roofs.ridge * floor.base <= flops.base)
    climbs = is_within & (flops.slope > roofs.ridge * floor.slope * (1.0 + PARALLEL))
    rise = flops.slope / roofs.ridge - elements.slope
    moves = climbs
    for _ in range(ROUNDS):
        value = np.where(climbs, np.fmax(value, FIRST), value)
        following = np.where(climbs, (elements.base + scales_at(value) - flops.base / roofs.ridge) / rise, value)
        moves = np.abs(following - value) > PARALLEL * value
        if not moves.any():
            break
        value = np.where(moves, following, value)
    return np.where((value > FIRST) & (value < UNREACHED) & ~moves, value, np.nan)
