"""From columns to what a document holds: the number of one row, or the whole list. The only place where a column becomes a number.

Whole numbers up to 2^53 are written without a point, larger ones as floats. A number that is not finite is a fault of ours;
what does not exist is marked as not present and written as null.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from ..engine.arrays import Code, Real
from ..errors import Internal

Flag = NDArray[np.bool_]

Names = tuple[str | None, ...]
"""Words by code; the first means that there is none."""

EXACT = 2.0**53


class Cells(Protocol):
    """How a column is written. `present` marks the rows that have the value; the others hold null."""

    def number(self, column: Real, present: Flag | None = None) -> Any: ...
    def whole(self, column: Real, present: Flag | None = None) -> Any: ...
    def name(self, codes: Code, names: Names, present: Flag | None = None) -> Any: ...
    def flag(self, column: Flag, present: Flag | None = None) -> Any: ...


class OneRow:
    """The number of a column of one row."""

    def number(self, column: Real, present: Flag | None = None) -> float | None:
        if present is not None and not present.item():
            return None
        value: float = column.item()
        if value - value != 0.0:  # infinity and NaN alone
            raise not_finite()
        return value

    def whole(self, column: Real, present: Flag | None = None) -> float | int | None:
        value = self.number(column, present)
        return int(value) if value is not None and -EXACT <= value <= EXACT else value

    def name(self, codes: Code, names: Names, present: Flag | None = None) -> str | None:
        return None if present is not None and not present.item() else names[codes.item()]

    def flag(self, column: Flag, present: Flag | None = None) -> bool | None:
        return None if present is not None and not present.item() else bool(column.item())


class AllRows:
    """Lists with one member per row; a column that all rows share is repeated."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def number(self, column: Real, present: Flag | None = None) -> Any:
        full = self._full(column)
        checked = full if present is None else full[self._full(present)]
        if not np.isfinite(checked).all():
            raise not_finite()
        return self._with_nulls(full, present)

    def whole(self, column: Real, present: Flag | None = None) -> Any:
        full = self.number(column, present)
        if isinstance(full, np.ndarray) and (np.abs(full) <= EXACT).all():
            return full.astype(np.int64)
        return [int(value) if value is not None and abs(value) <= EXACT else value for value in list(full)]

    def name(self, codes: Code, names: Names, present: Flag | None = None) -> Any:
        words = [orjson.dumps(name) for name in names]
        known = codes if present is None else np.where(present, codes, np.int8(0))
        return orjson.Fragment(b"[" + b",".join([words[code] for code in self._full(known).tolist()]) + b"]")

    def flag(self, column: Flag, present: Flag | None = None) -> Any:
        return self._with_nulls(self._full(column), present)

    def _full(self, column: Any) -> Any:
        return np.ascontiguousarray(np.broadcast_to(column, (self._rows,)))

    def _with_nulls(self, full: Any, present: Flag | None) -> Any:
        if present is None or present.all():
            return full
        return [value if here else None for value, here in zip(full.tolist(), self._full(present).tolist(), strict=True)]


def not_finite() -> Internal:
    return Internal("A number of the answer is not finite; this is a fault of the service.")
