"""Bands that hold about four of five measured times of rows that no fit has seen.

A program has few rows, and their errors have long tails: its own tenth and ninetieth percentile would be little known. What is its own
is how large its errors are, by the size of the estimate; how far out the tails lie in errors of this size, all programs of a kernel say,
and its own rows as far as there are many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from service.catalogue.kernels import ANY

from .bounded import Real
from .calibrate import FAMILIES, Fitted

BIN_ROWS, MOST_BINS = 15, 12
"""A size of estimates has so many rows."""
DRAWN_ROWS = 10
"""The error of a size is drawn to that of its program as if by so many rows."""
LEAST = 0.005
"""Added to each error, so that a row that is met by chance does not make its neighbours certain."""
TAIL_ROWS = 100
"""The tails of a program are drawn to those of its kernel as if by so many rows."""
OUTSIDE, OUTSIDE_APART = 0.108, 0.09
"""Share of the rows below a band of a chip, and above it; and below one for chips that were not timed. Where a quarter of the rows, or a
chip, is unknown to fits and bands, three quarters or more of its rows lie inside."""

CHIP = "chip"
Place = tuple[str, str, tuple[str, ...]]
"""A kernel, a program and the chips that were fitted."""


class Band(NamedTuple):
    """Multiples of the estimate between which four fifths of the measured times lie, by the size of the estimate [s]."""

    edges_s: Real
    p10: Real
    p90: Real


@dataclass(frozen=True)
class Typical:
    """The size of the errors of one program, as logarithms, by the size of the estimate [s]."""

    edges_s: Real
    error: Real

    def standard(self, fitted: Fitted) -> Real:
        """Errors of the rows in errors of their size."""
        return np.log(fitted.unseen) / self.error[self.edges_s.searchsorted(fitted.expected_s)]

    def band(self, low: float, high: float) -> Band:
        """Where the tails lie so far out, in errors of a size; the estimate itself is inside."""
        return Band(self.edges_s, np.exp(min(low, 0.0) * self.error), np.exp(max(high, 0.0) * self.error))


def bands(fits: Iterable[Fitted]) -> Mapping[Place, Band]:
    """The band of each fit. Those of a kernel that speak of a chip share their tails, and so do those of families, and of any chip."""
    alike: dict[tuple[str, str], list[Fitted]] = defaultdict(list)
    for fitted in fits:
        alike[fitted.kernel, _reach(fitted)].append(fitted)
    outside = {reach: OUTSIDE if reach == CHIP else OUTSIDE_APART for _, reach in alike}
    return {place: band for (_, reach), some in alike.items() for place, band in _banded(some, outside[reach])}


def _banded(alike: Iterable[Fitted], outside: float) -> Iterator[tuple[Place, Band]]:
    every = [(fitted, typical := _typical(fitted), typical.standard(fitted)) for fitted in alike]
    ends = [outside, 1.0 - outside]
    of_kernel = np.quantile(np.concatenate([standard for *_, standard in every]), ends)
    for fitted, typical, standard in every:
        own = np.quantile(standard, ends)
        low, high = (own * standard.size + of_kernel * TAIL_ROWS) / (standard.size + TAIL_ROWS)
        yield fitted.place, typical.band(float(low), float(high))


def _typical(fitted: Fitted) -> Typical:
    """Errors in bins of equal numbers of rows."""
    bins = int(np.clip(fitted.unseen.size / BIN_ROWS, 1, MOST_BINS))
    edges = np.quantile(fitted.expected_s, np.arange(1, bins) / bins)
    errors, size = np.abs(np.log(fitted.unseen)), edges.searchsorted(fitted.expected_s)
    rows = np.bincount(size, minlength=bins)
    own = np.array([_mean(errors[size == each]) for each in range(bins)])
    return Typical(edges, (own * rows + _mean(errors) * DRAWN_ROWS) / (rows + DRAWN_ROWS))


def _mean(errors: Real) -> float:
    """Geometric, for a few errors are many times the others."""
    return float(np.exp(np.mean(np.log(errors + LEAST))))


def _reach(fitted: Fitted) -> str:
    """Of what a fit speaks."""
    if fitted.name == ANY:
        return "any format"
    if len(fitted.chips) == 1:
        return CHIP
    return "family" if any(set(fitted.chips) <= set(chips) for chips in FAMILIES.values()) else "any chip"
