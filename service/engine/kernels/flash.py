"""Attention over many queries: each block of queries of one head walks the keys it sees, on one core.

blocks     batch · heads · ⌈q_len/rows⌉, rows 64 or 128, whichever is faster; causal blocks differ in length
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
from .physics import EAGER, State, overlapped, throttled
from .silicon import Silicon

BLOCK_ROWS: Real = np.array([[64.0], [128.0]])
KEYS = 128.0
"""Keys of one step of the walk."""
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


def walk(ask: Attend, rows: Real) -> Walk:
    """Blocks of `rows` queries, and the pairs that they compute whole."""
    per_head = np.ceil(ask.q_len / rows)
    queries = per_head * rows
    every = queries * KEYS * np.ceil(ask.kv_len / KEYS)
    pairs = every
    keys = ask.kv_len
    if ask.is_causal:
        masked = queries * (rows - 1.0) / 2.0  # of the diagonal; as many where a window ends
        edges = np.where(ask.window < ask.kv_len, 2.0, 1.0)
        padded = ask.kv_len + queries - ask.q_len
        seen = causal_pairs(queries, padded, np.where(ask.window < ask.kv_len, ask.window, padded))
        pairs = np.minimum(seen + edges * masked, every)
        keys = np.minimum(ask.kv_len, ask.window + rows - 1.0)
    steps = np.ceil(keys / KEYS)
    return Walk(ask.batch * ask.heads * per_head, ask.batch * ask.heads * pairs, rows * KEYS * steps, steps)


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
    """Time of the attention alone, for each number of rows in a block [candidates, rows]."""
    at = walk(ask, BLOCK_ROWS)
    t = overlapped(chip_time(ask, at, silicon, p), memory_time(ask, at, silicon, p), p.overlap)
    return throttled(t, np.ones(1), p.throttle)


def append_time(ask: Attend, silicon: Silicon, p: FlashParameters) -> Real:
    """New keys and values read in 16 bits and written in the cache's format; narrow queries converted from 16 bits [s]."""
    rows = ask.batch * ask.kv_heads * ask.q_len
    written = rows * (2.0 * (ask.d_qk + ask.d_v) + ask.kv_row_bytes)
    converted = np.where(ask.q_bytes < 2.0, ask.batch * ask.heads * ask.q_len * ask.d_qk * (2.0 + ask.q_bytes), 0.0)
    return p.append * (written + converted) / (p.memory * silicon.hbm_bandwidth)


def launch_time(p: FlashParameters, state: State) -> Real:
    return p.launch_s + p.eager_s if state.launch == EAGER else p.launch_s


def op_time(ask: Attend, silicon: Silicon, p: FlashParameters, state: State) -> Real:
    """Of the whole op [s]."""
    return kernel_times(ask, silicon, p).min(axis=0) + append_time(ask, silicon, p) + launch_time(p, state)
