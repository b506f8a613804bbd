"""A matrix product cut into tiles: one core computes one tile of the output at a time, k in steps through the store beside it.

tiles      batch · ⌈m/tm⌉ · ⌈n/tn⌉ · split, where `split` cores share one tile along k and add up their partial sums
padding    a tile is computed whole, also where the matrix ends inside it
footprint  two stages of the operands' steps, and the fp32 sums unless registers or tensor memory hold them
Source     NVIDIA, "Matrix Multiplication Background User's Guide", tile and wave quantization; Osama et al. 2023, "Stream-K"
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import TWO, Part, Real, constant, cut
from .silicon import SUM_BYTES, Silicon

STAGES = constant(2.0)
"""Steps that are in the store at once: one is computed with, one arrives."""
SUBLANES = constant(8.0)
"""Rows of a vector register of a chip with a systolic array, to which a tile is cut."""


@dataclass(frozen=True, eq=False)
class Product:
    """`batch` independent products a[m, k] · b[k, n] with the bytes of an element of each operand and the peak they run at."""

    m: Real
    n: Real
    k: Real
    batch: Real
    a_bytes: Real
    b_bytes: Real
    out_bytes: Real
    peak: Real
    """[FLOP/s]"""
    cast_bytes: Real
    """of an element of a before it is quantised on the way; 0 where it arrives as it is"""

    def cut(self, part: Part) -> Product:
        """The rows of `part`; a column that all rows share stays as it is."""
        return Product(*[cut(each, part) for each in self.columns])

    @property
    def columns(self) -> list[Real]:
        """The members, in their order."""
        return [self.m, self.n, self.k, self.batch, self.a_bytes, self.b_bytes, self.out_bytes, self.peak, self.cast_bytes]

    @property
    def rows(self) -> int:
        return max([each.size for each in self.columns])

    @cached_property
    def sizes(self) -> tuple[Real, Real, Real]:
        """Bytes of a, b and out of one pair of matrices."""
        return self.m * self.k * self.a_bytes, self.n * self.k * self.b_bytes, self.m * self.n * self.out_bytes

    @cached_property
    def flops(self) -> Real:
        return TWO * self.batch * self.m * self.n * self.k

    @cached_property
    def inputs(self) -> Real:
        """Bytes of a and b, once [B]."""
        a, b, _ = self.sizes
        return self.batch * (a + b)

    @cached_property
    def bytes(self) -> Real:
        """Each operand once [B]."""
        return self.inputs + self.batch * self.sizes[2]

    @cached_property
    def smaller(self) -> Real:
        """Bytes of the smaller of a and b of one pair."""
        a, b, _ = self.sizes
        return np.minimum(a, b)

    @cached_property
    def sums(self) -> Real:
        """Bytes of the output in partial sums."""
        return SUM_BYTES * self.batch * self.m * self.n


class Tiling(NamedTuple):
    """Tiles of tm x tn, each shared by `split` cores along k; [rows], or with candidates on leading axes."""

    tm: Real
    tn: Real
    split: Real


class Grid(NamedTuple):
    """What follows from a tiling of a product."""

    rows: Real
    """tiles along m"""
    cols: Real
    """tiles along n"""
    tiles: Real
    """in all, splits and batch counted"""
    depth: Real
    """elements of k that one core walks for a tile, whole steps"""
    operations: Real
    """that a core spends on each of them, computed by the matrix unit or not"""
    panel: Real
    """bytes of the operands that a core is fed for each of them"""

    @property
    def per_matrix(self) -> Real:
        return self.rows * self.cols

    def cut(self, part: Part) -> Grid:
        """The rows of `part`; what all rows share stays as it is."""
        return Grid(*[each[..., part] if each.shape[-1] > 1 else each for each in self])

    def split(self, by: Real, product: Product, silicon: Silicon) -> Grid:
        """The same with each tile, a whole one so far, shared by so many cores."""
        return Grid(self.rows, self.cols, self.tiles * by, depth(product, by, silicon), self.operations, self.panel)


def shapes(product: Product, silicon: Silicon) -> tuple[Real, Real]:
    """tm and tn of the candidates [shapes, rows]: those of libraries, larger by a power of two where the store is larger.

    On a systolic array, which takes rows as a stream, a tile ends with the rows of the matrix.
    """
    tm, tn = silicon.shapes
    if silicon.has_streams:
        tm = np.where(silicon.streams, np.minimum(tm, SUBLANES * np.ceil(product.m / SUBLANES)), tm)
    return tm, tn


def grid(product: Product, tiling: Tiling, silicon: Silicon) -> Grid:
    """Tiles of a product and the depth that each walks."""
    rows, cols = np.ceil(product.m / tiling.tm), np.ceil(product.n / tiling.tn)
    tiles = rows * cols * tiling.split * product.batch
    return Grid(rows, cols, tiles, depth(product, tiling.split, silicon), operations(tiling, silicon), panel(product, tiling))


def operations(tiling: Tiling, silicon: Silicon) -> Real:
    """Operations that a core spends on each element of k: of a pass for each block of columns, for each row or as long as one takes."""
    return silicon.pass_operations * np.ceil(tiling.tn / silicon.array) * np.maximum(tiling.tm, silicon.issue_rows)


def panel(product: Product, tiling: Tiling) -> Real:
    """Bytes that a core is fed for each element of k; what lies beyond the end of the matrix is computed, but nobody fetches it."""
    return np.minimum(tiling.tm, product.m) * product.a_bytes + np.minimum(tiling.tn, product.n) * product.b_bytes


def depth(product: Product, split: Real, silicon: Silicon) -> Real:
    """Elements of k that one of `split` cores walks, whole steps."""
    return silicon.step * np.ceil(product.k / silicon.step / split)


def footprint(product: Product, tiling: Tiling, silicon: Silicon) -> Real:
    """Bytes of the store beside a core that a tile takes."""
    operands = STAGES * silicon.step * (tiling.tm * product.a_bytes + tiling.tn * product.b_bytes)
    return operands + silicon.sum_bytes * (tiling.tm * tiling.tn)


def fits(product: Product, tiling: Tiling, silicon: Silicon) -> NDArray[np.bool_]:
    """Whether a tile has room, operands and sums."""
    room: NDArray[np.bool_] = footprint(product, tiling, silicon) <= silicon.tile_bytes
    return room & (tiling.tm * tiling.tn <= silicon.sums_room)


def padding_efficiency(product: Product, tiling: Tiling, at: Grid) -> Real:
    """Useful operations of those that whole tiles compute."""
    return product.m * product.n * product.k / (at.rows * tiling.tm * at.cols * tiling.tn * at.depth * tiling.split)
