"""What a kernel sees of a chip: cores, their clock, the last cache, and the room for a tile."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import Part, Real, any_of, column, cut

UNLIMITED: Mapping[str, float] = {
    "cores": 1.0,
    "clock": np.inf,
    "cache_bytes": 0.0,
    "tile_bytes": np.inf,
    "accumulator_bytes": np.inf,
    "array": 1.0,
}
"""What is taken for a number that is unknown: one core, and no limit otherwise."""


STEP = 64.0
"""Elements of k that one step of the main loop takes."""
ISSUE_ROWS = 16.0
"""Rows that a matrix instruction computes at least."""
SUM_BYTES = 4.0
"""An fp32 partial sum [B]."""
SHAPES: Real = np.array(
    [
        (256, 128), (128, 256), (128, 128), (256, 64), (64, 256), (128, 64), (64, 128),
        (64, 64), (128, 32), (32, 128), (64, 32), (32, 64), (128, 16), (16, 128),
    ],
    dtype=np.float64,
)  # fmt: skip
"""Rows and columns of the tiles that libraries ship for cores with tensor instructions."""
CANDIDATES = (2, len(SHAPES))
"""Of each row: two splits of k for each shape."""


@dataclass(frozen=True)
class Silicon:
    """One chip, or one chip per row, in columns. What is unknown sets no limit: an infinite clock or room, an empty cache."""

    cores: Real
    """SMs, compute units, tensor cores: what runs one tile each"""
    clock: Real
    """of the cores under load [1/s]"""
    cache_bytes: Real
    """last cache that all cores share in front of HBM; 0 where there is none"""
    tile_bytes: Real
    """what one core keeps of the operands of a tile"""
    accumulator_bytes: Real
    """registers or tensor memory that hold the sums of a tile; 0 where the sums share `tile_bytes`"""
    array: Real
    """edge of a systolic array, to which its operands are padded; 1 where there is none"""
    hbm_bandwidth: Real
    """[B/s]"""

    @classmethod
    def of(cls, numbers: Mapping[str, float], hbm_bandwidth: float) -> Silicon:
        """One chip from plain numbers by the names of the columns; what is absent sets no limit."""
        known = {**UNLIMITED, **numbers, "hbm_bandwidth": hbm_bandwidth}
        return cls(**{field.name: column(known[field.name]) for field in dataclasses.fields(cls)})

    @classmethod
    def stacked(cls, chips: Sequence[Silicon], at: NDArray[np.intp]) -> Silicon:
        """One chip per row: of `chips`, each of one row, the one that `at` says."""
        return cls(**{field.name: np.concatenate([getattr(each, field.name) for each in chips])[at] for field in dataclasses.fields(cls)})

    @cached_property
    def rows(self) -> int:
        columns: list[Real] = [getattr(self, field.name) for field in dataclasses.fields(self)]
        return max(each.size for each in columns)

    @cached_property
    def spread(self) -> Silicon:
        """One chip as a block [splits, shapes, 1], beside which a tiling of one row needs no broadcasting."""
        return Silicon(**{field.name: getattr(self, field.name) * np.ones((*CANDIDATES, 1)) for field in dataclasses.fields(self)})

    def cut(self, part: Part) -> Silicon:
        """The rows of `part`; a column that all rows share stays as it is."""
        if self.rows == 1:
            return self
        return Silicon(**{field.name: cut(getattr(self, field.name), part) for field in dataclasses.fields(self)})

    @cached_property
    def is_cached(self) -> NDArray[np.bool_]:
        """Whether a cache stands in front of HBM."""
        return self.cache_bytes > 0.0

    @cached_property
    def feed_clock(self) -> Real:
        """Clock at which the last cache feeds a core; endless where HBM feeds the core itself [1/s]."""
        return np.where(self.is_cached, self.clock, np.inf)

    @cached_property
    def cores_of_raster(self) -> Real:
        """Cores whose tiles are read together: all behind one cache, each for itself without."""
        return np.where(self.is_cached, self.cores, 1.0)

    @cached_property
    def streams(self) -> NDArray[np.bool_]:
        """Whether a systolic array takes the rows of a tile as a stream."""
        return self.array > 1.0

    @cached_property
    def tile_scale(self) -> Real:
        """Power of two by which the largest tile may grow on a systolic array, in the store that holds its sums."""
        room = np.where(self.sums_apart, self.accumulator_bytes, self.tile_bytes / 2.0)
        largest = SUM_BYTES * SHAPES[0].prod()
        _, exponent = np.frexp(np.sqrt(np.maximum(np.where(np.isfinite(room), room, 0.0) / largest, 1.0)))
        return np.where(self.streams, np.ldexp(1.0, exponent - 1), 1.0)

    @cached_property
    def has_streams(self) -> bool:
        """Whether one of the chips does so."""
        return any_of(self.streams)

    @cached_property
    def shapes(self) -> tuple[Real, Real]:
        """Rows and columns of the tiles to choose among, larger where the store is [shapes, rows]."""
        return SHAPES[:, :1] * self.tile_scale, SHAPES[:, 1:] * self.tile_scale

    @cached_property
    def issue_rows(self) -> Real:
        """Rows of a tile that are computed at least: a matrix instruction has 16; an array takes as long to load its weights."""
        return np.where(self.streams, self.array, ISSUE_ROWS)

    @cached_property
    def fill_rows(self) -> Real:
        """Rows' worth of time until an array has its first weights and has given its last result: 3·edge − 2."""
        return np.where(self.streams, 3.0 * self.array - 2.0, 0.0)

    @cached_property
    def fill_operations(self) -> Real:
        """Operations that an array could do in that time, a multiplication and an addition in each cell and clock."""
        return 2.0 * self.array * self.array * self.fill_rows

    @cached_property
    def step(self) -> Real:
        """Elements of k of one step of the main loop; an array takes its whole edge."""
        return np.maximum(self.array, STEP)

    @cached_property
    def pass_operations(self) -> Real:
        """Operations for one row and one element of k of a pass; a step that ends inside the array takes as long as a whole one."""
        return 2.0 * self.array * (self.array * np.ceil(self.step / self.array) / self.step)

    @cached_property
    def sums_apart(self) -> NDArray[np.bool_]:
        """Whether sums have a store of their own."""
        return self.accumulator_bytes > 0.0

    @cached_property
    def sum_bytes(self) -> Real:
        """Of `tile_bytes` that the sum of one element takes: none where sums have a store of their own."""
        return np.where(self.sums_apart, 0.0, SUM_BYTES)

    @cached_property
    def sums_room(self) -> Real:
        """Elements whose sums the store of their own has room for; no limit where there is none."""
        return np.where(self.sums_apart, self.accumulator_bytes / SUM_BYTES, np.inf)
