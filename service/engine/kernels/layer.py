"""What a tiling makes of the counts of a roofline: work that is done for nothing, cores that wait, bytes that are read again.

    waves               ⌈blocks/cores⌉, where a block is a tile or one of the `split` shares of a tile along k
    padding efficiency  operations that count, over those of whole tiles as the matrix unit computes them
    wave efficiency     cores that work, over all waves: blocks/(waves·cores)
    t_math of tiles     t_math/(padding efficiency·wave efficiency)

Padding is charged once: a tile that ends outside the matrix makes the operations more, and nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Real
from .rereads import hbm_bytes
from .silicon import Silicon
from .tiling import Grid, Product, Tiling, footprint, grid, padding_efficiency


class Layer(NamedTuple):
    """The tiles of an op on the cores of a chip, in columns."""

    m: Real
    """rows of the output that a tile has"""
    n: Real
    """columns of it; of attention the keys of one step"""
    k: Real
    """what is contracted in one step of the main loop"""
    split: Real
    """cores that share a tile along k; of attention those that share the keys of a head"""
    tiles: Real
    waves: Real
    padding: Real
    """efficiency"""
    wave: Real
    """efficiency"""
    on_chip_bytes: Real
    """of the store beside a core, all stages"""
    hbm_bytes: Real


def of_product(product: Product, tiling: Tiling, silicon: Silicon) -> Layer:
    """The tiles of a matrix product."""
    at = grid(product, tiling, silicon)
    waves = np.ceil(at.tiles / silicon.cores)
    return Layer(
        m=tiling.tm,
        n=tiling.tn,
        k=silicon.step,
        split=tiling.split,
        tiles=at.per_matrix * product.batch,
        waves=waves,
        padding=unit_efficiency(product, tiling, at, silicon),
        wave=at.tiles / (waves * silicon.cores),
        on_chip_bytes=np.ceil(footprint(product, tiling, silicon)),
        hbm_bytes=whole_bytes(hbm_bytes(product, tiling, at, silicon), product),
    )


def unit_efficiency(product: Product, tiling: Tiling, at: Grid, silicon: Silicon) -> Real:
    """Useful operations of those that the matrix unit computes, which rounds what a tile has of it up to its own size."""
    rows = np.maximum(tiling.tm, silicon.issue_rows)
    cols = silicon.array * np.ceil(tiling.tn / silicon.array)
    return padding_efficiency(product, Tiling(rows, cols, tiling.split), at)


def whole_bytes(moved: Real, product: Product) -> Real:
    """Bytes as a whole number, not fewer than each operand once."""
    return np.maximum(np.rint(moved), np.rint(product.bytes))
