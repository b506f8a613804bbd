"""A list of JSON objects, one row each. An object instead of a list is read as columns, since the two cannot be taken for each other.

The list is cut into its rows before any of them is read, so that a text of brackets never becomes a million values at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from ..errors import MalformedText
from . import columns
from .limits import LONGEST_ROW
from .records import gathered, objects
from .table import Reading, Sheet, Table, Writing

_BEGIN: Final = re.compile(rb"[ \t\r\n]*\[[ \t\r\n]*(?P<end>\][ \t\r\n]*\Z)?")
_FLAT: Final = re.compile(rb'\{(?:[^{}"]++|"(?:[^"\\]++|\\.)*+")*+\}', re.DOTALL)
_NEXT: Final = re.compile(rb"[ \t\r\n]*(?:,[ \t\r\n]*|(?P<end>\][ \t\r\n]*\Z))")


def read(body: bytes, reading: Reading) -> Table:
    """The table that `body` holds. Raises InvalidInput, MalformedText, OverLimit."""
    return columns.read(body, reading) if body.lstrip(b" \t\r\n")[:1] == b"{" else gathered(_rows(body))


def _rows(body: bytes) -> Iterator[bytes]:
    """The text of each row."""
    step = _BEGIN.match(body)
    row = 0
    while step and not step["end"]:
        flat = _FLAT.match(body, step.end())
        text = flat[0] if flat else _other(body[step.end() : step.end() + LONGEST_ROW], row)
        yield text
        step = _NEXT.match(body, step.end() + len(text))
        row += 1
    if step is None:
        raise MalformedText(f"The text is not a list of objects in JSON; {row} rows of it were read.")


def _other(text: bytes, row: int) -> bytes:
    """The text of a row that is not a flat object, to be refused for what it is."""
    start = text.decode(errors="ignore")
    try:
        return start[: json.JSONDecoder().raw_decode(start)[1]].encode()
    except (ValueError, RecursionError):
        raise MalformedText(f"Row {row}, counted from 0, is not an object in JSON.") from None


def write(sheet: Sheet, _writing: Writing) -> Iterator[bytes]:
    """The rows as one list, in pieces."""
    yield b"["
    for at, rows in enumerate(objects(sheet.table)):
        yield (b",\n" if at else b"\n") + b",\n".join(rows)
    yield b"\n]\n"
