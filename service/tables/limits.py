"""What a table may have at most. A reader counts while it reads, and stops at the first that is one too many."""

from __future__ import annotations

from typing import Final

from ..errors import OverLimit

MOST_BYTES: Final = 16 * 2**20  # of a table as it was sent
MOST_ROWS: Final = 100_000
MOST_COLUMNS: Final = 512
MOST_CELLS: Final = 2**21  # empty ones too; 100,000 rows of 20 columns are fewer
LONGEST_NAME: Final = 255  # characters of a column's name
LONGEST_TEXT: Final = 32_767  # characters of a cell, which is what a spreadsheet program holds
LONGEST_ROW: Final = 2**20  # characters of a row that is written as text
MOST_TEXT: Final = 2**25  # characters in all cells together: one long text that many cells share is small only as it is sent
MOST_INFLATED: Final = 128 * 2**20  # bytes that a compressed table may become


def check_bytes(body: bytes) -> None:
    if len(body) > MOST_BYTES:
        raise OverLimit(f"A table has at most {MOST_BYTES} bytes.", code="body-too-large")


def check_inflated(size: int) -> None:
    if size > MOST_INFLATED:
        raise OverLimit(f"A table has at most {MOST_INFLATED} bytes when it is no longer compressed.", code="body-too-large")


def check_text_size(characters: int) -> None:
    if characters > MOST_TEXT:
        raise OverLimit(f"The cells of a table have at most {MOST_TEXT} characters in all.", code="body-too-large")


def check_columns(columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise OverLimit(f"A table has at most {MOST_COLUMNS} columns.")


def check_size(rows: int, columns: int) -> None:
    """Refuse a table of so many rows and columns."""
    check_columns(columns)
    if rows > MOST_ROWS:
        raise OverLimit(f"A table has at most {MOST_ROWS} rows; send it in parts.")
    if rows * columns > MOST_CELLS:
        raise OverLimit(f"A table has at most {MOST_CELLS} cells, and {columns} columns make that {MOST_CELLS // columns} rows.")
