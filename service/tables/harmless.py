"""Text that a spreadsheet program would run, made harmless on its way into CSV, and made itself again on its way in.

Opened in such a program, a cell that starts with one of `= + - @` TAB CR is a formula, in spite of quotes. An apostrophe before it
says that it is text. A text that already reads like one so marked gets one more, so that no two texts are written alike and each
comes back as it was. A number stays as it is, with apostrophes before it too.
"""

from __future__ import annotations

import re
from typing import Final

from .numerals import is_number

_RUN: Final = re.compile(r"'*[=+\-@\t\r]")
_MARKED: Final = re.compile(r"'+[=+\-@\t\r]")


def harmless(text: str) -> str:
    """`text` as it may stand in a cell of CSV.

    >>> harmless("=1+1"), harmless("'=1+1"), harmless("-5"), harmless("it's")
    ("'=1+1", "''=1+1", '-5', "it's")
    """
    return "'" + text if _RUN.match(text) and not _is_numeric(text) else text


def restored(cell: str) -> str:
    """The text that is written as `cell`: for each text, `restored(harmless(text)) == text`.

    >>> restored("'=1+1"), restored("-5"), restored("'tis")
    ('=1+1', '-5', "'tis")
    """
    return cell[1:] if _MARKED.match(cell) and not _is_numeric(cell) else cell


def _is_numeric(text: str) -> bool:
    bare = text.lstrip("'")
    return is_number(bare, ".") or is_number(bare, ",")
