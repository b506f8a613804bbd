"""The use case of exports: saved analyses by filters, any number of them, of which a few at a time are in memory.

Each part is read in a transaction of its own, so none is held open while a caller takes what was sent. What was there at the start
comes exactly once, as with the pages of a list; what is deleted meanwhile may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..errors import OverLimit
from ..schemas.limits import MAX_EXPORTED
from ..storage import AnalysisStore, Headline
from . import history

PART: Final = 200
DOCUMENTS: Final = 20
"""Whole analyses that are read at a time; one with a list of ops may have megabytes."""


def counted(asked: Mapping[str, Any], store: AnalysisStore) -> int:
    """How many analyses are selected. Raises `OverLimit` (too-many-rows), `InvalidInput`."""
    count = store.count(MAX_EXPORTED + 1, **asked)
    if count > MAX_EXPORTED:
        raise OverLimit(
            f"An export has at most {MAX_EXPORTED} analyses. Ask for parts, such as spans between created_after and created_before."
        )
    return count


def headlines(asked: Mapping[str, Any], store: AnalysisStore) -> Iterator[Sequence[Headline]]:
    """What lists show of the selected analyses, part after part."""
    cursor = None
    while True:
        page = store.page(PART, cursor, **asked)
        if page.items:
            yield page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def documents(asked: Mapping[str, Any], store: AnalysisStore) -> Iterator[list[bytes]]:
    """The selected analyses as they are sent one by one, some at a time."""
    for part in headlines(asked, store):
        ids = [each.id for each in part]
        for start in range(0, len(ids), DOCUMENTS):
            yield [history.envelope(each) for each in store.whole(ids[start : start + DOCUMENTS])]


def as_json(asked: Mapping[str, Any], store: AnalysisStore) -> Iterator[bytes]:
    """The documents as one list, in pieces."""
    mark = b'{"items":[\n'
    for some in documents(asked, store):
        if some:
            yield mark + b",\n".join(some)
            mark = b",\n"
    yield b"\n]}\n" if mark == b",\n" else mark + b"]}\n"


def as_ndjson(asked: Mapping[str, Any], store: AnalysisStore) -> Iterator[bytes]:
    """The documents, a line each, in pieces."""
    for some in documents(asked, store):
        yield b"".join(each + b"\n" for each in some)
