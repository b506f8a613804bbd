"""Which tile, and how many cores share one: the choice that a library's heuristic would make with perfect knowledge of the model.

Each shape of tile comes with two splits of k around the best one, which is found in closed form. What chip and memory take is computed
of all of them, as rows of one block. How well the two overlap takes powers, and is computed of those alone that bounds do not exclude.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..arrays import ONE, TWO, Part, Real, all_of, constant, cut, power_of_two
from .gemm import GemmParameters, Streams, Work, apart, step_time, tile_feed, tile_math, work
from .losses import NEVER, least, rivals
from .physics import State, throttled
from .silicon import CANDIDATES, Silicon
from .tiling import Grid, Product, Tiling, fits, grid, shapes

SPLITS: Real = np.array([[[1.0]], [[2.0]]])
"""Of each candidate, in multiples of the power of two below the best split."""
LARGEST_SPLIT = constant(32.0)
AHEAD = constant(1.5)
"""How much faster than its memory a split may make the chip: the two overlap imperfectly, so that some of it still pays."""
SMALLEST = constant(1e-100)
"""Stands for a split that costs nothing [s]."""
FOUR, LN_2 = constant(4.0), constant(np.log(2.0))
PART = 2048
"""Rows that go through the search at once, so that their candidates stay in the cache of the processor."""
MANY = 128
"""Rows from which on it pays to find out by bounds which candidates need not be timed."""


class Problem(NamedTuple):
    """Products on chips with the parameters of their kernels, row by row."""

    product: Product
    silicon: Silicon
    parameters: GemmParameters

    @property
    def rows(self) -> int:
        return max(self.product.rows, self.silicon.rows, self.parameters.math.size)

    @property
    def repeated(self) -> Problem:
        """One row for each candidate, [splits, shapes, 1]: arrays of one shape are multiplied in half the time that broadcasting takes."""
        columns = (*self.product.columns, *self.parameters)
        blocks = np.repeat(np.concatenate(columns), prod(CANDIDATES)).reshape(len(columns), *CANDIDATES, 1)
        own = len(columns) - len(self.parameters)
        return Problem(Product(*blocks[:own]), self.silicon.spread, GemmParameters(*blocks[own:]))

    def cut(self, part: Part) -> Problem:
        return Problem(self.product.cut(part), self.silicon.cut(part), GemmParameters(*(cut(each, part) for each in self.parameters)))

    def work(self, tiling: Tiling, state: State) -> Work:
        """What a tiling that has room does."""
        product, silicon, p = self
        return work(product, tiling, silicon, p, state, at=grid(product, tiling, silicon))


class Found(NamedTuple):
    """The fastest tiling and what it does [rows]."""

    tiling: Tiling
    work: Work


def fastest(problem: Problem, state: State) -> Tiling:
    """The tiling that takes the least time [rows]."""
    return search(problem, state).tiling


def search(problem: Problem, state: State) -> Found:
    """The tiling that takes the least time, with the parts of that time."""
    rows = problem.rows
    if rows <= PART:
        return _search(problem, rows, state)
    parts = [_search(problem.cut(slice(start, start + PART)), min(PART, rows - start), state) for start in range(0, rows, PART)]
    tilings, works = zip(*parts, strict=True)
    return Found(_joined(tilings), _joined(works))


def _joined(parts: tuple[Any, ...]) -> Any:
    """Columns of parts, one after another."""
    return type(parts[0])(*map(np.concatenate, zip(*parts, strict=True)))


def _search(problem: Problem, rows: int, state: State) -> Found:
    product, silicon, p = wide = problem.repeated if rows == 1 else problem
    every, at = candidates(wide)
    parts, streams = apart(product, every, silicon, p, state, at=at)
    has_room = fits(product, every, silicon)
    if not all_of(has_room):
        streams = streams._replace(sums=np.where(has_room, streams.sums, NEVER))
    times = streams.together(p) if rows < MANY else _times_of_rivals(streams, p)
    best = least(times if times.shape[-1] == rows else np.broadcast_to(times, (*times.shape[:-1], rows)))
    return Found(Tiling(*map(best.of, every)), Work(*map(best.of, (*parts, times))))


def _times_of_rivals(streams: Streams, p: GemmParameters) -> Real:
    """Times of the candidates that may be the fastest, one of six or so [splits, shapes, rows]; the others are excluded by bounds."""
    low, high = streams.between(p)
    reached = throttled(high.min(axis=(0, 1)), ONE, p.throttle)
    few = rivals(low, reached)
    rows = few.rows
    times = np.full(low.shape, NEVER)
    times.reshape(-1)[few.places] = Streams(*map(few.of, streams)).together(GemmParameters(*[cut(each, rows) for each in p]))
    return times


def candidates(problem: Problem) -> tuple[Tiling, Grid]:
    """Every shape with the split below the best one, and again with twice that split [splits, shapes, rows]; and what follows."""
    product, silicon, _ = problem
    tm, tn = shapes(product, silicon)
    whole = grid(product, Tiling(tm, tn, ONE), silicon)
    split = np.minimum(SPLITS * split_below(problem, whole), LARGEST_SPLIT)
    return Tiling(tm, tn, split), whole.split(split, product, silicon)


def split_below(problem: Problem, at: Grid) -> Real:
    """The power of two at or below the best split of k, for tiles that stand whole in `at`.

    Split s ways, a tile takes A/s along k, adds R·s of partial sums and S·log₂ s of synchronisation; the sum is least where
    A/s² = R + S/(s·ln 2). More than fills one wave, or leaves the memory far behind the chip, does not help; tiles that fill a wave
    already are not split.
    """
    cores = problem.silicon.cores / at.tiles
    idle = (cores.max(axis=tuple(range(cores.ndim - 1))) > ONE).nonzero()[0]
    if idle.size == cores.shape[-1]:
        return _split_below(problem, at, cores)
    found = np.ones_like(cores)
    if idle.size:
        found[..., idle] = _split_below(problem.cut(idle), at.cut(idle), cores[..., idle])
    return found


def _split_below(problem: Problem, at: Grid, cores: Real) -> Real:
    """The same where some tiles do not fill a wave; `cores` are there for each of them."""
    product, silicon, p = problem
    a = np.maximum(tile_math(product, at, silicon) / p.math, tile_feed(at, silicon) / p.feed)
    a = np.maximum(a, at.depth * step_time(product, p))
    r4 = FOUR * (TWO * product.sums / (p.feed * silicon.clock * silicon.cores))
    u = p.split_s / LN_2
    best = TWO * a / np.maximum(u + np.sqrt(u * u + a * r4), SMALLEST)
    useful = AHEAD * a / (product.bytes / (p.memory * silicon.hbm_bandwidth))
    limit = np.minimum(np.minimum(cores, best), np.minimum(useful, at.depth / silicon.step))
    return power_of_two(np.minimum(np.maximum(limit, ONE), LARGEST_SPLIT))
