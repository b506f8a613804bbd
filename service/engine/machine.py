"""What a chip gives, as columns (a chip is a row), and which of its peaks an op runs at.

This is the only place that turns (unit, arithmetic class) into a peak. What a chip lacks is an error, never a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import Gathered, InvalidInput, refuse
from .arrays import Real, cut
from .demand import Demand
from .dtypes import VECTOR_ONLY

VECTOR_FALLBACK = "fp32"
"""The class in which a vector unit computes what it has no peak for."""


@dataclass(frozen=True, eq=False)
class Machine:
    """The numbers of one chip, or of one chip per row, in columns of one length. Unknown is None."""

    matrix_peaks: Mapping[str, Real]
    """dense peak of the matrix unit by arithmetic class [FLOP/s]; empty where there is no matrix unit"""
    vector_peaks: Mapping[str, Real]
    """peak of the vector unit by arithmetic class [FLOP/s]"""
    hbm_bandwidth: Real | None = None
    """[B/s]"""
    is_partial: bool = False
    """written by a caller, who may leave out what the op does not need"""
    derived: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)
    """what follows from these numbers alone, by what was asked: chips of the catalogue are asked for the same again and again"""

    @property
    def rows(self) -> int:
        """Chips that stand in the columns, one per row."""
        return 1 if self.hbm_bandwidth is None else self.hbm_bandwidth.size

    def cut(self, part: slice) -> Machine:
        """The rows of `part`; a column that all rows share stays as it is."""
        if self.rows == 1:
            return self
        return Machine(
            matrix_peaks={name: cut(peak, part) for name, peak in self.matrix_peaks.items()},
            vector_peaks={name: cut(peak, part) for name, peak in self.vector_peaks.items()},
            hbm_bandwidth=None if self.hbm_bandwidth is None else cut(self.hbm_bandwidth, part),
            is_partial=self.is_partial,
        )

    @property
    def memory(self) -> Real:
        """HBM bandwidth [B/s]; raises `InvalidInput` where the chip states none."""
        if self.hbm_bandwidth is None:
            raise refuse("/target/chip/hbm/bandwidth_bytes_per_s", "missing", "The op moves bytes and needs the HBM bandwidth.")
        return self.hbm_bandwidth


class Placement(NamedTuple):
    """The unit that runs an op, its arithmetic class and its peak; no peak where the chip states none and the op may do without."""

    unit: str
    dtype: str
    peak: Real | None


def stacked(machines: Sequence[Machine], placed: Placement) -> Machine:
    """One machine whose rows are `machines`, on all of which an op runs as `placed` says; of their peaks it has that one alone."""
    peaks = {}
    if placed.peak is not None:
        held = [each.matrix_peaks if placed.unit == "matrix" else each.vector_peaks for each in machines]
        peaks = {placed.dtype: np.concatenate([each[placed.dtype] for each in held])}
    return Machine(
        matrix_peaks=peaks if placed.unit == "matrix" else {},
        vector_peaks=peaks if placed.unit == "vector" else {},
        hbm_bandwidth=np.concatenate([each.memory for each in machines]),
        is_partial=placed.peak is None,
    )


def place(machine: Machine, demand: Demand, dtype: str, *, is_asked: bool) -> Placement:
    """The unit of `machine` for a demand of arithmetic class `dtype`; `is_asked` when the caller insists on the class.

    Products run on the matrix unit, everything else, and products on a chip without a matrix unit, on the vector unit.
    A vector unit computes in the op's own class or else in fp32. What only moves bytes needs no peak.

    Raises `InvalidInput`: unsupported-dtype with what the chip has, missing where a chip in place states no peak at all.
    """
    if not demand.has_arithmetic:
        return Placement("vector", dtype, None)
    if demand.has_product and dtype == VECTOR_ONLY:
        raise refuse("/compute_dtype", "unsupported-dtype", "No matrix unit multiplies int32; it can be the format of out.")
    if demand.has_product and machine.matrix_peaks:
        return _on_matrix_unit(machine, dtype)
    if machine.vector_peaks or not machine.is_partial:
        return _on_vector_unit(machine, dtype, is_asked=is_asked)
    if demand.has_product:
        raise refuse("/target/chip/peak_flops_per_s", "missing", "A matrix product needs a peak.")
    return Placement("vector", dtype, None)


def under(machine: Machine, demand: Demand, dtype: str, *, is_asked: bool) -> tuple[Placement, Real | None]:
    """How a demand runs, as `place` says, and the HBM bandwidth [B/s], which one that moves nothing may do without.

    Raises `InvalidInput` with all that the machine lacks.
    """
    found = Gathered()
    placed = found.of(lambda: place(machine, demand, dtype, is_asked=is_asked))
    bandwidth = found.of(lambda: machine.memory) if demand.operands else machine.hbm_bandwidth
    found.check()
    assert placed is not None
    return placed, bandwidth


def _on_matrix_unit(machine: Machine, dtype: str) -> Placement:
    if dtype not in machine.matrix_peaks:
        raise _unsupported("matrix", dtype, machine.matrix_peaks)
    return Placement("matrix", dtype, machine.matrix_peaks[dtype])


def _on_vector_unit(machine: Machine, dtype: str, *, is_asked: bool) -> Placement:
    run = dtype if is_asked or dtype in machine.vector_peaks else VECTOR_FALLBACK
    if run not in machine.vector_peaks:
        raise _unsupported("vector", dtype, machine.vector_peaks)
    return Placement("vector", run, machine.vector_peaks[run])


def _unsupported(unit: str, dtype: str, peaks: Mapping[str, Real]) -> InvalidInput:
    has = tuple(peaks)
    known = f"it has {', '.join(has)}" if has else "no peak of it is known"
    return refuse("/compute_dtype", "unsupported-dtype", f"The chip's {unit} unit has no {dtype} peak; {known}.", has)
