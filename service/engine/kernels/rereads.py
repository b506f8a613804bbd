"""Bytes that tiles read more than once from HBM, and what the last cache saves.

The tiles that are computed at once, one per core, stand in a raster of r x c tiles. With a cache in front of HBM each raster reads
its r panels of a and its c panels of b once; the whole product reads a once for each column of rasters and b once for each row of
them. Without a cache every tile reads its own panels, r = c = 1. A smaller operand that stays in the cache is not read again.
Source     counted in the order of the walk; the raster is the near-square one, as in CUTLASS, "Threadblock swizzling"
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import ONE, TWO, ZERO, Real, constant
from .silicon import Silicon
from .tiling import Grid, Product, Tiling

KEPT = constant(0.6)
"""Share of the last cache that the smaller operand can keep while the other streams through."""
SPILL = constant(0.5)
"""Share of the last cache that partial sums can keep."""


class Raster(NamedTuple):
    """Tiles in flight, in rows and columns of tiles."""

    rows: Real
    cols: Real


def raster(at: Grid, tiling: Tiling, silicon: Silicon) -> Raster:
    """The raster of one tile per core that reads least; of one tile where each core reads for itself."""
    cores = silicon.cores_of_raster
    near_square = np.minimum(np.maximum(np.rint(np.sqrt(cores * tiling.tn / tiling.tm)), ONE), cores)
    rows = np.minimum(at.rows, near_square)
    return Raster(rows, np.minimum(at.cols, np.ceil(cores / rows)))


def operand_reads(product: Product, at: Grid, over: Raster) -> Real:
    """Bytes of a and b that rasters read from HBM, nothing kept between them."""
    a, b, _ = product.sizes
    return product.batch * (a * np.ceil(at.cols / over.cols) + b * np.ceil(at.rows / over.rows))


def hbm_bytes(product: Product, tiling: Tiling, at: Grid, silicon: Silicon) -> Real:
    """Bytes between HBM and the chip: operands as often as they are read, the output once, partial sums that the cache cannot keep."""
    return unsplit_bytes(product, tiling, at, silicon) + spilled_bytes(partial_bytes(product, tiling), silicon)


def unsplit_bytes(product: Product, tiling: Tiling, at: Grid, silicon: Silicon) -> Real:
    """The same without partial sums."""
    again = operand_reads(product, at, raster(at, tiling, silicon)) - product.inputs
    missed = ONE - np.minimum(KEPT * silicon.cache_bytes / product.smaller, ONE)
    return product.bytes + again * missed


def spilled_bytes(partial: Real, silicon: Silicon) -> Real:
    """Bytes of partial sums that the cache cannot keep."""
    return np.maximum(partial - SPILL * silicon.cache_bytes, ZERO)


def partial_bytes(product: Product, tiling: Tiling) -> Real:
    """Bytes of partial sums that split tiles write and read; none without a split."""
    return (tiling.split > ONE) * tiling.split * (TWO * product.sums)
