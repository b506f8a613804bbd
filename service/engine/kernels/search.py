"""Which tile, and how many cores share one: the choice that a library's heuristic would make with perfect knowledge of the model.

Each shape of tile comes with two splits of k around the best one, which is found in closed form. All candidates are timed in
single precision to discard most of them; the rest are timed in double precision and the fastest is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Real, cut
from .gemm import STEP_BYTES, GemmParameters, product_time, tile_feed, tile_math
from .physics import State
from .silicon import Silicon
from .tiling import SUM_BYTES, Product, Tiling, fits, grid, shapes

SURVIVORS = 4
"""Candidates of each row that are timed in double precision."""
LARGEST_SPLIT = 32.0
PART = 1024
"""Rows that go through the search at once, so that their candidates stay in the cache of the processor."""


class Problem(NamedTuple):
    """Products on chips with the parameters of their kernels, row by row."""

    product: Product
    silicon: Silicon
    parameters: GemmParameters

    @property
    def rows(self) -> int:
        return max(np.size(each) for each in (*self.product, *vars(self.silicon).values(), *self.parameters))

    def cut(self, part: slice) -> Problem:
        return Problem(Product(*(cut(each, part) for each in self.product)), self.silicon.cut(part), GemmParameters(*(cut(each, part) for each in self.parameters)))

    def single(self) -> Problem:
        """The same in single precision."""
        return Problem(
            Product(*(each.astype(np.float32) for each in self.product)),
            self.silicon.single(),
            GemmParameters(*(each.astype(np.float32) for each in self.parameters)),
        )

    def time(self, tiling: Tiling, state: State) -> Real:
        """Time of the product for a tiling [s]; endless where the tile has no room."""
        return np.where(fits(self.product, tiling, self.silicon), product_time(self.product, tiling, self.silicon, self.parameters, state), np.inf)


def fastest(problem: Problem, state: State) -> Tiling:
    """The tiling that takes the least time [rows]."""
    chosen = [_fastest(problem.cut(part), state) for part in _parts(problem.rows)]
    return Tiling(*(np.concatenate(columns) for columns in zip(*chosen, strict=True)))


def _parts(rows: int) -> Iterator[slice]:
    return (slice(start, min(start + PART, rows)) for start in range(0, rows, PART))


def _fastest(problem: Problem, state: State) -> Tiling:
    all_of_them = candidates(problem)
    kept = _survivors(problem, all_of_them, state)
    return _take(kept, np.argmin(problem.time(kept, state), axis=0)[np.newaxis], squeeze=True)


def _survivors(problem: Problem, tilings: Tiling, state: State) -> Tiling:
    """The candidates that are fastest in single precision, in their first order, so that ties fall as they would without."""
    with np.errstate(over="ignore", invalid="ignore"):  # sizes beyond single precision: any survivors will do, double precision decides
        rough = problem.single().time(Tiling(*(each.astype(np.float32) for each in tilings)), state)
    return _take(tilings, np.sort(np.argpartition(rough, SURVIVORS, axis=0)[:SURVIVORS], axis=0))


def _take(tilings: Tiling, index: np.ndarray, *, squeeze: bool = False) -> Tiling:
    taken = (np.take_along_axis(each, index, axis=0) for each in tilings)
    return Tiling(*(each[0] if squeeze else each for each in taken))


def candidates(problem: Problem) -> Tiling:
    """Every shape with two splits [2 · shapes, rows]."""
    tm, tn = shapes(problem.product, problem.silicon)
    size = (len(tm), problem.rows)
    tm, tn = np.broadcast_to(tm, size), np.broadcast_to(tn, size)
    below = split_below(problem, tm, tn)
    splits = np.concatenate([below, np.minimum(2.0 * below, LARGEST_SPLIT)])
    return Tiling(np.concatenate([tm, tm]), np.concatenate([tn, tn]), splits)


def split_below(problem: Problem, tm: Real, tn: Real) -> Real:
    """The power of two at or below the best split of k.

    Split s ways, a tile takes A/s along k, adds R·s of partial sums and S·log₂ s of synchronisation; the sum is least where
    A/s² = R + S/(s·ln 2). More than fills one wave, or makes the chip faster than its memory, does not help.
    """
    product, silicon, p = problem
    whole = Tiling(tm, tn, np.ones(1))
    at = grid(product, whole)
    a = np.maximum(tile_math(product, whole, at, silicon) / p.math, tile_feed(product, whole, at, silicon) / p.feed)
    a = np.maximum(a, at.depth * (np.maximum(product.a_bytes, product.b_bytes) / STEP_BYTES * p.step_s))
    r = 2.0 * SUM_BYTES * (product.batch * product.m * product.n) / (p.feed * silicon.clock * silicon.cores)
    u = p.split_s / np.log(2.0)
    best = 2.0 * a / (u + np.sqrt(u * u + 4.0 * a * r))
    useful = a * np.maximum(at.tiles / silicon.cores, 1.0) / (product.bytes / (p.memory * silicon.hbm_bandwidth))
    steps = at.depth / 64.0
    limit = np.minimum(np.minimum(silicon.cores / at.tiles, best), np.minimum(useful, steps))
    _, exponent = np.frexp(np.clip(limit, 1.0, LARGEST_SPLIT))
    return np.ldexp(1.0, exponent - 1)
