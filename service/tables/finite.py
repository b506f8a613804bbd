"""The last look at numbers before they are written: none may be NaN or infinite, whatever made them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import Internal
from .table import Cell


def check_finite(header: Sequence[str], columns: Sequence[Sequence[Cell]]) -> None:
    """Raise Internal where a column holds a number that is not finite."""
    for name, cells in zip(header, columns, strict=True):
        if not all(math.isfinite(cell) for cell in cells if isinstance(cell, float)):
            raise Internal(f"A number of the column {name!r} is not finite.")
