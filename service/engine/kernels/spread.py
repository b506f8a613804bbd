"""How far measured times lie from the estimate: a band that holds four of five of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Real


class Band(NamedTuple):
    """Multiples of the estimate at the tenth and the ninetieth of a hundred measured times, by the size of the estimate."""

    edges_s: Real
    """where one size ends and the next begins, ascending [s]"""
    p10: Real
    """of each size, one more than edges"""
    p90: Real


def around(one: Band, other: Band) -> Band:
    """The band that holds both.

    >>> import numpy as np
    >>> small = Band(np.array([1e-4]), np.array([0.5, 0.9]), np.array([2.0, 1.1]))
    >>> found = around(small, Band(np.array([]), np.array([0.8]), np.array([1.5])))
    >>> found.p10.tolist(), found.p90.tolist()
    ([0.5, 0.8], [2.0, 1.5])
    """
    edges = np.union1d(one.edges_s, other.edges_s)
    inside = np.append(edges, np.inf)  # the upper edge of a size is its own
    ones, others = (each.edges_s.searchsorted(inside) for each in (one, other))
    return Band(edges, np.minimum(one.p10[ones], other.p10[others]), np.maximum(one.p90[ones], other.p90[others]))


class Spread(NamedTuple):
    """Times between which four of five measurements lie [s]."""

    p10: Real
    p90: Real


def spread(estimate: Real, roofline: Real, band: Band) -> Spread:
    """The band around an estimate; its lower end is not below the roofline.

    >>> import numpy as np
    >>> band = Band(np.array([1e-4]), np.array([0.5, 0.9]), np.array([2.0, 1.1]))
    >>> found = spread(np.array([1e-5, 1e-3]), np.zeros(1), band)
    >>> found.p10.round(6).tolist(), found.p90.round(6).tolist()
    ([5e-06, 0.0009], [2e-05, 0.0011])
    """
    size = band.edges_s.searchsorted(estimate)
    return Spread(np.maximum(estimate * band.p10[size], np.minimum(roofline, estimate)), estimate * band.p90[size])
