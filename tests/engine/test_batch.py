"""Reports cut into rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from service.engine import batch
from service.engine.arrays import column
from service.engine.machine import Machine
from service.engine.ops.matmul import Matmul

CHIP = Machine({"bf16": column(1.97e14)}, {}, column(8.2e11))


def told(found: Any) -> Any:
    """A part of a report as plain values, with the shapes of its columns."""
    if isinstance(found, np.ndarray):
        return found.shape, found.tobytes()
    if isinstance(found, dict):
        return {name: told(each) for name, each in found.items()}
    return tuple([told(each) for each in found]) if isinstance(found, tuple) else found


def test_all_rows_at_once_are_the_rows_one_by_one() -> None:
    sizes = np.array([1.0, 7.0, 512.0, 4096.0, 20_000.0])
    term = Matmul(m=sizes, k=column(8192), n=column(28672), batch=sizes, dtype="bf16", b_dtype="int8").resolved()
    report = batch.evaluate(term, CHIP)
    rows = batch.rows_of(report, sizes.size)
    assert [told(each) for each in rows] == [told(batch.row_of(report, at, sizes.size)) for at in range(sizes.size)]
    assert [each.flops.item() for each in rows] == [2.0 * size * size * 8192 * 28672 for size in sizes]
