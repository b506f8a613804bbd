"""Bytes from HBM, against a walk over the tiles one by one."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from service.engine.kernels.rereads import KEPT, hbm_bytes, operand_reads, partial_bytes, raster
from service.engine.kernels.tiling import Product, grid

from .asking import first, product, silicon, tiling

small = st.integers(1, 700)


def walked(m: int, n: int, k: int, tile: tuple[int, int], in_flight: tuple[int, int]) -> int:
    """Elements of a and b that are loaded when rasters of tiles are computed one after another and nothing outlasts a raster."""
    rows, cols = -(-m // tile[0]), -(-n // tile[1])
    loaded = 0
    for top, left in itertools.product(range(0, rows, in_flight[0]), range(0, cols, in_flight[1])):
        tiles = itertools.product(range(top, min(top + in_flight[0], rows)), range(left, min(left + in_flight[1], cols)))
        seen_rows, seen_cols = set(), set()
        for row, col in tiles:
            if row not in seen_rows:
                loaded += k * (min((row + 1) * tile[0], m) - row * tile[0])
                seen_rows.add(row)
            if col not in seen_cols:
                loaded += k * (min((col + 1) * tile[1], n) - col * tile[1])
                seen_cols.add(col)
    return loaded


@given(m=small, n=small, k=st.integers(1, 64), shape=st.sampled_from([(16, 128), (64, 64), (128, 32)]), cores=st.integers(1, 12))
def test_operands_are_read_as_a_walk_over_the_tiles_reads_them(m: int, n: int, k: int, shape: tuple[int, int], cores: int) -> None:
    ask, chip, tiles = product(float(m), float(n), float(k)), silicon(cores=float(cores)), tiling(*shape)
    at = grid(ask, tiles, chip)
    over = raster(at, tiles, chip)
    assert first(operand_reads(ask, at, over)) == 2 * walked(m, n, k, shape, (int(first(over.rows)), int(first(over.cols))))


@given(m=small, n=small, k=st.integers(1, 64), shape=st.sampled_from([(16, 128), (64, 64), (128, 32)]))
def test_without_a_cache_every_tile_reads_its_own_panels(m: int, n: int, k: int, shape: tuple[int, int]) -> None:
    ask, chip, tiles = product(float(m), float(n), float(k)), silicon(cache_bytes=0.0), tiling(*shape)
    at = grid(ask, tiles, chip)
    assert first(hbm_bytes(ask, tiles, at, chip)) == 2 * (walked(m, n, k, shape, (1, 1)) + m * n)


@given(m=small, n=small, k=small, cores=st.integers(1, 200), cache=st.floats(0, 1e6))
def test_traffic_lies_between_each_operand_once_and_every_tile_alone(m: int, n: int, k: int, cores: int, cache: float) -> None:
    ask, tiles = product(float(m), float(n), float(k)), tiling(64, 64)
    chip, bare = silicon(cores=float(cores), cache_bytes=cache), silicon(cache_bytes=0.0)
    at = grid(ask, tiles, chip)
    assert first(ask.bytes) <= first(hbm_bytes(ask, tiles, at, chip)) <= first(hbm_bytes(ask, tiles, at, bare))


def test_one_tile_that_covers_the_output_reads_each_operand_once() -> None:
    ask, tiles = product(128.0, 128.0, 8192.0), tiling(128, 128)
    for chip in (silicon(), silicon(cache_bytes=0.0)):
        assert first(hbm_bytes(ask, tiles, grid(ask, tiles, chip), chip)) == first(ask.bytes)


def test_a_larger_cache_never_reads_more() -> None:
    ask, tiles = product(8192.0, 8192.0, 8192.0), tiling(128, 128)
    moved = [first(hbm_bytes(ask, tiles, grid(ask, tiles, silicon()), silicon(cache_bytes=size))) for size in np.logspace(3, 9, 40)]
    assert moved == sorted(moved, reverse=True)
    assert moved[-1] == first(ask.bytes)


def test_an_operand_that_the_cache_keeps_is_not_read_again() -> None:
    ask, tiles = product(65536.0, 256.0, 4096.0), tiling(64, 16)
    keeps = silicon(cache_bytes=256 * 4096 * 2 / float(KEPT))
    assert first(hbm_bytes(ask, tiles, grid(ask, tiles, keeps), keeps)) == first(ask.bytes)


def test_a_split_writes_and_reads_its_sums() -> None:
    ask: Product = product(128.0, 256.0, 8192.0, batch=3)
    assert first(partial_bytes(ask, tiling(128, 256))) == 0.0
    assert first(partial_bytes(ask, tiling(128, 256, split=4))) == 4 * 2 * 4 * 3 * 128 * 256
