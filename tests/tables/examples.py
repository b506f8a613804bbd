"""Tables at random, and what each format makes of one that was written and read again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hypothesis import strategies as st

from service.tables.formats import FORMATS
from service.tables.table import Cell, Reading, Sheet, Table, Writing

CLEAN: Final = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff") | st.sampled_from("\t\n\r=+-@'\"_x,;[]<&")
TEXTS: Final = st.text(CLEAN, min_size=1, max_size=12) | st.sampled_from(
    ["=1+1", "'=1+1", "''", "-5", "'-5", "+5", "007", "_x0041_", " a ", "[s]", "[]", "true", "1e5", "\ufeff", "'1,5", "\r\n", "]]>"]
)
WHOLE: Final = st.integers(-(2**53), 2**53)
FLOATS: Final = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
CELLS: Final = st.none() | st.booleans() | WHOLE | st.integers(-(2**80), 2**80) | FLOATS | TEXTS
COLUMNS: Final = (CELLS, st.none() | WHOLE, st.none() | FLOATS, st.none() | TEXTS, st.none() | st.booleans())
"""A column of all kinds of cells, and of one kind each."""


@st.composite
def tables(draw: st.DrawFn, least_rows: int = 0) -> Table:
    header = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(least_rows, 6))
    columns = [draw(st.lists(draw(st.sampled_from(COLUMNS)), min_size=rows, max_size=rows)) for _ in header]
    units = draw(st.none() | st.lists(st.sampled_from([None, "[s]", "[]"]), min_size=len(header), max_size=len(header)))
    return Table(tuple(header), tuple(columns), tuple(units) if units and any(units) else ())


def written(name: str, sheet: Sheet | Table, **writing: object) -> bytes:
    return b"".join(FORMATS[name].write(sheet if isinstance(sheet, Sheet) else Sheet(sheet), Writing(**writing)))  # type: ignore[arg-type]


def read(name: str, body: bytes, **reading: str | None) -> Table:
    return FORMATS[name].read(body, Reading(**reading))


def exactly(columns: Sequence[Sequence[Cell]]) -> list[list[tuple[type, Cell]]]:
    """Cells with their types, which == does not tell apart."""
    return [[(type(cell), cell) for cell in column] for column in columns]


def as_text(cell: Cell) -> str | None:
    return None if cell is None else str(cell).lower() if isinstance(cell, bool) else cell if isinstance(cell, str) else repr(cell)


def as_number(cell: Cell) -> Cell:
    """A float that is whole is a whole number, as long as it holds every digit."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) <= 2**53 else cell


def without_empty_rows_at_the_end(columns: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    rows = list(zip(*columns, strict=True))
    while rows and all(cell is None for cell in rows[-1]):
        rows.pop()
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in columns]


def in_csv(columns: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    return without_empty_rows_at_the_end([[as_text(cell) for cell in column] for column in columns])


def in_xlsx(columns: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    kept = [[as_number(cell) for cell in column] for column in columns]
    wide = [[as_text(cell) if type(cell) is int and abs(cell) > 2**53 else cell for cell in column] for column in kept]
    return without_empty_rows_at_the_end(wide)


def in_arrow(columns: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    found: list[list[Cell]] = []
    for column in columns:
        kinds = {type(cell) for cell in column if cell is not None}
        widest = max((abs(cell) for cell in column if type(cell) is int), default=0)
        is_one_kind = len(kinds) < 2 or (kinds == {int, float} and widest <= 2**53)
        is_text = not is_one_kind or (kinds == {int} and widest > 2**63 - 1)
        found.append([as_text(cell) if is_text else as_number(cell) for cell in column])
    return found


def unchanged(columns: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    return [list(column) for column in columns]


KEPT: Final[Mapping[str, Callable[[Sequence[Sequence[Cell]]], list[list[Cell]]]]] = {
    "csv": in_csv,
    "xlsx": in_xlsx,
    "ndjson": unchanged,
    "json": unchanged,
    "columns": unchanged,
    "arrow": in_arrow,
}
"""What is left of cells by each format: CSV has no types, XLSX no whole numbers beyond 2^53, Arrow one type for a column."""


def is_unit(cell: Cell) -> bool:
    return isinstance(cell, str) and re.fullmatch(r"\[[^\[\]]{0,40}\]", cell) is not None
