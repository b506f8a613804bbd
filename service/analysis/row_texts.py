"""One document of many rows, written once, and cut into the text of each.

Rows that say the same in other numbers share every byte between the numbers. The document is written with a mark in the place
of each number; a text is what stands between the marks, with the numbers of its row in their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from ..engine.arrays import Code, Real, all_of
from . import canonical
from .cells import Flag, Names, OneRow, checked, exact

MARK: Final = b"\0"
"""Stands on both sides of the place of a column; in JSON text, zero bytes are escaped."""
NULL: Final = b"null"
FLAGS: Final = (b"false", b"true")


class Unlike(Exception):
    """Something is to be said of some rows alone, so that they do not share a document."""

    def __init__(self, flags: Flag) -> None:
        super().__init__()
        self.flags = flags


class Gathered:
    """Columns that become text together, each with its place: one by one they would take several times as long."""

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self.places: dict[int, int] = {}
        """of each column, by its identity"""
        self.columns: list[Real] = []

    def texts(self) -> list[bytes]:
        """The numbers of all columns, one column after another. Raises Internal for one that is not finite."""
        if not self.columns:
            return []
        numbers: NDArray[Any] = checked(np.concatenate(self.columns), None)
        if self._whole:
            numbers = exact(numbers)
        return canonical.text(numbers.tolist() if numbers.dtype == object else numbers)[1:-1].split(b",")


class EachRow(OneRow):
    """The numbers of `rows` rows, each in the text of its own; a column that all of them share is written as that of one row."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._texts: list[Sequence[bytes]] = []
        """of each place; none where its column waits to be written"""
        self._gather()

    def _gather(self) -> None:
        """Begin with columns that wait to be written."""
        self._numbers, self._wholes = Gathered(whole=False), Gathered(whole=True)
        self._absent: list[tuple[int, Flag]] = []
        """places whose column some rows lack, and the rows that have it"""

    def number(self, column: Real, present: Flag | None = None) -> Any:
        return self._gathered(self._numbers, column, present) if _differs(column, present) else super().number(column, present)

    def whole(self, column: Real, present: Flag | None = None) -> Any:
        return self._gathered(self._wholes, column, present) if _differs(column, present) else super().whole(column, present)

    def name(self, codes: Code, names: Names, present: Flag | None = None) -> Any:
        return self._coded(codes, _texts_of(names), present) if _differs(codes, present) else super().name(codes, names, present)

    def flag(self, column: Flag, present: Flag | None = None) -> Any:
        return self._coded(column, FLAGS, present) if _differs(column, present) else super().flag(column, present)

    def dim(self, column: Real, given: Any) -> Any:
        return self.whole(column)

    def any_of(self, flags: Flag) -> bool:
        """The same for all rows. Raises `Unlike` where it is not."""
        marked = np.count_nonzero(flags)
        if 0 < marked < flags.size:
            raise Unlike(flags)
        return bool(marked)

    def text(self, texts: Sequence[bytes]) -> orjson.Fragment:
        """The place of JSON that is known of each row."""
        self._texts.append(texts)
        return _mark(len(self._texts) - 1)

    def cut(self, document: bytes) -> list[bytes]:
        """The text of each row of a document that was written with these cells. Raises Internal for a number that is not finite."""
        self._write()
        parts = document.split(MARK)
        places = parts[1::2]  # every other one is that of a column
        rows = []
        for row in zip(*[self._texts[int(place)] for place in places], strict=True):
            parts[1::2] = row
            rows.append(b"".join(parts))
        return rows or [document] * self._rows

    def _gathered(self, gathered: Gathered, column: Real, present: Flag | None) -> orjson.Fragment:
        """The place of a column of numbers; a column that stands twice has one."""
        if present is not None and not all_of(present):
            column = np.where(present, column, 0.0)
            self._absent.append((len(self._texts), present))
        elif column.size < self._rows:
            column = np.broadcast_to(column, self._rows)
        place = gathered.places.get(id(column))
        if place is None:
            gathered.places[id(column)] = place = len(self._texts)
            gathered.columns.append(column)
            self._texts.append(())
        return _mark(place)

    def _write(self) -> None:
        """Make text of what was gathered."""
        for gathered in (self._numbers, self._wholes):
            texts = gathered.texts()
            for at, place in enumerate(gathered.places.values()):
                self._texts[place] = texts[at * self._rows : (at + 1) * self._rows]
        for place, present in self._absent:
            self._texts[place] = self._nulled(self._texts[place], present)
        self._gather()

    def _coded(self, codes: Code | Flag, texts: Sequence[bytes], present: Flag | None) -> orjson.Fragment:
        found = [texts[code] for code in self._each(codes)]
        return self.text(found if present is None else self._nulled(found, present))

    def _nulled(self, texts: Sequence[bytes], present: Flag) -> list[bytes]:
        return [text if there else NULL for text, there in zip(texts, self._each(present), strict=True)]

    def _each(self, column: Code | Flag) -> list[Any]:
        """What each row has of a column that all rows may share."""
        listed: list[Any] = column.tolist()
        return listed if len(listed) == self._rows else listed * self._rows


def _differs(column: NDArray[Any], present: Flag | None) -> bool:
    """Whether rows may say something else than other rows."""
    return column.size > 1 or (present is not None and present.size > 1)


@cache
def _texts_of(names: Names) -> tuple[bytes, ...]:
    return tuple([orjson.dumps(name) for name in names])


@cache
def _mark(place: int) -> orjson.Fragment:
    return orjson.Fragment(b"%b%d%b" % (MARK, place, MARK))
