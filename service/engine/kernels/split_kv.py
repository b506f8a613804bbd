"""Attention of a few queries over a long cache: the keys are split over cores, whose partial outputs are joined at the end.

rows       queries of the heads that share a KV head, padded to the 16 of a matrix instruction; blocks of 64
blocks     batch · kv_heads · row blocks · split, with splits of at least 128 keys
memory     the cache once, from HBM or, where it fits and stays, from the last cache; few blocks cannot draw the whole bandwidth
chip       arithmetic on padded rows, latency of steps of 64 keys, start and end of each wave of blocks; these grow with the
           queries of a block, and with the launch by the width of a head. Those of the first wave overlap with nothing
join       partial outputs written and read once more
Source     Dao et al. 2023, "Flash-Decoding for long-context inference"
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Real
from .attend import Attend
from .blocks import Blocks
from .losses import Ladder, least
from .physics import EAGER, RESIDENT, State, overlapped, waves
from .silicon import ISSUE_ROWS, Silicon

SPLITS: Real = np.array([[1.0], [2.0], [4.0], [8.0], [16.0], [32.0], [64.0]])
LEAST_KEYS = 128.0
"""Keys of a split at least."""
STEP_KEYS = 64.0
BLOCK_ROWS = 64.0
JOIN_S = 1e-6
"""Scale of the fixed cost of joining [s]."""
WIDTH = 128.0
"""Width of a head in whose times the parameters stand."""
FITS, PARTLY = 0.85, 0.2
"""A cache of this share of the last cache stays in it in part; less by another `PARTLY`, whole."""
SUMS = 8.0
"""Bytes of a partial sum, written and read."""


class SplitParameters(NamedTuple):
    """What is fitted; columns."""

    launch_s: Real
    math: Real
    memory: Real
    step_s: Real
    block_s: Real
    core_memory: Real
    """bandwidth of one core, in its fair shares"""
    overlap: Real
    quantized: Real
    cache: Real
    """bandwidth of the last cache over that of HBM"""
    join: Real
    width: Real
    """exponent with which launch and block grow with the width of a head"""
    rows: Real
    """what 16 queries add to the start and end of a block, as a share"""
    group: Real
    """exponent with which they grow with the queries, where kernels are written for each number of them"""
    eager_s: Real


class Plan(NamedTuple):
    """One split of the keys."""

    split: Real
    blocks: Real
    rounds: Real
    uneven: Real
    """time of the last core over that of an even spread"""
    rows: Real
    """padded rows of a KV head"""


def plan(ask: Attend, silicon: Silicon, p: SplitParameters) -> Plan:
    rows = ISSUE_ROWS * np.ceil(ask.q_len * ask.heads / ask.kv_heads / ISSUE_ROWS)
    split = np.minimum(SPLITS, np.ceil(ask.keys_read / LEAST_KEYS))
    blocks = ask.batch * ask.kv_heads * np.ceil(rows / BLOCK_ROWS) * split
    rounds = waves(blocks, silicon.cores, p.quantized)
    return Plan(split, blocks, rounds, rounds / (blocks / silicon.cores), rows)


def chip_time(ask: Attend, at: Plan, silicon: Silicon, p: SplitParameters) -> Real:
    """What the cores take, but for the first start and end of a block [s]."""
    flops = ask.batch * ask.kv_heads * at.rows * ask.keys_read * ask.pair_flops
    math = flops / (p.math * ask.peak) * at.uneven
    steps = np.ceil(ask.keys_read / at.split / STEP_KEYS) * p.step_s
    return np.maximum(math, steps) + (at.rounds - 1.0) * block_time(ask, p)


def block_time(ask: Attend, p: SplitParameters) -> Real:
    """Start and end of a block [s]."""
    queries = np.minimum(ask.q_len * ask.heads / ask.kv_heads, BLOCK_ROWS)
    return p.block_s * grown(ask, p) * (1.0 + p.rows * queries / ISSUE_ROWS) * queries**p.group


def grown(ask: Attend, p: SplitParameters) -> Real:
    """Factor by which the fixed times of a head of this width differ from those of 128."""
    factor: Real = (ask.d_v / WIDTH) ** p.width
    return factor


def stays(ask: Attend, silicon: Silicon, state: State) -> Real:
    """Share of the keys and values that a steady loop finds in the last cache."""
    room = FITS * silicon.cache_bytes - ask.kv_bytes
    share = np.clip(room / np.maximum(PARTLY * silicon.cache_bytes, 1.0), 0.0, 1.0)
    return share if state.cache == RESIDENT else np.zeros_like(share)


def memory_time(ask: Attend, at: Plan, silicon: Silicon, p: SplitParameters, state: State) -> Real:
    busy = np.minimum(at.blocks / silicon.cores, 1.0)
    served = np.minimum(p.memory * serving(ask, silicon, p, state), busy * p.core_memory)
    return ask.bytes * memory_uneven(at, silicon) / (served * silicon.hbm_bandwidth)


def serving(ask: Attend, silicon: Silicon, p: SplitParameters, state: State) -> Real:
    """Bandwidth of the level that serves the cache, over that of HBM."""
    return 1.0 + (p.cache - 1.0) * stays(ask, silicon, state)


def memory_uneven(at: Plan, silicon: Silicon) -> Real:
    """Time of the last reader over that of an even spread; a single wave is limited by what each core draws instead."""
    return np.where(at.blocks <= silicon.cores, 1.0, at.uneven)


def join_time(ask: Attend, at: Plan, silicon: Silicon, p: SplitParameters) -> Real:
    return np.where(at.split > 1.0, JOIN_S * p.join, 0.0) + joined_bytes(ask, at) / (p.cache * silicon.hbm_bandwidth)


def joined_bytes(ask: Attend, at: Plan) -> Real:
    """Partial outputs with the maximum and the sum of each, through the last cache; none without a split."""
    moved = SUMS * ask.batch * ask.heads * ask.q_len * at.split * (ask.d_v + 2.0)
    return np.where(at.split > 1.0, moved, 0.0)


def kernel_times(ask: Attend, silicon: Silicon, p: SplitParameters, state: State) -> Real:
    """Time of the attention alone for each split [candidates, rows]."""
    at = plan(ask, silicon, p)
    t = overlapped(chip_time(ask, at, silicon, p), memory_time(ask, at, silicon, p, state), p.overlap)
    return block_time(ask, p) + t + join_time(ask, at, silicon, p)


def launch_time(ask: Attend, p: SplitParameters, state: State) -> Real:
    device = p.launch_s * grown(ask, p)
    return device + p.eager_s if state.launch == EAGER else device


class Chosen(NamedTuple):
    """The fastest split."""

    at: Plan
    alone: Real
    """time of the attention alone [s]"""


def chosen(ask: Attend, silicon: Silicon, p: SplitParameters, state: State) -> Chosen:
    """The split that takes the least time [rows]."""
    times = kernel_times(ask, silicon, p, state)
    best = least(times)
    return Chosen(Plan(*(best.of(each) for each in plan(ask, silicon, p))), best.of(times))


def ladder(ask: Attend, silicon: Silicon, p: SplitParameters, state: State) -> Ladder:
    """From the roofline to the time of the whole op, for the fastest split [rows]."""
    return ladder_of(ask, chosen(ask, silicon, p, state), silicon, p, state)


def ladder_of(ask: Attend, taken: Chosen, silicon: Silicon, p: SplitParameters, state: State) -> Ladder:
    """The same for a split."""
    at, alone = taken
    flops = ask.batch * ask.kv_heads * at.rows * ask.keys_read * ask.pair_flops
    once = ask.bytes / (serving(ask, silicon, p, state) * silicon.hbm_bandwidth)
    padded, spread = flops / ask.peak, np.maximum(flops / ask.peak * at.uneven, once * memory_uneven(at, silicon))
    joined = joined_bytes(ask, at) / (p.cache * silicon.hbm_bandwidth)
    return Ladder(
        roofline=np.maximum(ask.pairs * ask.pair_flops / ask.peak, once),
        padding=np.maximum(padded, once),
        waves=spread,
        rereads=spread + joined,
        bandwidth=np.maximum(flops / ask.peak * at.uneven, memory_time(ask, at, silicon, p, state)) + joined,
        rate=alone,
        quantization=alone,
        launch=alone + launch_time(ask, p, state),
    ).climbing()


def blocks(ask: Attend, taken: Chosen, silicon: Silicon) -> Blocks:
    """The blocks of a split, each of which walks its share of the keys."""
    at = taken.at
    computed = ask.batch * ask.kv_heads * at.rows * ask.keys_read
    wave = at.blocks / (np.ceil(at.blocks / silicon.cores) * silicon.cores)
    return Blocks(np.minimum(at.rows, BLOCK_ROWS), STEP_KEYS, at.blocks / at.split, at.split, ask.pairs / computed, wave)
