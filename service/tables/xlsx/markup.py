"""XML read as a stream, without document types and so without entities, and within bounds of depth and of a single tag."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final
from xml.parsers import expat

from .archive import refused

MOST_DEPTH: Final = 64
LONGEST_TAG: Final = 2**20
_MOST_NAMES: Final = 1000

Start = Callable[[str, dict[str, str]], None]
Text = Callable[[str], None]


def follow(pieces: Iterable[bytes], start: Start, end: Text | None = None, text: Text | None = None) -> None:
    """Call `start` and `end` for each element of a part, and `text` for what stands between; they refuse what is nested too deep.

    Raises InvalidInput where the part is not XML that we read.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    fed = 0
    try:
        for piece in pieces:
            fed += len(piece)
            parser.Parse(piece, False)  # noqa: FBT003 - expat takes it by place
            if fed - parser.CurrentByteIndex > LONGEST_TAG:
                raise refused("A part of the workbook has a tag that is too long.")
        parser.Parse(b"", True)  # noqa: FBT003 - as above
    except (expat.ExpatError, ValueError, LookupError):
        raise refused("A part of the workbook is missing, or not XML.") from None


def _refuse_document_type(*_: object) -> None:
    raise refused("A part of the workbook declares a document type, which a workbook never does.")


class Elements:
    """Handlers that keep count of the depth, and know elements by their names without a prefix."""

    def __init__(self, start: Start, end: Text | None = None) -> None:
        self._start = start
        self._end = end
        self._depth = 0
        self._local: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH or len(self._local) > _MOST_NAMES:
            raise refused("A part of the workbook is nested too deep, or has too many kinds of elements.")
        self._start(self._local.get(name) or self._local.setdefault(name, name.rpartition(":")[2]), attributes)

    def end(self, name: str) -> None:
        self._depth -= 1
        if self._end is not None:
            self._end(self._local[name])


def follow_all(pieces: Iterable[bytes], start: Start, end: Text | None = None, text: Text | None = None) -> None:
    """As `follow`, under the names without a prefix, to any depth that a workbook has."""
    elements = Elements(start, end)
    follow(pieces, elements.start, elements.end, text)
