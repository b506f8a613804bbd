"""Chips to ask about: as the literature states them, and one that runs whatever there is."""

from __future__ import annotations

from collections.abc import Mapping

from service.engine.arrays import column
from service.engine.dtypes import CLASSES, VECTOR_ONLY
from service.engine.machine import Machine


def machine(
    peaks: Mapping[str, float] | None = None,
    hbm: float | None = None,
    *,
    vector: Mapping[str, float] | None = None,
    is_partial: bool = True,
) -> Machine:
    """A chip of one row from plain numbers [FLOP/s], [B/s]; `is_partial` as if a caller had written it in a request."""
    return Machine(
        matrix_peaks={name: column(peak) for name, peak in (peaks or {}).items()},
        vector_peaks={name: column(peak) for name, peak in (vector or {}).items()},
        hbm_bandwidth=None if hbm is None else column(hbm),
        is_partial=is_partial,
    )


V5E = machine({"bf16": 1.97e14, "int8": 3.94e14}, 8.2e11)
"""TPU v5e as How To Scale Your Model computes with it, ch. 1."""

V5E_TABLE = machine({"bf16": 1.97e14, "int8": 3.94e14}, 8.1e11)
"""TPU v5e with the bandwidth of the book's table, ch. 2."""

H100 = machine({"fp16": 9.9e14, "bf16": 9.9e14, "fp8": 1.98e15}, 3.35e12, vector={"fp32": 33.5e12})
"""H100 SXM as the book computes with it, ch. 12; 33.5 TFLOP/s of fp32 adds."""

B200 = machine({"fp16": 2.3e15, "fp8": 4.5e15}, 8e12)
"""B200 as problem 1 of ch. 12 computes with it."""

EVERYTHING = machine(
    {name: 1e15 * 2**at for at, name in enumerate(CLASSES) if name != VECTOR_ONLY},
    3e12,
    vector={name: 5e13 * (at + 1) for at, name in enumerate(CLASSES)},
)
"""A chip with a peak of its own for every class on both units."""
