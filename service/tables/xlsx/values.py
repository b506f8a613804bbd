"""What the text of a cell means: by the type that the cell states, and by its style."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..numerals import whole
from ..table import Cell
from .dates import shown
from .strings import unescaped


class NoValue(Exception):
    """A cell whose text means nothing; the message is a sentence."""


class Values:
    """The values of the cells of a workbook."""

    def __init__(self, strings: Sequence[str], date_styles: Mapping[str, int], *, from_1904: bool) -> None:
        self._strings = strings
        self._date_styles = date_styles
        self._from_1904 = from_1904

    def of(self, attributes: Mapping[str, str], text: str) -> Cell:
        """The value of a cell that is not empty. Raises NoValue."""
        kind = attributes.get("t", "n")
        if kind == "n":
            return self._number(text, self._date_styles.get(attributes.get("s", "")))
        if kind == "s":
            return self._shared(text)
        if kind == "b":
            return text == "1"
        if kind == "e":
            raise NoValue("The cell holds an error.")
        return unescaped(text) if kind == "str" else text

    def _number(self, text: str, date: int | None) -> Cell:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in text:  # which Python takes for a space between digits
            raise NoValue("The cell holds a number that is none.")
        if date is None:
            return whole(value)
        days = shown(value, date, from_1904=self._from_1904)
        if days is None:
            raise NoValue("The cell holds a date that no calendar has.")
        return days

    def _shared(self, text: str) -> str:
        at = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else len(self._strings)
        if at >= len(self._strings):
            raise NoValue("The cell refers to a text that the workbook does not hold.")
        return self._strings[at]
