"""NDJSON: one strict JSON object a line, one row each. Empty lines are none."""

from __future__ import annotations

import io
from collections.abc import Iterator

from ..errors import refuse
from .records import gathered, objects
from .table import Reading, Sheet, Table, Writing


def read(body: bytes, _reading: Reading) -> Table:
    """The table that `body` holds. Raises InvalidInput, MalformedText, OverLimit."""
    if not body.strip():
        raise refuse("", "malformed-table", "The table is empty.")
    return gathered(line for line in io.BytesIO(body) if not line.isspace())


def write(sheet: Sheet, _writing: Writing) -> Iterator[bytes]:
    """The rows, a line each, in pieces."""
    for rows in objects(sheet.table):
        yield b"".join(row + b"\n" for row in rows)
