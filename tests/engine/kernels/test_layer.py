"""The tile layer: counts of tiles and waves, padding charged once, traffic between each operand once and each tile by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st

from service.engine.arrays import column
from service.engine.kernels import given, layer
from service.engine.kernels.gemm import work
from service.engine.kernels.given import Tile
from service.engine.kernels.physics import COLD, GRAPH, State
from service.engine.kernels.search import Problem, candidates, fastest, search
from service.engine.kernels.silicon import Silicon
from service.engine.kernels.tiling import fits

from .asking import first, gemm_parameters, product, silicon, tiling, usual_gemm

LOOP = State(GRAPH, COLD)
SIZES = st.integers(1, 40)
EDGES = st.integers(1, 16)
BARE = silicon(cores=1, cache_bytes=0, tile_bytes=math.inf, accumulator_bytes=math.inf)
"""One core, nothing between it and the memory."""


def tile(m: float, n: float, k: float) -> Tile:
    return Tile(column(m), column(n), column(k))


def walked(m: int, n: int, k: int, by: tuple[int, int, int]) -> tuple[int, int]:
    """Elements that tiles load and store, and the tiles, walked one by one in plain integers; whole tiles also at the edges."""
    tm, tn, tk = by
    moved = tiles = 0
    for _row in range(0, m, tm):
        for _col in range(0, n, tn):
            tiles += 1
            for _step in range(0, k, tk):
                moved += tm * tk + tk * tn
            moved += tm * tn
    return moved, tiles


@settings(max_examples=60)
@draw(m=SIZES, n=SIZES, k=SIZES, by=st.tuples(EDGES, EDGES, EDGES))
def test_without_a_cache_the_traffic_is_that_of_tiles_walked_one_by_one(m: int, n: int, k: int, by: tuple[int, int, int]) -> None:
    found = given.of_product(product(m, n, k), tile(*by), BARE)
    moved, tiles = walked(m, n, k, by)
    assert (first(found.hbm_bytes), first(found.tiles)) == (2 * moved, tiles)


def test_the_tile_of_the_textbook() -> None:
    """bf16, 8192 cubed, tiles of 256 x 512 x 512: 6.58 GB, 167.2 FLOP/B. How To Scale Your Model, All About Rooflines."""
    found = given.of_product(product(8192, 8192, 8192), tile(256, 512, 512), BARE)
    assert first(found.hbm_bytes) == 6_576_668_672
    assert 2 * 8192**3 / first(found.hbm_bytes) == pytest.approx(167.18, abs=0.01)


def test_109_tiles_on_108_cores_take_two_waves() -> None:
    found = given.of_product(product(109 * 128, 128, 64), tile(128, 128, 64), silicon())
    assert [first(each) for each in (found.tiles, found.waves, found.wave, found.padding)] == [109, 2, 109 / 216, 1]


def test_padding_is_charged_once() -> None:
    """65 rows in tiles of 64: 65/128 of the operations count, and the waves are full."""
    found = given.of_product(product(65, 64, 64), tile(64, 64, 64), silicon(cores=2))
    assert [first(each) for each in (found.tiles, found.waves, found.padding, found.wave)] == [2, 1, 65 / 128, 1]


def test_one_tile_over_all_moves_each_operand_once() -> None:
    ask = product(100, 60, 30)
    for chip in (BARE, silicon()):
        assert first(given.of_product(ask, tile(100, 60, 30), chip).hbm_bytes) == first(ask.bytes)


@settings(max_examples=60)
@draw(m=st.integers(1, 4096), n=st.integers(1, 4096), k=st.integers(1, 4096), cache=st.sampled_from([0, 2**18, 2**22, 2**26]))
def test_tiles_move_no_less_than_each_operand_once(m: int, n: int, k: int, cache: int) -> None:
    ask, chip = product(m, n, k), silicon(cache_bytes=cache)
    chosen = fastest(Problem(ask, chip, usual_gemm()), LOOP)
    found = layer.of_product(ask, chosen, chip)
    alone = given.of_product(ask, Tile(chosen.tm, chosen.tn, column(64)), silicon(cache_bytes=0))
    assert first(ask.bytes) <= first(found.hbm_bytes)
    assert first(chosen.split) > 1 or first(found.hbm_bytes) <= first(alone.hbm_bytes)
    assert 0 < first(found.padding) <= 1
    assert 0 < first(found.wave) <= 1


@settings(max_examples=40)
@draw(m=st.integers(1, 9000), n=st.integers(1, 9000), k=st.integers(1, 9000), edge=st.sampled_from([64, 128, 256]))
def test_a_larger_cache_never_reads_more(m: int, n: int, k: int, edge: int) -> None:
    reads = [
        first(given.of_product(product(m, n, k), tile(edge, edge, 64), silicon(cache_bytes=2.0**bits)).hbm_bytes)
        for bits in range(16, 30, 2)
    ]
    assert reads == sorted(reads, reverse=True)


@settings(max_examples=40)
@draw(m=st.integers(1, 9000), n=st.integers(1, 9000), k=st.integers(1, 9000))
def test_more_room_beside_a_core_never_takes_longer(m: int, n: int, k: int) -> None:
    """The best of all candidates; the search, which looks at few of them closely, stays within its two percent of that."""
    best, found = [], []
    for room in (60e3, 100e3, 160e3, 400e3):
        problem = Problem(product(m, n, k), silicon(tile_bytes=room), usual_gemm())
        every, at = candidates(problem)
        times = work(problem.product, every, problem.silicon, problem.parameters, LOOP, at=at).alone
        best.append(np.where(fits(problem.product, every, problem.silicon), times, np.inf).min())
        found.append(first(search(problem, LOOP).work.alone))
    assert best == sorted(best, reverse=True)
    assert all(time <= least * 1.02 for time, least in zip(found, best, strict=True))


def test_the_matrix_unit_rounds_what_a_chosen_tile_has_of_it() -> None:
    """An array of 128 computes 128 columns for 64, and takes as long for 8 rows as for 128; a given tile is not rounded."""
    chip = silicon(array=128, cores=1, accumulator_bytes=0, tile_bytes=2.0**27)
    ask = product(8, 64, 128)
    assert first(layer.of_product(ask, tiling(8, 64), chip).padding) == 8 / 128 * 64 / 128
    assert first(given.of_product(ask, tile(8, 64, 128), chip).padding) == 1.0


@pytest.mark.parametrize(("by", "takes"), [((128, 256, 64), 98_304), ((256, 256, 64), 131_072)])
def test_what_a_tile_takes_beside_a_core(by: tuple[int, int, int], takes: int) -> None:
    """Two stages of (tm + tn)·tk elements of 2 B; the sums stand in registers."""
    room = given.room(product(512, 512, 512), tile(*by), silicon())
    assert (room.fits.item(), first(room.operands), first(room.sums)) == (True, takes, 4 * by[0] * by[1])


def test_sums_without_a_store_of_their_own_take_room_from_the_operands() -> None:
    room = given.room(product(512, 512, 512), tile(128, 128, 64), silicon(accumulator_bytes=0))
    assert (room.fits.item(), first(room.operands), first(room.sums)) == (True, 2 * 64 * 256 * 2 + 4 * 128 * 128, 0)


@settings(max_examples=40)
@draw(by=st.tuples(*[st.integers(1, 2**53)] * 3))
def test_a_tile_without_room_is_answered_with_one_that_has_some(by: tuple[int, int, int]) -> None:
    ask = product(512, 512, 512)
    smaller = given.shrunk(ask, tile(*by), silicon())
    assert smaller is not None
    assert given.room(ask, smaller, silicon()).fits.all()
    assert all(first(each) <= edge for each, edge in zip(smaller, by, strict=True))


def test_not_even_one_element_has_room_in_a_store_of_one_byte() -> None:
    assert given.shrunk(product(8, 8, 8), tile(8, 8, 8), silicon(tile_bytes=1)) is None


@pytest.mark.parametrize("room", [16, 100, 1000, 10_000, 40_000])
def test_small_stores_take_small_square_tiles(room: int) -> None:
    ask, chip = product(512, 512, 512), silicon(tile_bytes=room)
    small = given.squeezed(ask, chip)
    twice = Tile(2 * small.m, 2 * small.n, np.minimum(2 * small.k, 64))
    assert given.room(ask, small, chip).fits.all()
    assert first(small.m) == 64 or not given.room(ask, twice, chip).fits.any()


def test_a_given_tile_takes_its_own_time() -> None:
    """One core without any loss: 65 rows in tiles of 64 take two of them, 64 rows one."""
    chip = silicon(cores=1, cache_bytes=0, clock=math.inf)
    times = [given.ladder(product(m, 64, 65_536, width=1e-6), tile(64, 64, 64), chip, gemm_parameters(), LOOP).estimate for m in (64, 65)]
    assert first(times[1]) == pytest.approx(2 * first(times[0]), rel=1e-6)


@pytest.mark.parametrize(("step", "longer"), [(8, 16), (64, 2), (128, 1), (192, 4 / 3), (256, 1)])
def test_a_step_that_ends_inside_an_array_takes_as_long_as_a_whole_one(step: int, longer: float) -> None:
    """Passes of 128 elements of k: steps of 8 take 16 times as many."""
    chip = silicon(cores=1, cache_bytes=0, clock=math.inf, array=128, accumulator_bytes=0, tile_bytes=math.inf)
    ask = product(65_536, 128, 768 * 128, width=1e-6)
    time = first(given.ladder(ask, tile(65_536, 128, step), chip, gemm_parameters(), LOOP).estimate)
    assert time == pytest.approx(longer * first(ask.flops / ask.peak), rel=1e-2)


def cycles(rows: int, edge: int) -> int:
    """Cycles until the last result of `rows` leaves a weight-stationary array of edge x edge cells, cell by cell.

    Weights shift in from the top, a row of cells each cycle. Then element j of row i enters cell (j, 0) in cycle i + j; operands go
    right and partial sums go down by one cell each cycle, so that sums leave the last row of cells.
    """
    entries = ((i + j, j) for i in range(rows) for j in range(edge))
    exits = [cycle + col for cycle, row in entries if row == edge - 1 for col in range(edge)]
    return edge + max(exits) + 1


@pytest.mark.parametrize("edge", [2, 3, 8, 16])
@pytest.mark.parametrize("rows", [1, 2, 16, 50])
def test_an_array_fills_and_drains_as_cell_by_cell(edge: int, rows: int) -> None:
    """rows + 3·edge − 2 cycles: the rows, and what the first weights and the last results need."""
    assert cycles(rows, edge) == rows + first(Silicon.of({"array": edge}, hbm_bandwidth=1.0).fill_rows)


def test_every_choice_of_the_search_has_room_or_there_is_none() -> None:
    ask = product([64, 512, 4096], [64, 8192, 128], [128, 512, 9000])
    assert fits(ask, fastest(Problem(ask, silicon(), usual_gemm()), LOOP), silicon()).all()
