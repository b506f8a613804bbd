"""Time of a matrix product from its tiling.

tile       max of arithmetic, feed from the last cache into the core, and latency of the steps along k
chip       waves · (tile + fill), and a share of the time to write the output, for which cores wait between two tiles
memory     HBM bytes with re-reads over the bandwidth that is reached, less what the cache holds in a steady loop
product    chip and memory overlap; then partial sums of a split are added up; long kernels lose clock
op         + quantisation of the activation where it arrives in a wider format + launch
Source     the parts as in Williams et al. 2009, NVIDIA's "Matrix Multiplication Background", and Zhang et al. 2024, "LLMCompass"
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import ONE, ZERO, Real, any_of, constant, doublings
from .losses import Ladder
from .physics import EAGER, RESIDENT, State, cached_share, overlapped, overlapped_between, throttled, waves
from .rereads import partial_bytes, spilled_bytes, unsplit_bytes
from .silicon import Silicon
from .tiling import Grid, Product, Tiling, grid

STEP_BYTES = constant(128.0)
"""Bytes along k that one step of latency brings for each row."""


class GemmParameters(NamedTuple):
    """What is fitted; columns, so that each row may stand for another chip."""

    launch_s: Real
    """device time that no work explains: gap, prologue, drain"""
    math: Real
    """share of the peak that a tile reaches"""
    memory: Real
    """share of the HBM bandwidth that is reached"""
    step_s: Real
    """least time of a step of 128 bytes along k"""
    fill_s: Real
    """prologue and epilogue of a wave"""
    drain: Real
    """share of the time to write the output in which cores do not compute"""
    feed: Real
    """bytes per clock from the last cache into a core, sharing between cores counted"""
    overlap: Real
    """exponent of the smooth maximum of chip and memory"""
    throttle: Real
    """share of the clock that a long kernel loses"""
    quantized: Real
    """how much of an incomplete last wave is lost"""
    hot: Real
    """largest share of traffic that the last cache serves in a steady loop"""
    copies: Real
    """sets of operands that the steady loop goes through"""
    split_s: Real
    """cost of each doubling of the split along k"""
    quantize_s: Real
    """fixed time of the pass that quantises the activation"""
    quantize_row_s: Real
    """what each row of that pass takes one core, whatever its length"""
    eager_s: Real
    """what a launch by the host adds"""


class Work(NamedTuple):
    """The parts of a product and the time they take together [s]; tiles and waves are counts."""

    tiles: Real
    waves: Real
    math: Real
    """of one tile, at the peak"""
    fed: Real
    memory: Real
    alone: Real
    """of the whole product, without what comes before and after it"""


class Streams(NamedTuple):
    """What chip and memory do at once, and what follows [s]."""

    chip: Real
    memory: Real
    sums: Real
    """partial sums of a split, added up when both have ended"""
    computing: Real
    """of the time, in which the clock falls"""

    def together(self, p: GemmParameters) -> Real:
        """Time of the whole."""
        t = overlapped(self.chip, self.memory, p.overlap) + self.sums
        return throttled(t, np.minimum(self.computing / t, ONE), p.throttle)

    def between(self, p: GemmParameters) -> tuple[Real, Real]:
        """Bounds of that time, the upper one for a clock that does not fall."""
        low, high = overlapped_between(self.chip, self.memory, p.overlap)
        return low + self.sums, high + self.sums


def work(product: Product, tiling: Tiling, silicon: Silicon, p: GemmParameters, state: State, *, at: Grid) -> Work:
    """What chip and memory do for a tiling, and how long that takes."""
    parts, streams = apart(product, tiling, silicon, p, state, at=at)
    return Work(*parts, streams.together(p))


def apart(
    product: Product, tiling: Tiling, silicon: Silicon, p: GemmParameters, state: State, *, at: Grid
) -> tuple[tuple[Real, Real, Real, Real, Real], Streams]:
    """The parts of `Work` but the last, and the streams of which that is made."""
    rounds = waves(at.tiles, silicon.cores, p.quantized)
    math, fed = tile_math(product, at, silicon), tile_feed(at, silicon) / p.feed
    reached, steps = math / p.math, at.depth * step_time(product, p)
    chip = rounds * (np.maximum(np.maximum(reached, fed), steps) + p.fill_s) + drain_time(product, silicon, p)
    partial = partial_bytes(product, tiling)
    moved = unsplit_bytes(product, tiling, at, silicon) + spilled_bytes(partial, silicon)
    memory = (ONE - hot_share(product, silicon, p, state)) * moved / (p.memory * silicon.hbm_bandwidth)
    streams = Streams(chip, memory, split_time(partial, tiling, silicon, p), rounds * reached)
    return (at.tiles, rounds, math, fed, memory), streams


def tile_math(product: Product, at: Grid, silicon: Silicon) -> Real:
    """Least time of the arithmetic of one tile on one core [s].

    A weight-stationary systolic array takes the rows of the tile once for each block of weights of its size, passes back to back,
    and once fills and drains; without an array the edge is 1 and there is nothing to fill. Weights that a step along k has too few
    of to fill the array are passed like a whole block.
    """
    return (at.operations * at.depth + silicon.fill_operations) * (silicon.cores / product.peak)


def tile_feed(at: Grid, silicon: Silicon) -> Real:
    """Clocks' worth of time that the operands of a tile take at one byte per clock [s]; none where HBM feeds the core itself."""
    return at.panel * at.depth / silicon.feed_clock


def drain_time(product: Product, silicon: Silicon, p: GemmParameters) -> Real:
    """Time in which cores write what they have computed and compute nothing [s]."""
    return p.drain * product.batch * product.sizes[2] / (p.memory * silicon.hbm_bandwidth)


def step_time(product: Product, p: GemmParameters) -> Real:
    """Least time of an element of k [s]."""
    return np.maximum(product.a_bytes, product.b_bytes) / STEP_BYTES * p.step_s


def hot_share(product: Product, silicon: Silicon, p: GemmParameters, state: State) -> Real:
    """Share of the operands that a steady loop finds in the last cache."""
    if state.cache != RESIDENT:
        return ZERO
    return cached_share(product.bytes, silicon.cache_bytes, copies=p.copies, share=p.hot)


def split_time(partial: Real, tiling: Tiling, silicon: Silicon, p: GemmParameters) -> Real:
    """Partial sums written and read through the last cache, and a synchronisation for each doubling of the split [s]."""
    through = partial / (p.feed * silicon.clock * silicon.cores)
    return through + p.split_s * doublings(tiling.split)


def quantize_time(product: Product, silicon: Silicon, p: GemmParameters) -> Real:
    """A pass over the activation before the product: its rows one after another on the cores, each read wide and written narrow; none
    where the activation arrives as it is [s]."""
    if not any_of(product.cast_bytes > ZERO):
        return ZERO
    rows = product.batch * product.m
    moved = rows * product.k * (product.cast_bytes + product.a_bytes) / (p.memory * silicon.hbm_bandwidth)
    return np.where(product.cast_bytes > ZERO, p.quantize_s + rows * p.quantize_row_s / silicon.cores + moved, ZERO)


def launch_time(p: GemmParameters, state: State) -> Real:
    """Time before and after the work [s]."""
    return p.launch_s + p.eager_s if state.launch == EAGER else p.launch_s


def ladder(product: Product, tiling: Tiling, silicon: Silicon, p: GemmParameters, state: State) -> Ladder:
    """From the roofline to the time of the whole op, for a tiling [rows]."""
    return ladder_of(work(product, tiling, silicon, p, state, at=grid(product, tiling, silicon)), product, silicon, p, state)


def ladder_of(parts: Work, product: Product, silicon: Silicon, p: GemmParameters, state: State) -> Ladder:
    """The same for a tiling whose parts are known."""
    math, alone = parts.waves * parts.math, parts.alone
    once = (ONE - hot_share(product, silicon, p, state)) * product.bytes / silicon.hbm_bandwidth
    quantized = alone + quantize_time(product, silicon, p)
    return Ladder(
        roofline=np.maximum(product.flops / product.peak, once),
        padding=np.maximum(parts.tiles * parts.math / silicon.cores, once),
        waves=np.maximum(math, once),
        rereads=np.maximum(math, parts.memory * p.memory),
        bandwidth=np.maximum(parts.waves * np.maximum(parts.math, parts.fed) + drain_time(product, silicon, p), parts.memory),
        rate=alone,
        quantization=quantized,
        launch=quantized + launch_time(p, state),
    ).climbing()
