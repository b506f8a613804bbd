"""Attention over many queries: each block of queries of one head walks the keys it sees, on one core.

blocks     of 64 or 128 rows, whichever is faster: batch · heads · ⌈q_len/rows⌉, or with the heads of a group packed into the
           rows of a block batch · kv_heads · ⌈q_len·group/rows⌉; causal blocks differ in length
chip       list scheduling: the work of all blocks spread over the cores, and the longest block that may start last
pair       2·(d_qk + d_v) operations on the matrix unit and one exponential on the special units
memory     queries, keys, values and output once
append     new keys and values written into their cache, and queries converted where the kernel takes them narrow
Source     Dao 2023, "FlashAttention-2", section 3; Graham 1969, "Bounds on multiprocessing timing anomalies", theorem 1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Real
from ..attending import causal_pairs
from .attend import Attend
from .blocks import Blocks
from .losses import Ladder, least
from .physics import EAGER, State, overlapped, throttled
from .silicon import Silicon

BLOCK_ROWS: Real = np.array([[64.0], [128.0], [64.0], [128.0]])
PACKED: Real = np.array([[0.0], [0.0], [1.0], [1.0]])
KEYS = 128.0
"""Keys of one step of the walk."""
WIDE_BYTES = 2.0
"""Of an element as a model computes it, before a kernel takes it narrower."""
EXPONENTIALS = 16.0
"""That the special units of a core compute per clock. Source: NVIDIA, CUDA programming guide, arithmetic throughput."""


class FlashParameters(NamedTuple):
    """What is fitted; columns."""

    launch_s: Real
    math: Real
    """share of the peak that the products reach"""
    memory: Real
    """share of the HBM bandwidth that is reached"""
    core_memory: Real
    """bandwidth of one core, in its fair shares"""
    step_s: Real
    """least time of a step of 128 keys"""
    block_s: Real
    """start and end of a block"""
    overlap: Real
    tail: Real
    """share of the longest block that is left when the others are done"""
    packs: Real
    """1 where the kernel may pack the heads of a group into one block, else 0"""
    throttle: Real
    exponential: Real
    """share of the exponentials that the products do not hide"""
    append: Real
    """cost of the append, in times of its bytes"""
    eager_s: Real


class Walk(NamedTuple):
    """The blocks of one candidate."""

    blocks: Real
    pairs: Real
    """computed over all blocks, masked ones of the diagonal included"""
    longest: Real
    """pairs of the longest block"""
    steps: Real
    """of the longest block"""


def walk(ask: Attend, p: FlashParameters) -> Walk:
    """Blocks of each candidate, and the pairs that they compute whole."""
    group = ask.heads / ask.kv_heads
    pack = np.where(PACKED * p.packs > 0.0, group, 1.0)
    heads = ask.batch * ask.heads / pack
    per_head = np.ceil(ask.q_len * pack / BLOCK_ROWS)
    rows = per_head * BLOCK_ROWS
    pairs = every = rows * KEYS * np.ceil(ask.kv_len / KEYS)
    keys = ask.kv_len
    if ask.is_causal:
        at_once = np.maximum(BLOCK_ROWS / pack, 1.0)
        pairs = np.minimum(pack * _seen(ask, rows / pack) + _masked(ask, rows, at_once), every)
        keys = np.minimum(ask.kv_len, ask.window + at_once - 1.0)
    steps = np.ceil(keys / KEYS)
    return Walk(heads * per_head, heads * pairs, BLOCK_ROWS * KEYS * steps, steps)


def _seen(ask: Attend, queries: Real) -> Real:
    """Pairs of one head whose queries are filled up to `queries`."""
    keys = ask.kv_len + queries - ask.q_len
    return causal_pairs(queries, keys, np.where(ask.window < ask.kv_len, ask.window, keys))


def _masked(ask: Attend, rows: Real, at_once: Real) -> Real:
    """Pairs beyond the diagonal, and as many beyond the end of a window, of blocks that hold so many positions at once."""
    edges = np.where(ask.window < ask.kv_len, 2.0, 1.0)
    return edges * rows * (at_once - 1.0) / 2.0


def makespan(total: Real, longest: Real, blocks: Real, cores: Real, tail: Real) -> Real:
    """Time of blocks on cores that take the next one as they become free: the even share, and what the longest adds to it.

    With a core for each block it is the longest block; otherwise at most the even share and the longest together.
    """
    even = total / cores
    return np.where(blocks <= cores, longest, np.maximum(even, longest) + tail * np.minimum(even, longest))


def pair_time(ask: Attend, silicon: Silicon, p: FlashParameters) -> Real:
    """Of one pair on one core [s]."""
    return ask.pair_flops / (p.math * ask.peak / silicon.cores) + p.exponential / (EXPONENTIALS * silicon.clock)


def chip_time(ask: Attend, at: Walk, silicon: Silicon, p: FlashParameters) -> Real:
    pair = pair_time(ask, silicon, p)
    longest = at.longest * pair + at.steps * p.step_s
    spread = makespan(at.pairs * pair, longest, at.blocks, silicon.cores, p.tail)
    return spread + np.ceil(at.blocks / silicon.cores) * p.block_s


def memory_time(ask: Attend, at: Walk, silicon: Silicon, p: FlashParameters) -> Real:
    busy = np.minimum(at.blocks / silicon.cores, 1.0)
    return ask.bytes / (np.minimum(p.memory, busy * p.core_memory) * silicon.hbm_bandwidth)


def kernel_times(ask: Attend, silicon: Silicon, p: FlashParameters) -> Real:
    """Time of the attention alone [candidates, rows]."""
    at = walk(ask, p)
    t = overlapped(chip_time(ask, at, silicon, p), memory_time(ask, at, silicon, p), p.overlap)
    return throttled(t, np.ones(1), p.throttle)


def appended_bytes(ask: Attend) -> Real:
    """New keys and values, read in 16 bits and written in the format of the cache."""
    return ask.batch * ask.kv_heads * ask.q_len * (WIDE_BYTES * (ask.d_qk + ask.d_v) + ask.kv_row_bytes)


def converted_bytes(ask: Attend) -> Real:
    """Queries that the kernel takes in less than 16 bits, read wide and written narrow."""
    moved = ask.batch * ask.heads * ask.q_len * ask.d_qk * (WIDE_BYTES + ask.q_bytes)
    return np.where(ask.q_bytes < WIDE_BYTES, moved, 0.0)


def append_time(moved: Real, silicon: Silicon, p: FlashParameters) -> Real:
    """Time of the pass that appends or converts so many bytes [s]."""
    return p.append * moved / (p.memory * silicon.hbm_bandwidth)


def launch_time(p: FlashParameters, state: State) -> Real:
    return p.launch_s + p.eager_s if state.launch == EAGER else p.launch_s


class Chosen(NamedTuple):
    """The fastest candidate."""

    at: Walk
    rows: Real
    """of a block"""
    alone: Real
    """time of the attention alone [s]"""


def chosen(ask: Attend, silicon: Silicon, p: FlashParameters) -> Chosen:
    """The candidate that takes the least time [rows]."""
    times = kernel_times(ask, silicon, p)
    best = least(times)
    return Chosen(Walk(*(best.of(each) for each in walk(ask, p))), best.of(BLOCK_ROWS), best.of(times))


def ladder(ask: Attend, silicon: Silicon, p: FlashParameters, state: State) -> Ladder:
    """From the roofline to the time of the whole op, for the fastest candidate [rows]."""
    return ladder_of(ask, chosen(ask, silicon, p), silicon, p, state)


def ladder_of(ask: Attend, taken: Chosen, silicon: Silicon, p: FlashParameters, state: State) -> Ladder:
    """The same for a candidate."""
    at = taken.at
    pair, once = ask.pair_flops * silicon.cores / ask.peak, ask.bytes / silicon.hbm_bandwidth
    busy = makespan(at.pairs * pair, at.longest * pair, at.blocks, silicon.cores, p.tail)
    append = p.append * appended_bytes(ask) / silicon.hbm_bandwidth
    reached = np.maximum(busy, memory_time(ask, at, silicon, p)) + append / p.memory
    alone = taken.alone + append / p.memory
    converted = alone + append_time(converted_bytes(ask), silicon, p)
    return Ladder(
        roofline=np.maximum(ask.pairs * ask.pair_flops / ask.peak, once),
        padding=np.maximum(at.pairs * ask.pair_flops / ask.peak, once),
        waves=np.maximum(busy, once),
        rereads=np.maximum(busy, once) + append,
        bandwidth=reached,
        rate=alone,
        quantization=converted,
        launch=converted + launch_time(p, state),
    ).climbing()


def blocks(ask: Attend, taken: Chosen, silicon: Silicon, p: FlashParameters) -> Blocks:
    """The blocks of a candidate. They may differ in length: at the end cores wait for the longest that started last."""
    at = taken.at
    busy = makespan(at.pairs, at.longest, at.blocks, silicon.cores, p.tail)
    return Blocks(taken.rows, KEYS, at.blocks, np.ones(1), ask.pairs / at.pairs, at.pairs / silicon.cores / busy)
