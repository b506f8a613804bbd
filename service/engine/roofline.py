"""The roofline: time on each path, its bounds, and what binds.

    t_math = flops / peak        t_hbm = bytes / bandwidth        t_network from the collectives
    t_lower = max (perfect overlap) ≤ t ≤ t_upper = sum (none)

Source: How to Scale Your Model, "All About Rooflines"; Williams, Waterman, Patterson 2009.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .arrays import Code, Real
from .demand import ZERO

TIE = 1e-9
"""Times this close, relative to the larger, bind together."""

BOUNDS = ("compute", "hbm", "network", "balanced")
REGIMES = ("compute-bound", "communication-bound", "balanced")
NOTHING = -1
"""Code of a verdict that does not exist: no path takes any time."""

# What binds, by the set of paths that are longest: bit 0 compute, bit 1 hbm, bit 2 network.
_BOUND = np.array([NOTHING, 0, 1, 3, 2, 3, 3, 3], dtype=np.int8)
_REGIME = np.array([NOTHING, 0, 1, 2, 1, 2, 1, 2], dtype=np.int8)


@dataclass(frozen=True)
class Times:
    """Seconds on each path; 0 where the op does not use it."""

    math: Real
    hbm: Real
    network: Real = field(default_factory=lambda: ZERO)


def lower(times: Times) -> Real:
    """Least time, everything overlapped [s]."""
    return np.maximum(np.maximum(times.math, times.hbm), times.network)


def upper(times: Times) -> Real:
    """Longest time, nothing overlapped [s]; at most as many times `lower` as there are paths."""
    return times.math + times.hbm + times.network


def overlapped(least: Real, most: Real, overlap: float) -> Real:
    """Time when the share `overlap` of what could hide does hide [s]; 1 gives the lower bound, 0 the upper."""
    return least + (1.0 - overlap) * (most - least)


def longest_paths(times: Times, longest: Real) -> Code:
    """The set of paths within `TIE` of `longest` [s], as bits; the empty set where `longest` is 0."""
    edge = longest * (1.0 - TIE)
    found = (times.math >= edge).view(np.int8) | ((times.hbm >= edge).view(np.int8) << 1)
    if times.network is not ZERO:
        found = found | ((times.network >= edge).view(np.int8) << 2)
    return found * (longest > 0)


def bound(paths: Code) -> Code:
    """Index into `BOUNDS`: the path that is longest, `balanced` when two are."""
    return _BOUND[paths]


def regime(paths: Code) -> Code:
    """Index into `REGIMES`: compute against the larger of memory and network."""
    return _REGIME[paths]
