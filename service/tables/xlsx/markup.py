"""XML read as a stream, without document types and so without entities, and within bounds of depth and of a single tag."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final
from xml.parsers import expat

from .archive import refused

MOST_DEPTH: Final = 64
LONGEST_TAG: Final = 2**20

Start = Callable[[str, dict[str, str]], None]
Text = Callable[[str], None]


def follow(pieces: Iterable[bytes], start: Start, end: Text | None = None, text: Text | None = None) -> None:
    """Call `start` and `end` for each element of a part, under its name without a prefix, and `text` for what stands between.

    Raises InvalidInput where the part is not XML that we read.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler, parser.EndElementHandler = _counted(start, end)
    parser.CharacterDataHandler = text
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


def _counted(start: Start, end: Text | None) -> tuple[Start, Text]:
    """Handlers that keep count of the depth and take the prefix from names."""
    depth = 0
    bare: dict[str, str] = {}

    def started(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise refused("A part of the workbook is nested too deep.")
        start(bare.get(name) or _local(name, bare), attributes)

    def ended(name: str) -> None:
        nonlocal depth
        depth -= 1
        if end is not None:
            end(bare[name])

    return started, ended


def _local(name: str, known: dict[str, str]) -> str:
    if len(known) >= 1000:
        raise refused("A part of the workbook has too many kinds of elements.")
    return known.setdefault(name, name.rpartition(":")[2])
