"""Which tile, and how many cores share one: the choice that a library's heuristic would make with perfect knowledge of the model.

Each shape of tile comes with two splits of k around the best one, which is found in closed form. A rough time, without powers,
discards most candidates; the rest are timed in full and the fastest is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Real, cut
from .gemm import STEP_BYTES, GemmParameters, product_time, tile_feed, tile_math, work
from .physics import State
from .silicon import Silicon
from .tiling import Product, Tiling, fits, grid, shapes

SURVIVORS = 4
"""Candidates of each row that are timed in full."""
LARGEST_SPLIT = 32.0
AHEAD = 1.5
"""How much faster than its memory a split may make the chip: the two overlap imperfectly, so that some of it still pays."""
SMALLEST = 1e-100
"""Stands for a split that costs nothing [s]."""
PART = 1024
"""Rows that go through the search at once, so that their candidates stay in the cache of the processor."""


class Problem(NamedTuple):
    """Products on chips with the parameters of their kernels, row by row."""

    product: Product
    silicon: Silicon
    parameters: GemmParameters

    @property
    def rows(self) -> int:
        return max(self.product.rows, self.silicon.cores.size, *(each.size for each in self.parameters))

    def cut(self, part: slice) -> Problem:
        return Problem(self.product.cut(part), self.silicon.cut(part), GemmParameters(*(cut(each, part) for each in self.parameters)))

    def time(self, tiling: Tiling, state: State) -> Real:
        """Time of the product for a tiling that has room [s]."""
        return product_time(self.product, tiling, self.silicon, self.parameters, state)

    def rough_time(self, tiling: Tiling, state: State) -> Real:
        """The same with the powers of the overlap replaced by a parabola that meets them at both ends, and no loss of clock [s]."""
        parts = work(self.product, tiling, self.silicon, self.parameters, state)
        longer, shorter = np.maximum(parts.chip, parts.memory), np.minimum(parts.chip, parts.memory)
        equal = 2.0 ** (1.0 / self.parameters.overlap) - 1.0
        t = longer + equal * shorter * (shorter / longer) + parts.split
        return np.where(fits(self.product, tiling, self.silicon), t, np.inf)


def fastest(problem: Problem, state: State) -> Tiling:
    """The tiling that takes the least time [rows]."""
    rows = problem.rows
    if rows <= PART:
        return _fastest(problem, state)
    chosen = [_fastest(problem.cut(slice(start, start + PART)), state) for start in range(0, rows, PART)]
    return Tiling(*(np.concatenate(columns) for columns in zip(*chosen, strict=True)))


def _fastest(problem: Problem, state: State) -> Tiling:
    every = candidates(problem)
    rough = problem.rough_time(every, state)
    shape_count, rows = rough.shape[1:]
    rough = rough.reshape(-1, rows)
    index = np.sort(np.argpartition(rough, SURVIVORS, axis=0)[:SURVIVORS], axis=0)  # in their first order, for ties
    row, shape = np.arange(rows), index % shape_count
    tm, tn = (np.broadcast_to(each, (shape_count, rows))[shape, row] for each in (every.tm, every.tn))
    kept = Tiling(tm, tn, every.split.reshape(-1, rows)[index, row])
    times = np.where(rough[index, row] < np.inf, problem.time(kept, state), np.inf)
    best = np.argmin(times, axis=0)
    return Tiling(*(each[best, row] for each in kept))


def candidates(problem: Problem) -> Tiling:
    """Every shape [shapes, rows] with two splits [2, shapes, rows], so that what a split does not change is computed once."""
    tm, tn = shapes(problem.product, problem.silicon)
    below = np.broadcast_to(split_below(problem, tm, tn), (len(tm), problem.rows))
    return Tiling(tm, tn, np.stack([below, np.minimum(2.0 * below, LARGEST_SPLIT)]))


def split_below(problem: Problem, tm: Real, tn: Real) -> Real:
    """The power of two at or below the best split of k.

    Split s ways, a tile takes A/s along k, adds R·s of partial sums and S·log₂ s of synchronisation; the sum is least where
    A/s² = R + S/(s·ln 2). More than fills one wave, or leaves the memory far behind the chip, does not help.
    """
    product, silicon, p = problem
    whole = Tiling(tm, tn, np.ones(1))
    at = grid(product, whole, silicon)
    a = np.maximum(tile_math(product, whole, at, silicon) / p.math, tile_feed(product, whole, at, silicon) / p.feed)
    a = np.maximum(a, at.depth * (np.maximum(product.a_bytes, product.b_bytes) / STEP_BYTES * p.step_s))
    r = 2.0 * product.sums / (p.feed * silicon.clock * silicon.cores)
    u = p.split_s / np.log(2.0)
    best = 2.0 * a / np.maximum(u + np.sqrt(u * u + 4.0 * a * r), SMALLEST)
    useful = AHEAD * a * np.maximum(at.tiles / silicon.cores, 1.0) / (product.bytes / (p.memory * silicon.hbm_bandwidth))
    limit = np.minimum(np.minimum(silicon.cores / at.tiles, best), np.minimum(useful, at.depth / silicon.step))
    _, exponent = np.frexp(np.minimum(np.maximum(limit, 1.0), LARGEST_SPLIT))
    below: Real = np.ldexp(1.0, exponent - 1)
    return below
