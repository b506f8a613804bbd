"""A sheet of a workbook as a table: its first row that is not empty names the columns.

Numbers are numbers, whole ones without a fraction. Percentages are the fractions that they stand for; dates become text. A formula
counts as its stored value. Cells that are merged, that hold an error, or a formula without a stored value are refused: read as
empty they would be filled in with something else. Rows that are hidden are rows.
"""

from __future__ import annotations

import re
from typing import Final

from ...errors import InvalidInput, refuse
from ...pointers import pointer
from ..gathering import Gathering
from ..limits import check_columns
from ..table import Cell, Reading, Table
from .archive import Archive, refused
from .dates import date_styles
from .markup import Elements, follow
from .strings import Runs, shared_strings
from .values import NoValue, Values
from .workbook import chosen, opened

_LETTERS: Final = re.compile(r"[A-Z]{1,3}")
_LONGEST_VALUE: Final = 2**18  # characters, in which seven may stand for one


def read(body: bytes, reading: Reading) -> Table:
    """The table that a sheet of the workbook holds. Raises InvalidInput, OverLimit."""
    archive = Archive(body)
    workbook = opened(archive)
    place = chosen(workbook.sheets, reading.sheet)
    strings = shared_strings(archive, workbook.strings)
    rows = _Rows()
    sheet = _Sheet(Values(strings, date_styles(archive, workbook.styles), from_1904=workbook.from_1904), rows)
    follow(archive.pieces(place.part), sheet.start, sheet.end, sheet.text)
    return rows.table()


class _Rows:
    """Rows of a sheet become those of a table: the first that is not empty is its header, and says which columns it has."""

    def __init__(self) -> None:
        self._gathering: Gathering | None = None
        self._first = 0  # the column of the sheet that is the first of the table

    def table(self) -> Table:
        return (self._gathering or Gathering(())).table()

    def skip(self, rows: int) -> None:
        """So many rows that are not there."""
        if self._gathering is not None:
            self._gathering.skip(rows)

    def add(self, cells: dict[int, Cell]) -> None:
        """A row, by the columns of the sheet, from left to right."""
        if not cells:
            self.skip(1)
            return
        columns = list(cells)
        if self._gathering is None:
            self._first = columns[0]
        check_columns(columns[-1] - self._first + 1)
        if self._gathering is None:
            self._gathering = Gathering([cells.get(at) for at in range(columns[0], columns[-1] + 1)])
            return
        end = self._first + len(self._gathering.header)
        if columns[0] < self._first or columns[-1] >= end:
            raise refuse(f"/rows/{self._gathering.next_row}", "malformed-table", "The row has a cell in a column without a name.")
        self._gathering.add([cells.get(at) for at in range(self._first, end)])

    def fault(self, column: int, detail: str) -> InvalidInput:
        """What is wrong with the cell of the next row in a column of the sheet."""
        if self._gathering is None:
            return refuse("/header", "malformed-table", detail)
        header, at = self._gathering.header, column - self._first
        name = (header[at],) if 0 <= at < len(header) else ()
        return refuse(pointer(("rows", self._gathering.next_row, *name)), "malformed-table", detail)


class _Sheet:
    """Follows the elements of a sheet. Rows, cells and values, which are almost all of them, are told from others by their whole names."""

    def __init__(self, values: Values, rows: _Rows) -> None:
        self._values = values
        self._rows = rows
        self._runs = Runs()
        self._others = Elements(self._start_other, self._runs.end)
        self._row_name, self._cell_name, self._value_name = "", "", ""
        self._columns: dict[str, int] = {}
        self._row = 0  # of the sheet, from 1
        self._row_text = ""
        self._cells: dict[int, Cell] | None = None  # of the row that is open
        self._column = -1  # of the sheet, from 0
        self._attributes: dict[str, str] | None = None  # of the cell that is open
        self._value = ""
        self._is_value = False
        self._is_formula = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == self._cell_name:
            self._begin_cell(attributes)
        elif name == self._value_name:
            if self._is_value or self._attributes is None:
                raise refused("A value of the sheet stands outside of cells.")
            self._is_value = True
        elif name == self._row_name:
            self._begin_row(attributes.get("r"))
        else:
            if not self._row_name:
                self._know_names(name.removesuffix("worksheet"))
            self._others.start(name, attributes)

    def end(self, name: str) -> None:
        if name == self._value_name:
            self._is_value = False
        elif name == self._cell_name:
            self._end_cell()
        elif name == self._row_name:
            self._end_row()
        else:
            self._others.end(name)

    def text(self, part: str) -> None:
        if self._is_value:
            self._value += part
            if len(self._value) > _LONGEST_VALUE:
                raise refused("A cell of the sheet has too long a text.")
        else:
            self._runs.text(part)

    def _know_names(self, prefix: str) -> None:
        """All elements of a sheet have the prefix of the first, if any."""
        self._row_name, self._cell_name, self._value_name = prefix + "row", prefix + "c", prefix + "v"

    def _start_other(self, name: str, _attributes: dict[str, str]) -> None:
        if name == "f":
            self._is_formula = True
        elif name == "mergeCell":
            raise refused("Cells of the sheet are merged; a table needs each of them by itself.")
        self._runs.start(name)

    def _begin_row(self, said: str | None) -> None:
        number = self._row + 1 if said is None else int(said)
        if number <= self._row or self._cells is not None:
            raise refused("The rows of the sheet are not in order.")
        self._rows.skip(number - self._row - 1)
        self._row, self._row_text, self._column, self._cells = number, str(number), -1, {}

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        place = attributes.get("r")
        column = self._column + 1 if place is None else self._placed(place)
        if column <= self._column or self._cells is None or self._attributes is not None:
            raise refused("The cells of a row are not in order.")
        self._column, self._attributes = column, attributes
        self._value, self._is_formula = "", False

    def _placed(self, place: str) -> int:
        """The column that a place such as B12 names, which must be one of the row."""
        letters = place.removesuffix(self._row_text)
        column = self._columns.get(letters)
        if column is not None and letters is not place:
            return column
        if not _LETTERS.fullmatch(letters):
            raise refused("A cell of the sheet stands in no place, or in another row than it says.")
        column = 0
        for letter in letters:
            column = column * 26 + ord(letter) - ord("A") + 1
        return self._columns.setdefault(letters, column - 1)

    def _end_cell(self) -> None:
        attributes, self._attributes = self._attributes, None
        assert attributes is not None
        assert self._cells is not None
        kind = attributes.get("t")
        text = self._runs.taken() if kind == "inlineStr" else self._value
        if not text:
            if self._is_formula and kind != "str":
                raise self._rows.fault(self._column, "The formula has no stored value; save the workbook in a spreadsheet program first.")
            return
        try:
            value = self._values.of(attributes, text)
        except NoValue as error:
            raise self._rows.fault(self._column, str(error)) from None
        if value != "":
            self._cells[self._column] = value

    def _end_row(self) -> None:
        assert self._cells is not None
        self._rows.add(self._cells)
        self._cells = None
