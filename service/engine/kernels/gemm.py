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

from ..arrays import Real
from .losses import Ladder
from .physics import EAGER, RESIDENT, State, cached_share, overlapped, throttled, waves
from .rereads import hbm_bytes, partial_bytes
from .silicon import Silicon
from .tiling import Grid, Product, Tiling, grid

STEP_BYTES = 128.0
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
    """The parts of a product: times [s], but for the grid and the rounds."""

    at: Grid
    waves: Real
    math: Real
    """of one tile"""
    chip: Real
    memory: Real
    split: Real


def work(product: Product, tiling: Tiling, silicon: Silicon, p: GemmParameters, state: State) -> Work:
    """What chip and memory do for a tiling."""
    at = grid(product, tiling, silicon)
    rounds = waves(at.tiles, silicon.cores, p.quantized)
    math = tile_math(product, tiling, at, silicon) / p.math
    fed = tile_feed(product, tiling, at, silicon) / p.feed
    steps = at.depth * (np.maximum(product.a_bytes, product.b_bytes) / STEP_BYTES * p.step_s)
    chip = rounds * (np.maximum(np.maximum(math, fed), steps) + p.fill_s) + drain_time(product, silicon, p)
    cold = 1.0 - hot_share(product, silicon, p, state)
    memory = cold * hbm_bytes(product, tiling, at, silicon) / (p.memory * silicon.hbm_bandwidth)
    return Work(at, rounds, math, chip, memory, split_time(product, tiling, silicon, p))


def tile_math(product: Product, tiling: Tiling, at: Grid, silicon: Silicon) -> Real:
    """Least time of the arithmetic of one tile on one core [s].

    A weight-stationary systolic array takes the rows of the tile once for each block of weights of its size, passes back to back,
    and once fills and drains; without an array the edge is 1 and there is nothing to fill.
    """
    block = silicon.array * silicon.array
    passes = silicon.array * np.ceil(tiling.tn / silicon.array) * at.depth / block
    return 2.0 * block * (passes * np.maximum(tiling.tm, silicon.issue_rows) + silicon.fill_rows) * (silicon.cores / product.peak)


def tile_feed(product: Product, tiling: Tiling, at: Grid, silicon: Silicon) -> Real:
    """Clocks' worth of time that the operands of a tile take at one byte per clock [s]; none where HBM feeds the core itself.

    Rows and columns beyond the end of the matrix are computed with the others, but nobody fetches them.
    """
    rows, cols = np.minimum(tiling.tm, product.m), np.minimum(tiling.tn, product.n)
    return (rows * product.a_bytes + cols * product.b_bytes) * at.depth / silicon.feed_clock


def drain_time(product: Product, silicon: Silicon, p: GemmParameters) -> Real:
    """Time in which cores write what they have computed and compute nothing [s]."""
    return p.drain * product.batch * product.sizes[2] / (p.memory * silicon.hbm_bandwidth)


def hot_share(product: Product, silicon: Silicon, p: GemmParameters, state: State) -> Real:
    """Share of the operands that a steady loop finds in the last cache."""
    kept = p.hot if state.cache == RESIDENT else np.zeros_like(p.hot)
    return cached_share(product.bytes, silicon.cache_bytes, copies=p.copies, share=kept)


def split_time(product: Product, tiling: Tiling, silicon: Silicon, p: GemmParameters) -> Real:
    """Partial sums written and read through the last cache, and a synchronisation for each doubling of the split [s]."""
    through = partial_bytes(product, tiling) / (p.feed * silicon.clock * silicon.cores)
    return through + p.split_s * np.log2(tiling.split)


def product_time(product: Product, tiling: Tiling, silicon: Silicon, p: GemmParameters, state: State) -> Real:
    """Time of the product alone [s]."""
    parts = work(product, tiling, silicon, p, state)
    t = overlapped(parts.chip, parts.memory, p.overlap) + parts.split
    return throttled(t, np.minimum(parts.waves * parts.math / t, 1.0), p.throttle)


def quantize_time(product: Product, silicon: Silicon, p: GemmParameters) -> Real:
    """A pass over the activation before the product: its rows one after another on the cores, each read wide and written narrow; none
    where the activation arrives as it is [s]."""
    rows = product.batch * product.m
    moved = rows * product.k * (product.cast_bytes + product.a_bytes) / (p.memory * silicon.hbm_bandwidth)
    return np.where(product.cast_bytes > 0.0, p.quantize_s + rows * p.quantize_row_s / silicon.cores + moved, 0.0)


def launch_time(p: GemmParameters, state: State) -> Real:
    """Time before and after the work [s]."""
    return p.launch_s + p.eager_s if state.launch == EAGER else p.launch_s


def ladder(product: Product, tiling: Tiling, silicon: Silicon, p: GemmParameters, state: State) -> Ladder:
    """From the roofline to the time of the whole op, for a tiling [rows]."""
    parts = work(product, tiling, silicon, p, state)
    math, fed = tile_math(product, tiling, parts.at, silicon), tile_feed(product, tiling, parts.at, silicon) / p.feed
    cold = 1.0 - hot_share(product, silicon, p, state)
    once = cold * product.bytes / silicon.hbm_bandwidth
    again = parts.memory * p.memory
    padded = parts.at.tiles * math / silicon.cores
    alone = product_time(product, tiling, silicon, p, state)
    quantized = alone + quantize_time(product, silicon, p)
    return Ladder(
        roofline=np.maximum(product.flops / product.peak, once),
        padding=np.maximum(padded, once),
        waves=np.maximum(parts.waves * math, once),
        rereads=np.maximum(parts.waves * math, again),
        bandwidth=np.maximum(parts.waves * np.maximum(math, fed) + drain_time(product, silicon, p), parts.memory),
        rate=alone,
        quantization=quantized,
        launch=quantized + launch_time(p, state),
    ).climbing()
