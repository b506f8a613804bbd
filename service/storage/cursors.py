"""Opaque cursors: where a page ended, and a digest of the list that it belongs to.

A cursor holds the sort column and the id of the last row, so the next page starts behind that row however many rows
have come or gone since. Used with another filter or order, or changed in any place, it is refused.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math

from ..errors import InvalidInput, refuse

LONGEST = 1024
POINTER = "/query/cursor"


def list_digest(**parts: str | int | None) -> str:
    """What tells one list from another: its filters and its order."""
    return _digest(json.dumps(parts, sort_keys=True))


def write(digest: str, value: float, row_id: str) -> str:
    """The cursor of the list with this digest that continues behind a row."""
    text = json.dumps([digest, value, row_id, _check(digest, value, row_id)], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read(cursor: str, digest: str, column: type[int | float]) -> tuple[int | float, str]:
    """(sort column, id) of the last row of the page before. Raises: InvalidInput at /query/cursor."""
    try:
        if len(cursor) > LONGEST:
            raise _refused("This is not a cursor of this list.")
        text = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        of_list, value, row_id, check = json.loads(text)
        is_whole = check == _check(of_list, value, row_id)
    except (ValueError, TypeError, RecursionError):  # UnicodeError, binascii.Error and JSONDecodeError are ValueErrors
        of_list = value = row_id = None
        is_whole = False
    if not is_whole or type(value) is not column or not isinstance(row_id, str) or not row_id.isprintable() or not _fits(value):
        raise _refused("This is not a cursor of this list.")
    if of_list != digest:
        raise _refused("This cursor belongs to a list with other filters or another order.")
    return value, row_id


def _check(digest: str, value: float, row_id: str) -> str:
    return _digest(json.dumps([digest, value, row_id]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _fits(value: float) -> bool:
    return -(2**63) <= value < 2**63 if isinstance(value, int) else math.isfinite(value)


def _refused(detail: str) -> InvalidInput:
    return refuse(POINTER, "out-of-range", detail)
