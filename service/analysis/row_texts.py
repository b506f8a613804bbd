"""One document of many rows, written once, and cut into the text of each.

Rows that say the same in other numbers share every byte between the numbers. The document is written with a mark in the place
of each number; a text is what stands between the marks, with the numbers of its row in their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, Final

import numpy as np
import orjson

from ..engine.arrays import Code, Real
from .cells import Cells, Flag, Names, checked, exact

MARK: Final = b"\0"
"""Stands on both sides of the place of a column; in JSON text, zero bytes are escaped."""
NULL: Final = b"null"
FLAGS: Final = (b"false", b"true")


class Unlike(Exception):
    """Something is to be said of some rows alone, so that they do not share a document."""

    def __init__(self, flags: Flag) -> None:
        super().__init__()
        self.flags = flags


class EachRow(Cells):
    """The numbers of `rows` rows, each in the text of its own."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._columns: list[Sequence[bytes]] = []

    def number(self, column: Real, present: Flag | None = None) -> Any:
        return self._numbers(checked(column, present), present)

    def whole(self, column: Real, present: Flag | None = None) -> Any:
        return self._numbers(exact(checked(column, present)), present)

    def name(self, codes: Code, names: Names, present: Flag | None = None) -> Any:
        return self._coded(codes, [orjson.dumps(name) for name in names], present)

    def flag(self, column: Flag, present: Flag | None = None) -> Any:
        return self._coded(column, FLAGS, present)

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
        self._columns.append(texts)
        return orjson.Fragment(b"%b%d%b" % (MARK, len(self._columns) - 1, MARK))

    def cut(self, document: bytes) -> list[bytes]:
        """The text of each row of a document that was written with these cells."""
        parts = document.split(MARK)  # every other one is the place of a column
        columns: list[Iterable[bytes]] = [self._columns[int(part)] if at % 2 else repeat(part, self._rows) for at, part in enumerate(parts)]
        return [b"".join(row) for row in zip(*columns, strict=True)]

    def _numbers(self, column: Any, present: Flag | None) -> orjson.Fragment:
        return self._placed(orjson.dumps(column.tolist())[1:-1].split(b","), present)

    def _coded(self, codes: Code | Flag, texts: Sequence[bytes], present: Flag | None) -> orjson.Fragment:
        return self._placed([texts[code] for code in codes.tolist()], present)

    def _placed(self, texts: list[bytes], present: Flag | None) -> orjson.Fragment:
        if present is not None:
            every = zip(texts, np.broadcast_to(present, len(texts)).tolist(), strict=True)
            texts = [text if there else NULL for text, there in every]
        return self.text(texts) if len(texts) == self._rows else orjson.Fragment(texts[0])
