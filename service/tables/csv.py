"""CSV as RFC 4180 has it, in UTF-8: cells are text as written, whatever they look like.

Separator and decimal mark may be left to the bytes where these leave no doubt. The separator is the one of comma, semicolon and
tab that the header holds. The decimal mark is a comma only beside another separator, where some cell is a number with a comma
that no writer of thousands would put there, and none has a point.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from ..errors import MalformedText, OverLimit, refuse
from .finite import check_finite
from .gathering import Gathering
from .harmless import harmless, restored
from .limits import LONGEST_ROW
from .numerals import is_number
from .table import Cell, Reading, Sheet, Table, Writing
from .texts import text_of
from .units import units_to_write

SEPARATORS: Final = (",", ";", "\t")
DECIMALS: Final = (".", ",")

_FIRST_RECORD: Final = re.compile(r'(?:[^"\r\n]++|"(?:[^"]|"")*+")*+')
_QUOTED: Final = re.compile(r'"(?:[^"]|"")*+"')
_THOUSANDS: Final = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3})+")


def read(body: bytes, reading: Reading) -> Table:
    """The table that `body` holds. Raises InvalidInput, MalformedText (not-utf8), OverLimit."""
    if reading.decimal not in (None, *DECIMALS):
        raise refuse("/query/decimal", "out-of-range", "The decimal mark is a point or a comma.", DECIMALS)
    separator = separator_of(body, reading.separator)
    records = _records(body, separator)
    gathering = Gathering(next(records, []))
    for record in records:
        gathering.add(record)
    table = gathering.table(reading.decimal or ".")
    if reading.decimal is None and separator != "," and _has_commas(table):
        return replace(table, decimal=",")
    return table


def separator_of(body: bytes, said: str | None) -> str:
    """What separates the cells of a text: what is said to, or what its header shows. Raises InvalidInput at /query/sep."""
    if said is not None:
        if said not in SEPARATORS:
            raise refuse("/query/sep", "out-of-range", "The separator is a comma, a semicolon or a tab.", SEPARATORS)
        return said
    start = body[:LONGEST_ROW].decode("utf-8-sig", errors="ignore")
    header = _FIRST_RECORD.match(start)
    bare = _QUOTED.sub("", header[0]) if header else ""
    present = [mark for mark in SEPARATORS if mark in bare]
    if len(present) > 1:
        raise refuse("/query/sep", "missing", "The header holds several of comma, semicolon and tab; say which one separates.", SEPARATORS)
    return present[0] if present else ","


def _has_commas(table: Table) -> bool:
    """Whether its numbers have decimal commas, beyond doubt."""
    is_any_sure = False
    for column in table.columns:
        numeric = [cell for cell in column if isinstance(cell, str) and ("," in cell or "." in cell) and _is_numeric(cell)]
        is_sure = any("," in cell and not _THOUSANDS.fullmatch(cell) for cell in numeric)
        if numeric and (not is_sure or any("." in cell for cell in numeric)):
            return False
        is_any_sure = is_any_sure or is_sure
    return is_any_sure


def _is_numeric(text: str) -> bool:
    return is_number(text, ".") or is_number(text, ",") or _THOUSANDS.fullmatch(text) is not None


def _records(body: bytes, separator: str) -> Iterator[list[Cell]]:
    """The records of a text, the header first, each within the limit of a row."""
    lines = _Lines(io.TextIOWrapper(io.BytesIO(body), encoding="utf-8-sig", newline=""))
    try:
        for record in csv.reader(lines, delimiter=separator, strict=True):
            lines.since_record = 0
            yield [restored(cell) if cell[:1] == "'" else cell for cell in record]
    except csv.Error:
        what = "a cell is too long, its quotes do not end, or text follows them"
        raise refuse("", "malformed-table", f"The text is not CSV at line {lines.number}: {what}.") from None
    except UnicodeDecodeError:
        raise MalformedText(f"The table is not UTF-8 at line {lines.number + 1} or soon after it.", code="not-utf8") from None


class _Lines(Iterator[str]):
    """The lines of a text, as long as those of one record stay within the limit of a row."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.number = 0
        self.since_record = 0

    def __next__(self) -> str:
        line = self._text.readline(LONGEST_ROW + 1)
        self.number += 1
        self.since_record += len(line)
        if self.since_record > LONGEST_ROW:
            raise OverLimit(f"The row at line {self.number} has more than {LONGEST_ROW} characters.", code="body-too-large")
        if not line:
            raise StopIteration
        return line


def write(sheet: Sheet, writing: Writing) -> Iterator[bytes]:
    """The table as CSV, in pieces."""
    table = sheet.table
    yield _heading(sheet.titles(), writing)
    units = units_to_write(table)
    if units:
        yield _written([units], writing)
    are_typed = table.decimal not in {None, writing.decimal}
    for chunk in table.chunks(are_typed=are_typed):
        check_finite(table.header, chunk)
        yield _written(zip(*chunk, strict=True), writing)


def _heading(titles: Sequence[str], writing: Writing) -> bytes:
    """The header, in quotes where a name holds what a reader might take for the separator, or after a mark that is not its own."""
    is_doubtful = any(mark in title for title in titles for mark in SEPARATORS)
    mark = "\ufeff" if writing.has_mark or titles[0].startswith("\ufeff") else ""
    return mark.encode() + _written([titles], writing, csv.QUOTE_ALL if is_doubtful else csv.QUOTE_MINIMAL)


def _written(rows: Iterable[Sequence[Cell]], writing: Writing, quoting: Literal[0, 1] = csv.QUOTE_MINIMAL) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=writing.separator, lineterminator="\r\n", quoting=quoting)
    writer.writerows([_shown(cell, writing.decimal) for cell in row] for row in rows)
    return out.getvalue().encode()


def _shown(cell: Cell, decimal: str) -> str:
    if cell is None:
        return ""
    return harmless(cell) if isinstance(cell, str) else text_of(cell).replace(".", decimal)
