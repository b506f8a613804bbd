"""A row of units beneath the header, as `[B/s]` beneath a bandwidth: set apart on the way in, put back on the way out.

It is known by its look alone: each of its cells is empty or a text in brackets, and one at least is in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .table import Cell, Table

_UNIT: Final = re.compile(r"\[[^\[\]]{0,40}\]")


def reads_as_units(row: Sequence[Cell]) -> bool:
    """Whether a row says units and nothing else.

    >>> reads_as_units([None, "[B/s]", "[]"]), reads_as_units(["H100", "[B/s]"]), reads_as_units([None])
    (True, False, False)
    """
    said = [cell for cell in row if cell is not None and cell != ""]
    return bool(said) and all(isinstance(cell, str) and _UNIT.fullmatch(cell) for cell in said)


def units_to_write(table: Table) -> tuple[str | None, ...]:
    """The row of units; one that says nothing, before a first row that would else be taken for it; or none."""
    if table.units_row:
        return table.units_row
    first = [column[0] for column in table.columns] if table.rows else []
    return tuple("[]" for _ in first) if reads_as_units(first) else ()
