"""The texts of a workbook: plain or in runs of several fonts, and escaped where XML could not hold them."""

from __future__ import annotations

import re
from typing import Final
from xml.sax.saxutils import escape

from ...errors import OverLimit
from ..limits import LONGEST_TEXT, check_text_size
from .archive import Archive, refused
from .markup import follow_all

MOST_STRINGS: Final = 2**19

_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LIKE_ESCAPE: Final = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


def unescaped(text: str) -> str:
    """The text that `text` stands for in a workbook.

    >>> unescaped("a_x0041__x005F_x0041_")
    'aA_x0041_'
    """
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def escaped(text: str) -> str:
    """How a workbook writes `text`, so that it reads as it was.

    >>> escaped("a_x0041_"), escaped("1 < 2")
    ('a_x005F_x0041_', '1 &lt; 2')
    """
    return escape(_LIKE_ESCAPE.sub("_x005F_", text), {"\r": "&#13;"})


class Runs:
    """Collects the text of one item: all `t` in it but those that say how it is pronounced."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._is_open = False
        self._aside = 0

    def start(self, name: str) -> None:
        if name == "rPh":
            self._aside += 1
        self._is_open = name == "t" and not self._aside

    def end(self, name: str) -> None:
        if name == "rPh":
            self._aside -= 1
        self._is_open = False

    def text(self, part: str) -> None:
        if self._is_open:
            self._length += len(part)
            if self._length > 8 * LONGEST_TEXT:  # a character may be written as seven
                raise refused("A cell of the workbook has too long a text.")
            self._parts.append(part)

    def taken(self) -> str:
        """The text so far, after which a new one begins."""
        whole = unescaped("".join(self._parts))
        self._parts.clear()
        self._length = 0
        return whole


def shared_strings(archive: Archive, part: str) -> list[str]:
    """The texts that cells refer to by number."""
    found: list[str] = []
    runs = Runs()
    characters = 0

    def start(name: str, _attributes: dict[str, str]) -> None:
        runs.start(name)

    def end(name: str) -> None:
        nonlocal characters
        runs.end(name)
        if name == "si":
            found.append(runs.taken())
            characters += len(found[-1])
            check_text_size(characters)
            if len(found) > MOST_STRINGS:
                raise OverLimit(f"A workbook has at most {MOST_STRINGS} different texts.", code="body-too-large")

    if part:
        follow_all(archive.pieces(part), start, end, runs.text)
    return found
