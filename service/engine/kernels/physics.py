"""Laws that all kernels share: waves of blocks over cores, work that overlaps imperfectly, clocks that fall, caches that keep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import ONE, TWO, ZERO, Real, constant

THROTTLE_AFTER_S = constant(1e-3)
"""Time in which half of the loss of clock of a long kernel has come [s]: power limits act over milliseconds."""

PARTLY_CACHED = constant(0.35)
"""Share of the last cache over which a working set goes from fitting whole to not at all."""

GRAPH, EAGER = "graph", "eager"
COLD, RESIDENT = "cold", "resident"


class State(NamedTuple):
    """How an op is run: what stands between two kernels, and what the caches hold."""

    launch: str = GRAPH
    """`graph`: device time in a steady loop; `eager`: the host launches each op"""
    cache: str = COLD
    """`cold`: every operand comes from HBM; `resident`: those that fit come from the last cache"""


def waves(blocks: Real, cores: Real, quantized: Real) -> Real:
    """Rounds that the cores need for so many equal blocks.

    `quantized` is 1 where a last round of few blocks costs a whole one, 0 where persistent kernels share it out evenly.

    >>> import numpy as np
    >>> waves(np.array([108.0, 109.0, 109.0]), np.array([108.0]), np.array([1.0, 1.0, 0.0])).round(3)
    array([1.   , 2.   , 1.009])
    """
    even = np.maximum(blocks / cores, ONE)
    rounds: Real = even + quantized * (np.ceil(even) - even)
    return rounds


def overlapped(a: Real, b: Real, overlap: Real) -> Real:
    """Time of two streams of work that run at once [s]: (aᵖ + bᵖ)^(1/p), their sum for p = 1, the longer one as p grows.

    >>> import numpy as np
    >>> overlapped(np.array([3.0]), np.array([4.0]), np.array([2.0]))
    array([5.])
    """
    longer = np.maximum(a, b)
    ratio = np.minimum(a, b) / longer
    return longer * (ONE + ratio**overlap) ** (ONE / overlap)


def overlapped_between(a: Real, b: Real, overlap: Real) -> tuple[Real, Real]:
    """Bounds of `overlapped` [s], without a power of each pair, for an exponent of 1 or more.

    Of one sum, two equally long streams take the least time: (aᵖ + bᵖ)^(1/p) ≥ 2^(1/p − 1)·(a + b). For a given longer one the time
    rises with the shorter one, ever steeper, so that it stays below the line from none to an equally long one.
    Source: Hardy, Littlewood, Pólya 1934, "Inequalities", theorems 16 and 86
    """
    longer, both, even = np.maximum(a, b), a + b, TWO ** (ONE / overlap - ONE)
    least, share = even * both, TWO * even - ONE
    return np.maximum(longer, least), longer + share * (both - longer)


def throttled(t: Real, share: Real, loss: Real) -> Real:
    """Time [s] when the clock falls by the fraction `loss` in the long run, felt by the `share` of the time that computes."""
    return t * (ONE + loss / (ONE - loss) * share * t / (t + THROTTLE_AFTER_S))


def cached_share(bytes_moved: Real, capacity: Real, *, copies: Real, share: Real) -> Real:
    """Fraction of the traffic that the last cache serves in a loop over `copies` sets of operands; `share` at most."""
    room = capacity - copies * bytes_moved
    return share * np.minimum(np.maximum(room / np.maximum(PARTLY_CACHED * capacity, ONE), ZERO), ONE)
