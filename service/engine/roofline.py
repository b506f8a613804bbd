"""The roofline: time on each path, its bounds, and what binds.

    t_math = flops / peak        t_hbm = bytes / bandwidth        t_network from the collectives
    t_lower = max (perfect overlap) ≤ t ≤ t_upper = sum (none)

Source: How to Scale Your Model, "All About Rooflines"; Williams, Waterman, Patterson 2009.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Code, Real, constant

TIE = 1e-9
"""Times this close, relative to the larger, bind together."""

NEARLY = constant(1.0 - TIE)

BOUNDS = (None, "compute", "hbm", "balanced", "network", "balanced", "balanced", "balanced")
"""What binds, by the set of longest paths: bit 0 compute, bit 1 hbm, bit 2 network; None where no path takes any time."""

REGIMES = (None, "compute-bound", "communication-bound", "balanced", *2 * ("communication-bound", "balanced"))
"""Compute against the larger of memory and network, by the same sets."""

BITS = np.dtype(np.int8)
HBM, NETWORK = np.array(1, BITS), np.array(2, BITS)
"""Places of the bits in a set of paths."""


class Times(NamedTuple):
    """Seconds on each path; 0 where the op does not use it, None where there is no such path."""

    math: Real
    hbm: Real
    network: Real | None = None


def lower(times: Times) -> Real:
    """Least time, everything overlapped [s]."""
    least = np.maximum(times.math, times.hbm)
    return least if times.network is None else np.maximum(least, times.network)


def upper(times: Times) -> Real:
    """Longest time, nothing overlapped [s]; at most as many times `lower` as there are paths."""
    most = times.math + times.hbm
    return most if times.network is None else most + times.network


def overlapped(least: Real, most: Real, overlap: float) -> Real:
    """Time when the share `overlap` of what could hide does hide [s]; 1 gives the lower bound, 0 the upper."""
    return least if overlap == 1.0 else least + (1.0 - overlap) * (most - least)


def longest_paths(times: Times, longest: Real) -> Code:
    """The set of paths within `TIE` of `longest` [s], as bits: an index into `BOUNDS` and `REGIMES`."""
    edge = longest * NEARLY
    found: Code = (times.math > edge).view(BITS) | ((times.hbm > edge).view(BITS) << HBM)
    if times.network is not None:
        found = found | ((times.network > edge).view(BITS) << NETWORK)
    return found
