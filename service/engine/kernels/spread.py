"""How far measured times lie from the estimate: a band that holds four of five of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Real


class Band(NamedTuple):
    """Multiples of the estimate at the tenth and the ninetieth of a hundred measured times, by the size of the estimate."""

    edges_s: tuple[float, ...]
    """where one size ends and the next begins, ascending [s]"""
    p10: tuple[float, ...]
    """of each size, one more than edges"""
    p90: tuple[float, ...]


class Spread(NamedTuple):
    """Times between which four of five measurements lie [s]."""

    p10: Real
    p90: Real


def spread(estimate: Real, roofline: Real, band: Band) -> Spread:
    """The band around an estimate; its lower end is not below the roofline.

    >>> import numpy as np
    >>> found = spread(np.array([1e-5, 1e-3]), np.zeros(1), Band((1e-4,), (0.5, 0.9), (2.0, 1.1)))
    >>> found.p10.round(6).tolist(), found.p90.round(6).tolist()
    ([5e-06, 0.0009], [2e-05, 0.0011])
    """
    size = np.searchsorted(band.edges_s, estimate)
    return Spread(np.maximum(estimate * np.array(band.p10)[size], np.minimum(roofline, estimate)), estimate * np.array(band.p90)[size])
