"""Why a kernel takes longer than its roofline: the gap, split into seconds that add up to it.

One idealisation after another is given up, always in this order, and what each adds is its loss:

    roofline → padding → waves → re-reads → achieved bandwidth → achieved rate → quantisation → launch

The order matters to who is charged with what two of them cost together; it is part of the definition.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Real, constant

ROUNDING = constant(1.0 + 1e-9)
"""More than a bound is above a time by rounding alone."""
NEVER = constant(1e305)
"""Stands for the time of a candidate that is not to be taken; longer than any whose counts are answered [s]."""


class Losses(NamedTuple):
    """Seconds above the roofline [s], none of them negative."""

    padding_s: Real
    waves_s: Real
    rereads_s: Real
    bandwidth_s: Real
    rate_s: Real
    quantization_s: Real
    launch_s: Real


class Ladder(NamedTuple):
    """The time after each idealisation is given up [s]."""

    roofline: Real
    padding: Real
    waves: Real
    rereads: Real
    bandwidth: Real
    rate: Real
    quantization: Real
    launch: Real

    def climbing(self) -> Ladder:
        """The same with no step below the one before, from which it may differ by rounding."""
        return Ladder(*accumulate(self, np.maximum))

    @property
    def estimate(self) -> Real:
        """Time of the whole op [s]."""
        return self.launch

    @property
    def losses(self) -> Losses:
        """What each step adds."""
        return Losses(*(after - before for before, after in pairwise(self)))


class Choice(NamedTuple):
    """Some candidates of some rows."""

    places: NDArray[np.intp]
    """of what is taken, in a block [candidates, rows] laid out row after row"""
    shape: tuple[int, ...]
    """[candidates, rows], where candidates may have several axes"""

    @property
    def rows(self) -> NDArray[np.intp]:
        """Of which row each is a candidate."""
        return self.places % self.shape[-1]

    def of(self, values: Real) -> Real:
        """What each has of `values`, which may be the same for all candidates or all rows."""
        whole = values if values.shape == self.shape else np.broadcast_to(values, self.shape)
        return whole.reshape(-1)[self.places]


def least(times: Real) -> Choice:
    """The fastest candidate of each row, of `times` [candidates, rows]; the first of those that are equally fast.

    The least of each column, and where it stands, takes NumPy a third of the time of `argmin` down the columns.
    """
    rows = times.shape[-1]
    block = times.reshape(-1, rows)
    if rows == 1:
        return Choice(block.argmin(axis=0), times.shape)
    fastest = (block == block.min(axis=0)).reshape(-1).nonzero()[0][::-1]
    places = np.empty(rows, np.intp)
    places[fastest % rows] = fastest  # where several are written to one place, the last stays
    return Choice(places, times.shape)


def rivals(bounds: Real, reached: Real) -> Choice:
    """Candidates whose `bounds` [candidates, rows] do not tell that another one, which is timed at `reached` [rows], is faster."""
    return Choice((bounds <= reached * ROUNDING).reshape(-1).nonzero()[0], bounds.shape)
