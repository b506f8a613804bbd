"""The pace of a collective: what a good library takes, on top of what the wires need.

    latency = start + step·rounds^exponent + outer_step·outer_rounds            a kernel, and the rounds of its messages
    x       = t_wire + own·t_piece                                              each chip also moves its own piece, at home
    low     = latency·(1 + spread·h) + x/low_share                              words that carry their own flag
    bulk    = latency + bulk_start + bulk_step·rounds^exponent + bulk_outer_step·outer_rounds + (x + ramp·x/(x + ramp))/bulk_share
    t       = the smaller of low and bulk, and never less than the roofline

The low-latency protocol sends flags among the data and so has a small share of the wire; the bulk protocol first agrees on
buffers and then has most of it, after a ramp while the pipeline fills. A message that outgrows one channel is spread over several,
which costs a share of the latency: h = 1/(1 + (spread_bytes/piece)²), a step with soft edges.

Sizes are those of nccl-tests: S is an array, and one chip's buffer of an all-to-all; a piece is S/N. The band says between which
multiples of t four fifths of the measured times lay, in three regimes: the rounds decide, the bytes decide, or neither.
Source: Hockney 1994, a start plus bytes over a rate; the protocols and their costs as NVIDIA's NCCL has them, src/graph/tuning.cc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from .arrays import Code, Real

REGIMES: Final = ("latency", "mixed", "bulk")
"""Which of the terms decide: codes of a band."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """The parameters of one kind of collective on one fabric; what is left out costs nothing. Times in s, shares of the wire's rate."""

    start: float
    """of the kernel and its first message [s]"""
    step: float = 0.0
    """of a round [s]"""
    exponent: float = 1.0
    """how the cost of rounds grows with their number: 1 one after another, less where they overlap"""
    outer_step: float = 0.0
    """of a round over a network between domains [s]"""
    spread: float = 0.0
    """what using more channels costs, as a share of the latency"""
    spread_bytes: float = 1.0
    """piece from which on more channels are used [B]"""
    own: float = 0.0
    """what a byte of one's own piece costs, against a byte on the wire"""
    low_share: float
    bulk_start: float = 0.0
    """[s]"""
    bulk_step: float = 0.0
    """[s]"""
    bulk_outer_step: float = 0.0
    """[s]"""
    bulk_share: float
    bulk_ramp: float = 0.0
    """time on the wire until the pipeline is full [s]"""


class Load(NamedTuple):
    """What a collective puts on the wires."""

    wire: Real
    """time of the busiest wire at its full rate, without latency [s]"""
    piece: Real
    """S/N [B]"""
    piece_s: Real
    """time of a piece at the same rate [s]"""
    rounds: Real | float
    """one after another, inside a domain"""
    outer_rounds: Real | float = 0.0
    """between domains"""


@dataclass(frozen=True)
class Band:
    """Between which multiples of the estimate the tenth and the ninetieth of a hundred measured times lie, by `REGIMES`."""

    p10: tuple[float, float, float]
    p90: tuple[float, float, float]


class Estimate(NamedTuple):
    """A prediction of a time, with the band in which four measured times of five lie [s]."""

    time: Real
    p10: Real
    p90: Real


def expected(pace: Pace, load: Load) -> tuple[Real, Code]:
    """The time that is typical [s], and the code of its regime.

    >>> piece = np.array([1e3, 1e8])
    >>> load = Load(wire=piece * 7 / 1e11, piece=piece, piece_s=piece / 1e11, rounds=7.0)
    >>> time, regime = expected(Pace(start=4e-6, step=1e-6, low_share=0.25, bulk_start=1e-5, bulk_share=0.8), load)
    >>> time.round(8), [REGIMES[code] for code in regime]
    (array([1.128e-05, 8.771e-03]), ['latency', 'bulk'])
    """
    rounds = load.rounds**pace.exponent
    latency = pace.start + pace.step * rounds + pace.outer_step * load.outer_rounds
    later = latency + pace.bulk_start + pace.bulk_step * rounds + pace.bulk_outer_step * load.outer_rounds
    spread = pace.spread / (1.0 + (pace.spread_bytes / load.piece) ** 2)
    x = load.wire + pace.own * load.piece_s
    flagged = x / pace.low_share
    streamed = (x + pace.bulk_ramp * (x / (x + pace.bulk_ramp) if pace.bulk_ramp else 0.0)) / pace.bulk_share
    low = latency * (1.0 + spread) + flagged
    bulk = later + streamed
    is_latency = (low <= bulk) & (flagged <= latency / 2.0)
    is_bulk = (bulk < low) & (streamed > later)
    return np.minimum(low, bulk), np.where(is_latency, 0, np.where(is_bulk, 2, 1)).astype(np.int8)


def estimate(pace: Pace, band: Band, load: Load, roofline: Real) -> Estimate:
    """The typical time and its band, none of them below `roofline`, the least time that the wires allow [s]."""
    typical, regime = expected(pace, load)
    time = np.maximum(roofline, typical)
    p10 = np.maximum(roofline, typical * np.array(band.p10)[regime])
    p90 = np.maximum(time, typical * np.array(band.p90)[regime])
    return Estimate(time, np.minimum(p10, time), p90)
