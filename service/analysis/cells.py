"""From columns to what a document holds: the number of one row, or the whole list. The only place where a column becomes a number.

Whole numbers up to 2^53 are written without a point, larger ones as floats. A number that is not finite is a fault of ours;
what does not exist is marked as not present and written as null.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from ..engine.arrays import Code, Real, all_of, any_of
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

    def dim(self, column: Real, given: Any) -> Any:
        """A size of an op as understood: as it was given, where it was."""
        return self.whole(column) if given is None else given

    def any_of(self, flags: Flag) -> bool:
        """Whether there is a row of which something must be said."""
        return any_of(flags)


class OneRow(Cells):
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


class AllRows(Cells):
    """Lists with one member per row; a column that all rows share is written once, and its text repeated."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def number(self, column: Real, present: Flag | None = None) -> Any:
        return self._list(checked(column, present), present)

    def whole(self, column: Real, present: Flag | None = None) -> Any:
        return self._list(exact(checked(column, present)), present)

    def name(self, codes: Code, names: Names, present: Flag | None = None) -> Any:
        known = codes if present is None else np.where(present, codes, np.int8(0))
        text = known.tobytes()
        for code, name in enumerate(names):  # a byte below all that words have
            text = text.replace(bytes((code,)), orjson.dumps(name) + b",")
        return self._repeated(text[:-1], known.size)

    def flag(self, column: Flag, present: Flag | None = None) -> Any:
        return self._list(column, present)

    def dim(self, column: Real, given: Any) -> Any:
        if given is not None:
            return given
        return int(column.item()) if column.size == 1 else column.astype(np.int64).tolist()

    def _list(self, column: Any, present: Flag | None) -> Any:
        known: Any = column
        if present is not None and not present.all():
            known = np.where(present, column.astype(object), None)
        if known.size == 1:
            return self._repeated(orjson.dumps(known.tolist())[1:-1], known.size)
        return known.tolist() if known.dtype == object else np.ascontiguousarray(known)

    def _repeated(self, text: bytes, size: int) -> orjson.Fragment:
        """The list of all rows, from the text of a column of `size` rows without its brackets."""
        more = 0 if size == self._rows else self._rows - 1
        return orjson.Fragment(b"[" + (text + b",") * more + text + b"]")


def cells_of(rows: int | None) -> Cells:
    """How an op is written whose lists have so many rows; None where every member is one number."""
    return OneRow() if rows is None else AllRows(rows)


def checked(column: Real, present: Flag | None) -> Real:
    """`column`, with 0 where there is no value. Raises Internal for a number that is not finite."""
    found = column if present is None else np.where(present, column, 0.0)
    if not all_of(np.isfinite(found)):
        raise not_finite()
    return found


def exact(column: Real) -> NDArray[Any]:
    """`column` with whole numbers where they are exact."""
    is_exact = np.abs(column) <= EXACT
    if all_of(is_exact):
        return column.astype(np.int64)
    mixed = column.astype(object)
    mixed[is_exact] = column[is_exact].astype(np.int64)
    return mixed


def not_finite() -> Internal:
    return Internal("A number of the answer is not finite; this is a fault of the service.")
