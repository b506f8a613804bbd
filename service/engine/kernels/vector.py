"""Operations without a product: one pass over memory, some arithmetic, and, over rows, a reduction that a core does row by row.

memory     bytes over the bandwidth that is reached, which rises with their number; small arrays stay in the last cache
math       operations over the vector peak that is reached
rows       rows in rounds of 16 per core, and the clocks of the elements of a row
Source     the parts as in Williams et al. 2009; the ramp is Hockney's half-performance length
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Real
from .losses import Ladder
from .physics import EAGER, RESIDENT, State, overlapped
from .silicon import Silicon

ROWS_AT_ONCE = 16.0
"""Rows that one core reduces at once."""
FITS, PARTLY = 1.1, 0.8
"""Arrays of `PARTLY`·`FITS` of the last cache are no longer served from it; below a tenth of `PARTLY` they are wholly."""


class Pass(NamedTuple):
    """One pass over arrays."""

    bytes: Real
    operations: Real
    rows: Real
    cols: Real
    peak: Real
    """of the vector unit [FLOP/s]; infinite where there is no arithmetic"""


class VectorParameters(NamedTuple):
    """What is fitted; columns."""

    launch_s: Real
    memory: Real
    ramp_bytes: Real
    cache: Real
    """bandwidth of the last cache over that of HBM"""
    math: Real
    overlap: Real
    row_s: Real
    """of a round of rows; 0 where rows do not matter"""
    element: Real
    """clocks of an element of a row; 0 where rows do not matter"""
    eager_s: Real


def serving(ask: Pass, silicon: Silicon, p: VectorParameters, state: State) -> Real:
    """Bandwidth of the level that serves the arrays, over that of HBM."""
    share = np.clip(FITS - ask.bytes / np.maximum(PARTLY * silicon.cache_bytes, 1.0), 0.0, 1.0)
    return 1.0 + (p.cache - 1.0) * (share if state.cache == RESIDENT else np.zeros_like(share))


def ladder(ask: Pass, silicon: Silicon, p: VectorParameters, state: State) -> Ladder:
    """From the roofline to the time of the op [rows]."""
    math = ask.operations / ask.peak
    once = ask.bytes / (serving(ask, silicon, p, state) * silicon.hbm_bandwidth)
    ramp = p.ramp_bytes / silicon.hbm_bandwidth * ask.bytes / (ask.bytes + p.ramp_bytes)
    reduction = np.ceil(ask.rows / (ROWS_AT_ONCE * silicon.cores)) * p.row_s + ask.cols / silicon.clock * p.element
    roofline = np.maximum(math, once)
    reached = np.maximum(math, once / p.memory) + ramp
    alone = overlapped(overlapped(once / p.memory, math / p.math, p.overlap), reduction, p.overlap) + ramp
    launch = p.launch_s + p.eager_s if state.launch == EAGER else p.launch_s
    return Ladder(roofline, roofline, roofline, roofline, reached, alone, alone, alone + launch).climbing()
