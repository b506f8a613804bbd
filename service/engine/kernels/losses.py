"""Why a kernel takes longer than its roofline: the gap, split into seconds that add up to it.

One idealisation after another is given up, always in this order, and what each adds is its loss:

    roofline → padding → waves → re-reads → achieved bandwidth → achieved rate → quantisation → launch

The order matters to who is charged with what two of them cost together; it is part of the definition.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import Real


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

    @property
    def estimate(self) -> Real:
        """Time of the whole op [s]."""
        return self.launch

    @property
    def losses(self) -> Losses:
        """What each step adds."""
        return Losses(*(after - before for before, after in pairwise(self)))


def chosen(candidates: Real, index: Real) -> Real:
    """Row by row the candidate at `index`, of values that may be the same for all rows or all candidates."""
    wide = np.broadcast_to(candidates, np.broadcast_shapes(candidates.shape, (1, index.size)))
    taken: Real = np.take_along_axis(wide, np.broadcast_to(index, (1, wide.shape[1])), axis=0)[0]
    return taken
