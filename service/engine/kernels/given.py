"""Tiles that are given, not searched for: each used exactly as it stands, k in the given steps and not split.

traffic   without a cache each tile reads its own panels, whole ones also where the matrix ends inside them:
          batch · tm·tn·(tk·(bm·bk·a + bk·bn·b) + bm·bn·out) bytes for tiles of bm x bk x bn, t the tiles along a dim;
          behind a cache rasters of tiles share their panels, as for tiles that are searched for
padding   by the tile that is given, not by what the matrix unit rounds it to; the time of the unit is that of what it computes
Source    How to Scale Your Model, All About Rooflines: tiling; the raster as in `rereads`
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Real
from . import gemm, layer
from .gemm import GemmParameters
from .losses import Ladder
from .physics import State
from .rereads import hbm_bytes
from .silicon import SUM_BYTES, Silicon
from .tiling import STAGES, Product, Tiling, fits, footprint, grid, padding_efficiency

SMALL: Real = np.array([[64.0], [32.0], [16.0], [8.0], [4.0], [2.0], [1.0]])
"""Edges of square tiles for stores that hold none that libraries ship."""


class Tile(NamedTuple):
    """Rows, columns, and elements of k of one step."""

    m: Real
    n: Real
    k: Real

    @property
    def tiling(self) -> Tiling:
        return Tiling(self.m, self.n, np.ones(1))


@dataclass(frozen=True)
class Stepped(Silicon):
    """A chip whose main loop takes other steps along k than its own."""

    loop_step: Real

    @cached_property
    def step(self) -> Real:
        return self.loop_step

    @classmethod
    def by(cls, silicon: Silicon, step: Real) -> Stepped:
        return cls(**{field.name: getattr(silicon, field.name) for field in dataclasses.fields(Silicon)}, loop_step=step)


def whole(product: Product, tile: Tile, silicon: Silicon) -> Product:
    """The product with its matrices filled up to whole tiles where no cache stands between, since then whole tiles are read."""

    def filled(size: Real, edge: Real) -> Real:
        return np.where(silicon.is_cached, size, edge * np.ceil(size / edge))

    sizes = {"m": filled(product.m, tile.m), "n": filled(product.n, tile.n), "k": filled(product.k, tile.k)}
    return dataclasses.replace(product, **sizes)


def ladder(product: Product, tile: Tile, silicon: Silicon, p: GemmParameters, state: State) -> Ladder:
    """From the roofline of the product to the time that it takes in these tiles."""
    chip = Stepped.by(silicon, tile.k)
    found = gemm.ladder(whole(product, tile, silicon), tile.tiling, chip, p, state)
    cold = 1.0 - gemm.hot_share(product, silicon, p, state)
    roofline = np.maximum(product.flops / product.peak, cold * product.bytes / silicon.hbm_bandwidth)
    return found._replace(roofline=roofline).climbing()


def of_product(product: Product, tile: Tile, silicon: Silicon) -> layer.Layer:
    """The tiles of a matrix product, as given."""
    tiling, chip = tile.tiling, Stepped.by(silicon, tile.k)
    read = whole(product, tile, silicon)
    at = grid(read, tiling, chip)
    found = layer.of_product(product, tiling, chip)
    moved = hbm_bytes(read, tiling, at, silicon)
    return found._replace(padding=padding_efficiency(product, tiling, at), hbm_bytes=layer.whole_bytes(moved, product))


class Room(NamedTuple):
    """What a tile takes, and what there is, of the store that it does not fit; the store beside a core first."""

    fits: NDArray[np.bool_]
    operands: Real
    """what the tile takes of the store beside a core"""
    sums: Real
    """what it takes of the store of sums; 0 where they share the first"""


def room(product: Product, tile: Tile, silicon: Silicon) -> Room:
    """Whether a tile has room, and what it takes [B]."""
    chip = Stepped.by(silicon, tile.k)
    sums = np.where(silicon.sums_apart, SUM_BYTES * tile.m * tile.n, 0.0)
    return Room(fits(product, tile.tiling, chip), np.ceil(footprint(product, tile.tiling, chip)), sums)


def shrunk(product: Product, tile: Tile, silicon: Silicon) -> Tile | None:
    """The tile with its longest dim halved until it has room; None where not even one element has."""
    m, n, k = (int(each.max()) for each in tile)
    while True:
        smaller = Tile(*(np.full(1, float(each)) for each in (m, n, k)))
        if room(product, smaller, silicon).fits.all():
            return smaller
        if m == n == k == 1:
            return None
        if k >= max(m, n):
            k = -(-k // 2)
        elif m >= n:
            m = -(-m // 2)
        else:
            n = -(-n // 2)


def squeezed(product: Product, silicon: Silicon) -> Tile:
    """The largest of some small square tiles that has room, for stores that hold none that libraries ship; one element at least."""
    step = np.minimum(SMALL, silicon.step)
    operands = STAGES * step * SMALL * (product.a_bytes + product.b_bytes)
    sums = SUM_BYTES * SMALL * SMALL
    apart = np.where(silicon.sums_apart, silicon.accumulator_bytes, np.inf)
    has_room = (operands + np.where(silicon.sums_apart, 0.0, sums) <= silicon.tile_bytes) & (sums <= apart)
    largest = np.where(has_room.any(axis=0), has_room.argmax(axis=0), len(SMALL) - 1)
    edge = SMALL[largest, 0]
    return Tile(edge, edge, np.minimum(edge, silicon.step))
