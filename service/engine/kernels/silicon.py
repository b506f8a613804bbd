"""What a kernel sees of a chip: cores, their clock, the last cache, and the room for a tile."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..arrays import Real, column, cut

UNLIMITED: Mapping[str, float] = {"cores": 1.0, "clock": np.inf, "cache_bytes": 0.0, "tile_bytes": np.inf, "accumulator_bytes": np.inf, "array": 1.0}
"""What is taken for a number that is unknown: one core, and no limit otherwise."""


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

    def cut(self, part: slice) -> Silicon:
        """The rows of `part`; a column that all rows share stays as it is."""
        return self._each(lambda values: cut(values, part))

    def single(self) -> Silicon:
        """The same in single precision, to discard candidates with."""
        return self._each(lambda values: values.astype(np.float32))

    def _each(self, change: Callable[[Real], Real]) -> Silicon:
        return dataclasses.replace(self, **{field.name: change(getattr(self, field.name)) for field in dataclasses.fields(self)})
