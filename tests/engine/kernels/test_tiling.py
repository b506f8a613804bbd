"""Tiles on cores: how many, how full, and how much of a store they take."""

from __future__ import annotations

import dataclasses

from service.engine.kernels.gemm import ladder, tile_math
from service.engine.kernels.physics import State, waves
from service.engine.kernels.tiling import fits, footprint, grid, padding_efficiency

from .asking import PEAK, first, gemm_parameters, product, silicon, tiling

LOOP = State()


def test_109_tiles_on_108_cores_take_two_waves() -> None:
    """NVIDIA, Matrix Multiplication Background: one tile more than cores doubles the time of the tiles."""
    parameters = gemm_parameters()
    fit, over = (ladder(product(128.0 * tiles, 256.0, 4096.0), tiling(128, 256), silicon(), parameters, LOOP) for tiles in (108, 109))
    assert first(over.waves) == 2.0 * first(fit.waves)


def test_a_persistent_kernel_shares_out_the_last_wave() -> None:
    even = gemm_parameters(quantized=0.0)
    at = grid(product(128.0 * 109, 256.0, 4096.0), tiling(128, 256), silicon())
    assert first(waves(at.tiles, silicon().cores, even.quantized)) == 109 / 108


def test_padding_is_counted_once() -> None:
    """A matrix of one row in tiles of 128 rows does 128 times its operations, not 128 squared."""
    ask = product(1.0, 256.0, 4096.0)
    at = grid(ask, tiling(128, 256), silicon())
    assert first(padding_efficiency(ask, tiling(128, 256), at)) == 1 / 128
    found = ladder(ask, tiling(128, 256), silicon(), gemm_parameters(), LOOP)
    assert first(found.waves) == 2 * 128 * 256 * 4096 / (PEAK / 108)  # one tile on one core of 108


def test_a_tile_that_covers_whole_matrices_pads_nothing() -> None:
    ask = product(256.0, 128.0, 640.0, batch=54)
    assert first(padding_efficiency(ask, tiling(256, 128), grid(ask, tiling(256, 128), silicon()))) == 1.0


def test_a_split_shares_the_depth_of_a_tile_in_whole_steps() -> None:
    at = grid(product(128.0, 128.0, 1000.0), tiling(128, 128, split=4), silicon())
    assert (first(at.tiles), first(at.depth)) == (4.0, 256.0)  # 250 elements of k each, in steps of 64


def test_two_stages_of_operands_stand_beside_a_core_and_the_sums_in_its_registers() -> None:
    ask = product(4096.0, 4096.0, 4096.0)
    assert first(footprint(ask, tiling(128, 256), silicon())) == 2 * 64 * (128 + 256) * 2
    assert first(footprint(ask, tiling(128, 256), silicon(accumulator_bytes=0.0))) == 2 * 64 * (128 + 256) * 2 + 4 * 128 * 256


def test_a_tile_fits_by_its_operands_and_by_its_sums() -> None:
    ask = product(4096.0, 4096.0, 4096.0)
    assert fits(ask, tiling(256, 128), silicon()).all()
    assert not fits(ask, tiling(256, 128), silicon(tile_bytes=98303.0)).any()
    assert not fits(ask, tiling(256, 128), silicon(accumulator_bytes=131071.0)).any()


def array_clocks(rows: int, depth: int, cols: int, edge: int) -> int:
    """Clocks of a weight-stationary array of edge x edge cells, stepped one by one: weights enter a row of cells per clock, behind
    those in use; then rows of operands enter one per clock, each cell one clock after its neighbour; partial sums leave below."""
    blocks = (depth // edge) * (cols // edge)
    clock, done = edge, 0  # the first weights
    entered = blocks * [0]
    current = 0
    while done < blocks * rows * edge:
        for block in range(blocks):
            started = edge + block * max(rows, edge)  # weights of a block are loaded while the one before computes
            # row r leaves column c of the array edge + c clocks after it entered
            done += sum(1 for column in range(edge) if 0 <= clock - started - (edge - 1) - column < rows)
        clock += 1
        current += 1
    assert entered == blocks * [0]
    return clock


def test_an_array_fills_and_drains_once_and_runs_its_blocks_back_to_back() -> None:
    """Against an array of 4 x 4 cells stepped clock by clock."""
    edge = 4
    chip = silicon(array=float(edge), cores=1.0, accumulator_bytes=0.0)
    per_clock = 2 * edge * edge
    for rows, depth, cols in ((16, 8, 4), (32, 4, 4), (8, 64, 8)):
        ask = dataclasses.replace(product(float(rows), float(cols), float(depth)), peak=chip.cores * per_clock)
        shape = tiling(max(rows, edge), cols)
        at = grid(ask, shape, chip)._replace(depth=ask.k)
        assert first(tile_math(ask, at, chip)) == array_clocks(rows, depth, cols, edge)
