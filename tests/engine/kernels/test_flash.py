"""Attention in blocks: which pairs they compute, how long the cores take, and where the time goes."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from service.engine.arrays import column
from service.engine.kernels.flash import BLOCK_ROWS, KEYS, kernel_times, ladder, makespan, walk
from service.engine.kernels.physics import EAGER, State

from .asking import PEAK, attend, first, silicon, usual_flash


def scheduled(blocks: Sequence[float], cores: int) -> float:
    """When the last core is done if each takes the next block as soon as it is free."""
    free = [0.0] * cores
    heapq.heapify(free)
    for block in blocks:
        heapq.heappush(free, heapq.heappop(free) + block)
    return max(free)


@given(blocks=st.lists(st.floats(0.01, 1.0), min_size=1, max_size=60), cores=st.integers(1, 9))
def test_no_list_of_blocks_takes_longer_than_the_even_share_and_the_longest(blocks: list[float], cores: int) -> None:
    """Graham 1969, theorem 1."""
    bound = makespan(column(sum(blocks)), column(max(blocks)), column(len(blocks)), column(cores), column(1.0))
    even = makespan(column(sum(blocks)), column(max(blocks)), column(len(blocks)), column(cores), column(0.0))
    assert first(even) * (1 - 1e-12) <= scheduled(blocks, cores) <= first(bound) * (1 + 1e-12)


def test_a_core_for_each_block_takes_as_long_as_the_longest() -> None:
    assert first(makespan(column(6.0), column(3.0), column(3), column(4), column(1.0))) == 3.0


def pairs_computed(q_len: int, kv_len: int, rows: int, window: int | None) -> int:
    """Pairs that blocks of `rows` queries compute when each block masks within the span of keys that any of its queries sees."""
    queries = -(-q_len // rows) * rows
    total = 0
    for start in range(0, queries, rows):
        last = kv_len - q_len + start + rows
        begin = 0 if window is None else max(0, kv_len - q_len + start + 1 - window)
        total += rows * (last - begin)
    return total


@pytest.mark.parametrize(("q_len", "kv_len"), [(128, 128), (256, 1024), (1000, 1000), (64, 4096)])
def test_blocks_compute_their_diagonal_whole(q_len: int, kv_len: int) -> None:
    at = walk(attend(3, 4, 4, q_len, kv_len), usual_flash(packs=0.0))
    for index in (0, 1):
        rows = int(BLOCK_ROWS[index, 0])
        every = -(-q_len // rows) * rows * KEYS * -(-kv_len // KEYS)
        assert first(at.pairs[index]) == 12 * min(pairs_computed(q_len, kv_len, rows, None), every)


def test_a_window_bounds_the_walk_of_a_block() -> None:
    ask = attend(1, 1, 1, 4096, 4096, window=512.0)
    at = walk(ask, usual_flash(packs=0.0))
    assert first(at.longest[1]) == 128 * 640  # 512 + 127 keys in whole steps of 128
    assert first(ask.pairs) < first(at.pairs[1]) < first(walk(attend(1, 1, 1, 4096, 4096), usual_flash(packs=0.0)).pairs[1]) / 2


def test_packed_heads_fill_the_rows_of_a_block() -> None:
    """One query for each of 16 heads that share a KV head is a block of 16 rows, not 16 blocks of one."""
    ask = attend(4, 16, 1, 1, 512)
    assert first(walk(ask, usual_flash(packs=0.0)).blocks[2]) == 64
    assert first(walk(ask, usual_flash(packs=1.0)).blocks[2]) == 4


def test_the_losses_explain_the_gap() -> None:
    ask = attend([1, 8, 128], [32, 8, 4], [8, 8, 1], [4096, 100, 33], [4096, 300, 33])
    found = ladder(ask, silicon(), usual_flash(), State())
    assert all((each >= 0.0).all() for each in found.losses)
    np.testing.assert_allclose(sum(found.losses), found.estimate - found.roofline, rtol=1e-12)


def test_a_long_prefill_runs_at_the_rate_of_its_products() -> None:
    ask = attend(1, 64, 8, 32768, 32768)
    ideal = 2 * 256 * 64 * (32768 * 32769 / 2) / PEAK
    perfect = usual_flash(launch_s=0.0, math=1.0, step_s=0.0, block_s=0.0, overlap=50.0, throttle=0.0, exponential=0.0, append=0.0)
    assert ideal < first(ladder(ask, silicon(), perfect, State()).estimate) < 1.02 * ideal


def test_a_launch_by_the_host_is_paid_once() -> None:
    ask = attend(1, 8, 8, 512, 512)
    graph, eager = (ladder(ask, silicon(), usual_flash(), State(launch=launch)) for launch in ("graph", EAGER))
    assert first(eager.estimate - graph.estimate) == pytest.approx(2e-5, rel=1e-9)


def test_candidates_are_two_heights_of_blocks_packed_or_not() -> None:
    assert kernel_times(attend(1, 8, 2, [10, 20], 64), silicon(), usual_flash()).shape == (4, 2)
