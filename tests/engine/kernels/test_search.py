"""The choice of a tile."""

from __future__ import annotations

import numpy as np
import pytest

from service.engine.arrays import Real, column
from service.engine.kernels.gemm import GemmParameters, ladder
from service.engine.kernels.physics import RESIDENT, State
from service.engine.kernels.search import MANY, PART, Problem, candidates, fastest
from service.engine.kernels.silicon import Silicon
from service.engine.kernels.tiling import Tiling, fits, shapes

from .asking import first, product, silicon, usual_gemm

LOOP = State(cache=RESIDENT)


def timed(asked: Problem, tilings: Tiling) -> Real:
    """Every candidate [splits, shapes, rows], endless where a tile has no room."""
    return np.where(fits(asked.product, tilings, asked.silicon), asked.work(tilings, LOOP).alone, np.inf)


def drawn(rows: int, seed: int = 0) -> tuple[Real, Real, Real]:
    m, n, k = np.rint(2.0 ** np.random.default_rng(seed).uniform(0.0, 14.0, (3, rows)))
    return m, n, k


def problem(m: Real, n: Real, k: Real) -> Problem:
    return Problem(product(m, n, k), silicon(), usual_gemm())


def test_one_row_is_the_same_row_of_a_batch_bit_for_bit() -> None:
    """Across the parts in which a batch is searched, and beside other rows of its part."""
    m, n, k = drawn(PART + 300)
    batch = fastest(problem(m, n, k), LOOP)
    many = ladder(problem(m, n, k).product, batch, silicon(), usual_gemm(), LOOP)
    for row in (0, 1, 17, PART - 1, PART, PART + 299):
        one = problem(m[row : row + 1], n[row : row + 1], k[row : row + 1])
        tile = fastest(one, LOOP)
        assert [each.tobytes() for each in tile] == [each[row : row + 1].tobytes() for each in batch]
        alone = ladder(one.product, tile, silicon(), usual_gemm(), LOOP)
        assert [each.tobytes() for each in alone] == [np.broadcast_to(each, m.shape)[row : row + 1].tobytes() for each in many]


@pytest.mark.parametrize("varied", [0, 1, 2])
def test_a_row_of_which_other_rows_share_all_sizes_but_one_is_the_same_alone(varied: int) -> None:
    """Also where few of the rows leave cores idle, whose splits alone are weighed."""
    sizes = [column(300), column(4000), column(9000)]
    sizes[varied] = drawn(200, seed=3)[varied]
    batch = fastest(problem(*sizes), LOOP)
    for row in range(0, 200, 7):
        alone = fastest(problem(*[each[row : row + 1] if each.size > 1 else each for each in sizes]), LOOP)
        assert [each.tobytes() for each in alone] == [np.broadcast_to(each, 200)[row : row + 1].tobytes() for each in batch]


def tried(asked: Problem) -> tuple[float, ...]:
    """The tile of one row, each candidate tried by itself; the first of the fastest."""
    every, _ = candidates(asked)
    times: dict[float, tuple[float, ...]] = {}
    for tm, tn, split in zip(*map(np.ravel, np.broadcast_arrays(*every)), strict=True):
        one = Tiling(column(tm), column(tn), column(split))
        if fits(asked.product, one, asked.silicon).all():
            times.setdefault(first(ladder(asked.product, one, asked.silicon, asked.parameters, LOOP).rate), (tm, tn, split))
    return times[min(times)]


ARRAY = silicon(array=128.0, cores=2.0, cache_bytes=0.0, tile_bytes=2.0**27, accumulator_bytes=0.0)
ADDED_UP = usual_gemm()._replace(overlap=column(1.0))
"""A kernel that moves nothing while it computes."""
SLOWED = usual_gemm()._replace(overlap=column(1.5), throttle=column(0.3))


@pytest.mark.parametrize(("chip", "kernel"), [(silicon(), usual_gemm()), (ARRAY, usual_gemm()), (silicon(), ADDED_UP), (silicon(), SLOWED)])
def test_the_choice_is_that_of_trying_every_candidate_by_itself(chip: Silicon, kernel: GemmParameters) -> None:
    m, n, k = drawn(2 * MANY, seed=1)
    chosen = fastest(Problem(product(m, n, k), chip, kernel), LOOP)
    for row in range(2 * MANY):
        one = Problem(product(m[row], n[row], k[row]), chip, kernel)
        assert tried(one) == tuple(each[row] for each in chosen)


def test_two_splits_in_closed_form_are_as_good_as_trying_all() -> None:
    asked = problem(*drawn(1000, seed=2))
    tm, tn = shapes(asked.product, asked.silicon)
    every = [timed(asked, Tiling(tm, tn, column(split))).min(axis=0) for split in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)]
    ratio = timed(asked, candidates(asked)[0]).min(axis=(0, 1)) / np.min(every, axis=0)
    assert np.quantile(ratio, 0.99) < 1.005
    assert ratio.max() < 1.1


def test_no_chosen_tile_is_larger_than_its_store() -> None:
    asked = Problem(product(*drawn(500, seed=3), width=4.0), silicon(tile_bytes=65536.0), usual_gemm())
    assert fits(asked.product, fastest(asked, LOOP), asked.silicon).all()


@pytest.mark.parametrize("rows", [1, 2 * MANY])
def test_not_even_what_takes_for_ever_is_given_a_tile_without_room(rows: int) -> None:
    asked = Problem(product(*drawn(rows, seed=4), batch=1e280, width=4.0), silicon(tile_bytes=65536.0), SLOWED)
    assert fits(asked.product, fastest(asked, LOOP), asked.silicon).all()


def test_an_array_with_a_large_store_takes_larger_tiles_and_ends_with_the_rows() -> None:
    chip = silicon(array=128.0, cores=1.0, cache_bytes=0.0, tile_bytes=128 * 2.0**20, accumulator_bytes=0.0)
    asked = Problem(product([8.0, 8192.0], 8192.0, 8192.0), chip, usual_gemm())
    chosen = fastest(asked, LOOP)
    assert chosen.tm.tolist()[0] == 8.0
    assert chosen.tm[1] * chosen.tn[1] > 256 * 128
