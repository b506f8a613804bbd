"""A sheet of a workbook as a table: its first row that is not empty names the columns.

Numbers are numbers, whole ones without a fraction. Percentages are the fractions that they stand for; dates become text. A formula
counts as its stored value. Cells that are merged, that hold an error, or a formula without a stored value are refused: read as
empty they would be filled in with something else. Rows that are hidden are rows.
"""

from __future__ import annotations

import math
import re
from typing import Final

from ...errors import InvalidInput, refuse
from ...pointers import pointer
from ..gathering import Gathering
from ..limits import check_columns
from ..numerals import whole
from ..table import Cell, Reading, Table
from .archive import Archive, refused
from .dates import PLAIN, shown, styles
from .markup import follow
from .strings import Runs, shared_strings, unescaped
from .workbook import chosen, opened

_PLACE: Final = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_MOST_PIECES: Final = 100  # of the text of a value, which comes in some thousand characters or up to an escaped one
_NUMBER: Final = re.compile(r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?")


def read(body: bytes, reading: Reading) -> Table:
    """The table that a sheet of the workbook holds. Raises InvalidInput, OverLimit."""
    archive = Archive(body)
    workbook = opened(archive)
    place = chosen(workbook.sheets, reading.sheet)
    cells = _Values(shared_strings(archive, workbook.strings), styles(archive, workbook.styles), from_1904=workbook.from_1904)
    sheet = _Sheet(cells)
    follow(archive.pieces(place.part), sheet.start, sheet.end, sheet.text)
    return sheet.table()


class _Values:
    """What the text of a cell means: by the type that the cell states, and by its style."""

    def __init__(self, strings: list[str], kinds: list[int], *, from_1904: bool) -> None:
        self._strings = strings
        self._kinds = kinds
        self._from_1904 = from_1904

    def of(self, attributes: dict[str, str], text: str) -> Cell:
        """The value. Raises ValueError with a sentence."""
        kind = attributes.get("t", "n")
        if kind == "n":
            return self._number(text, int(attributes.get("s", 0)))
        if kind == "s":
            return self._shared(text)
        if kind == "b":
            return text.strip() == "1"
        if kind == "e":
            raise ValueError("The cell holds an error.")
        return text

    def _number(self, text: str, style: int) -> Cell:
        if not _NUMBER.fullmatch(text) or not math.isfinite(value := float(text)):
            raise ValueError("The cell holds a number that is none.")
        kind = self._kinds[style] if 0 <= style < len(self._kinds) else PLAIN
        if kind == PLAIN:
            return whole(value)
        date = shown(value, kind, from_1904=self._from_1904)
        if date is None:
            raise ValueError("The cell holds a date that no calendar has.")
        return date

    def _shared(self, text: str) -> str:
        if not text.isdecimal() or len(text) > 9 or int(text) >= len(self._strings):
            raise ValueError("The cell refers to a text that the workbook does not hold.")
        return self._strings[int(text)]


class _Sheet:
    """Follows the elements of a sheet and gathers its rows."""

    def __init__(self, values: _Values) -> None:
        self._values = values
        self._gathering: Gathering | None = None
        self._first = 0  # the column of the sheet that is the first of the table
        self._row = 0  # of the sheet, from 1
        self._column = 0  # of the sheet, from 0
        self._cells: dict[int, Cell] = {}
        self._attributes: dict[str, str] = {}
        self._value: list[str] = []
        self._is_value = False
        self._is_formula = False
        self._runs = Runs()
        self._columns: dict[str, int] = {}

    def table(self) -> Table:
        return (self._gathering or Gathering(())).table()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._begin_cell(attributes)
        elif name == "v":
            self._is_value = True
        elif name == "row":
            self._begin_row(attributes.get("r"))
        elif name == "f":
            self._is_formula = True
        elif name == "mergeCell":
            raise refused("Cells of the sheet are merged; a table needs each of them by itself.")
        else:
            self._runs.start(name)

    def text(self, part: str) -> None:
        if self._is_value:
            self._value.append(part)
            if len(self._value) > _MOST_PIECES:
                raise refused("A cell of the sheet has too long a text.")
        else:
            self._runs.text(part)

    def end(self, name: str) -> None:
        if name == "v":
            self._is_value = False
        elif name == "c":
            self._end_cell()
        elif name == "row":
            self._end_row()
        else:
            self._runs.end(name)

    def _begin_row(self, said: str | None) -> None:
        number = self._row + 1 if said is None else int(said)
        if number <= self._row:
            raise refused("The rows of the sheet are not in order.")
        if self._gathering is not None:
            self._gathering.skip(number - self._row - 1)
        self._row, self._column = number, -1
        self._cells = {}

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        place = attributes.get("r")
        column = self._column + 1 if place is None else self._place(place)
        if column <= self._column or self._row == 0:
            raise refused("The cells of a row are not in order.")
        self._column = column
        self._attributes = attributes
        self._is_formula = False
        self._value.clear()

    def _place(self, place: str) -> int:
        """The column that a place such as B12 names."""
        match = _PLACE.fullmatch(place)
        if match is None or int(match[2]) != self._row:
            raise refused("A cell of the sheet stands in no place, or in another row than it says.")
        letters = match[1]
        if letters not in self._columns:
            column = 0
            for letter in letters:
                column = column * 26 + ord(letter) - ord("A") + 1
            self._columns[letters] = column - 1
        return self._columns[letters]

    def _end_cell(self) -> None:
        kind = self._attributes.get("t", "n")
        text = self._runs.taken() if kind == "inlineStr" else "".join(self._value)
        if not text:
            if self._is_formula and kind != "str":
                raise self._fault("The formula has no stored value; save the workbook in a spreadsheet program first.")
            return
        try:
            value = self._values.of(self._attributes, unescaped(text) if kind == "str" else text)
        except ValueError as error:
            raise self._fault(str(error)) from None
        if value != "":
            self._cells[self._column] = value

    def _end_row(self) -> None:
        if self._gathering is None:
            if self._cells:
                self._first = min(self._cells)
                check_columns(max(self._cells) - self._first + 1)
                self._gathering = Gathering([self._cells.get(at) for at in range(self._first, max(self._cells) + 1)])
            return
        width = len(self._gathering.header)
        if self._cells:
            check_columns(max(self._cells) - self._first + 1)
            if min(self._cells) < self._first or max(self._cells) >= self._first + width:
                raise refuse(f"/rows/{self._gathering.next_row}", "malformed-table", "The row has a cell in a column without a name.")
        self._gathering.add([self._cells.get(at) for at in range(self._first, self._first + width)])

    def _fault(self, detail: str) -> InvalidInput:
        """Where the cell stands that is being read."""
        at = self._column - self._first
        if self._gathering is None:
            return refuse(f"/header/{at}", "malformed-table", detail)
        header = self._gathering.header
        where = ("rows", self._gathering.next_row, header[at]) if 0 <= at < len(header) else ("rows", self._gathering.next_row)
        return refuse(pointer(where), "malformed-table", detail)
