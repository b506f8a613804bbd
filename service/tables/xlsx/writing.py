"""A table as a workbook: the frame from XlsxWriter, the rows in a stream into its place.

XlsxWriter keeps either all cells in memory or the rows in a file on disk, and rounds numbers to 16 digits. So it makes the workbook
with the header alone, and the rows are put in while it is packed once more: a number as the shortest text that reads back as the
same, a text never as a formula.
"""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Final

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from ..finite import check_finite
from ..limits import MOST_ROWS
from ..numerals import LARGEST_WHOLE
from ..table import Cell, Sheet, Writing
from ..units import units_to_write
from .strings import escaped
from .workbook import PROVENANCE

TABLE: Final = "table"
LISTS: Final = "lists"
_PART: Final = "xl/worksheets/sheet1.xml"
_CREATED: Final = dt.datetime(1980, 1, 1)  # noqa: DTZ001 - a workbook knows no zones; the same table is the same bytes
_ZIPPED: Final = (1980, 1, 1, 0, 0, 0)
_LEVEL: Final = 3  # of compression: half of what can be gained, in a third of the time
_WIDTHS: Final = (10, 40)


def write(sheet: Sheet, _writing: Writing) -> Iterator[bytes]:
    """The workbook, in pieces."""
    out = _Outlet()
    with (
        zipfile.ZipFile(io.BytesIO(_frame(sheet))) as frame,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as packed,  # type: ignore[call-overload]
    ):
        for name in frame.namelist():
            entry = zipfile.ZipInfo(name, _ZIPPED)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with packed.open(entry, "w") as part:
                for piece in _filled(frame.read(name), sheet) if name == _PART else (frame.read(name),):
                    part.write(piece)
                    yield out.taken()
    yield out.taken()


class _Outlet:
    """Takes what is written, until it is taken from there; it cannot go back."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing waits."""

    def taken(self) -> bytes:
        whole = b"".join(self._pieces)
        self._pieces.clear()
        return whole


def _frame(sheet: Sheet) -> bytes:
    """The workbook without its rows."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    book.set_properties({"created": _CREATED})
    main = book.add_worksheet(TABLE)
    units = units_to_write(sheet.table)
    _write_header(main, sheet.titles(), units, book.add_format({"bold": True}), book.add_format({"italic": True}))
    if sheet.about:
        _write_pairs(book.add_worksheet(PROVENANCE), sheet.about)
    if sheet.validations:
        _offer(main, book.add_worksheet(LISTS), sheet, first=2 if units else 1)
    book.close()
    return file.getvalue()


def _write_header(main: Worksheet, titles: Sequence[str], units: Sequence[str | None], bold: Format, italic: Format) -> None:
    least, most = _WIDTHS
    for at, title in enumerate(titles):
        main.write_string(0, at, title, bold)
        main.set_column(at, at, min(max(len(title) + 2, least), most))
    for at, unit in enumerate(units):
        if unit is not None:
            main.write_string(1, at, unit, italic)
    main.freeze_panes(2 if units else 1, 0)


def _write_pairs(page: Worksheet, pairs: Sequence[tuple[str, str]]) -> None:
    page.set_column(0, 1, _WIDTHS[1])
    for row, pair in enumerate(pairs):
        for at, text in enumerate(pair):
            page.write_string(row, at, text)


def _offer(main: Worksheet, lists: Worksheet, sheet: Sheet, first: int) -> None:
    """Let the values of some columns be chosen from lists, which stand on a hidden sheet since a rule holds 255 characters at most."""
    lists.hide()
    for at, (name, values) in enumerate(sheet.validations.items()):
        for row, value in enumerate(values):
            lists.write_string(row, at, value)
        letters = xl_col_to_name(at, col_abs=True)
        column = sheet.table.header.index(name)
        rule = {"validate": "list", "source": f"={LISTS}!{letters}$1:{letters}${len(values)}"}
        main.data_validation(first, column, MOST_ROWS, column, rule)


def _filled(frame: bytes, sheet: Sheet) -> Iterator[bytes]:
    """The part of a sheet with the rows after its header."""
    table = sheet.table
    head, end, tail = frame.partition(b"</sheetData>")
    first = 2 + bool(units_to_write(table))
    letters = [xl_col_to_name(at) for at in range(len(table.header))]
    extent = f'<dimension ref="A1:{letters[-1]}{first + table.rows - 1}"/>'
    yield re.sub(rb"<dimension [^>]*/>", extent.encode(), head, count=1)
    for chunk in table.chunks():
        check_finite(table.header, chunk)
        rows = (_row(first + at, cells, letters) for at, cells in enumerate(zip(*chunk, strict=True)))
        yield "".join(rows).encode()
        first += len(chunk[0])
    yield end + tail


def _row(number: int, cells: Sequence[Cell], letters: Sequence[str]) -> str:
    shown = "".join(_cell(f"{letter}{number}", cell) for letter, cell in zip(letters, cells, strict=True) if cell is not None)
    return f'<row r="{number}">{shown}</row>'


def _cell(place: str, cell: str | float) -> str:
    if isinstance(cell, str) or _is_wide(cell):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escaped(str(cell))}</t></is></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{int(cell)}</v></c>'
    return f'<c r="{place}"><v>{cell!r}</v></c>'


def _is_wide(number: float) -> bool:
    """Whether a whole number has more digits than a workbook keeps; as text they all stay."""
    return isinstance(number, int) and abs(number) > LARGEST_WHOLE
