"""Which analyses a list shows and in what order, as one SELECT that reads one range of one index from any cursor on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Select, select, tuple_

from ..errors import refuse
from . import cursors
from .facets import Facet, folded, words
from .tables import ANALYSES, FACETS

ORDERS = ("-created_at", "created_at", "-lower_s", "lower_s")  # a minus puts the largest first
SORT_COLUMNS: dict[str, tuple[str, type[int | float]]] = {"created_at": ("created_us", int), "lower_s": ("lower_s", float)}
LARGEST_REVISION = 2**31 - 1
SHOWN = [column for column in ANALYSES.columns if column.name not in {"question", "answer"}]


@dataclass(frozen=True, kw_only=True)
class AnalysisList:
    """All analyses of a space, or those that pass every filter given.

    chip            `id`, or `id@revision` for those made with that revision
    label           `key:value`
    text            a word of the note (`facets.words`)
    created_after   later than this [µs since 1970-01-01 UTC]; created_before: earlier than this
    """

    space: str
    kind: str | None = None
    chip: str | None = None
    bound: str | None = None
    label: str | None = None
    text: str | None = None
    created_after: int | None = None
    created_before: int | None = None
    order_by: str = "-created_at"

    def __post_init__(self) -> None:
        if self.order_by not in ORDERS:
            raise refuse("/query/order_by", "out-of-range", "Analyses are not ordered by this.", ORDERS)
        if self.label is not None and self.text is not None:
            detail = "A list is found by a label or by a word, beside any of the other filters; leave out one of the two."
            raise refuse("/query/text", "invalid-request", detail)
        if self._column == "lower_s" and (self.created_after, self.created_before) != (None, None):
            detail = "What was made in a span of time is listed in the order of time; leave out the order, or the span."
            raise refuse("/query/order_by", "invalid-request", detail, ORDERS[:2])

    @property
    def can_match(self) -> bool:
        """False where a filter holds text that no database stores (a NUL, half of a surrogate pair)."""
        texts = (self.space, self.kind, self.chip, self.bound, self.label, self.text)
        return all(is_storable(text) for text in texts if text is not None)

    @property
    def facet(self) -> Facet:
        """All filters but the span of time, as one. Raises: InvalidInput."""
        chip_id, chip_revision = _chip(self.chip)
        return Facet(
            space=self.space,
            kind=self.kind,
            chip_id=chip_id,
            chip_revision=chip_revision,
            bound=self.bound,
            label=_label(self.label),
            word=_word(self.text),
        )

    def select(self, limit: int, cursor: str | None) -> Select[Any]:
        """The first `limit` analyses behind `cursor`. Raises: InvalidInput."""
        conditions = [FACETS.c.facet == self.facet.name, *self._span(cursor)]
        position = (FACETS.c[self._column], FACETS.c.analysis_id)
        if cursor is not None:
            end = tuple_(*cursors.read(cursor, self._digest(), SORT_COLUMNS[self.order_by.lstrip("-")][1]))
            conditions.append(tuple_(*position) < end if self._descends else tuple_(*position) > end)
        rows = select(*SHOWN).join_from(FACETS, ANALYSES, FACETS.c.analysis_id == ANALYSES.c.id).where(*conditions)
        return rows.order_by(*(column.desc() if self._descends else column.asc() for column in position)).limit(limit)

    def ids(self, limit: int) -> Select[Any]:
        """The first `limit` ids, read from the index alone. Raises: InvalidInput."""
        return select(FACETS.c.analysis_id).where(FACETS.c.facet == self.facet.name, *self._span(None)).limit(limit)

    def cursor_behind(self, row: Any) -> str:
        """The cursor of the page that follows `row`, a row of `select`."""
        return cursors.write(self._digest(), getattr(row, self._column), row.id)

    @property
    def _column(self) -> str:
        return SORT_COLUMNS[self.order_by.lstrip("-")][0]

    @property
    def _descends(self) -> bool:
        return self.order_by.startswith("-")

    def _digest(self) -> str:
        return cursors.list_digest(**asdict(self))

    def _span(self, cursor: str | None) -> list[Any]:
        """The limits of the span of time. Where a page continues behind a cursor, that is the nearer limit on its side: of two on
        one side SQLite searches by either and tests the other, row after row."""
        has_start = self.created_after is not None and (cursor is None or self._descends)
        has_end = self.created_before is not None and (cursor is None or not self._descends)
        start = [FACETS.c.created_us > self.created_after] if has_start else []
        return [*start, FACETS.c.created_us < self.created_before] if has_end else start


def is_storable(text: str) -> bool:
    """True for what both databases keep as text: characters of UTF-8 without NUL."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _label(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    key, colon, value = text.partition(":")
    if not colon:
        raise refuse("/query/label", "out-of-range", "A label is asked for as key:value.")
    return key, value


def _word(text: str | None) -> str | None:
    if text is None:
        return None
    found = words(text)
    if not found or len(folded(text).split()) > 1:
        raise refuse("/query/text", "out-of-range", "Notes are searched for one word at a time: letters and digits without a space.")
    return found[0]


def _chip(text: str | None) -> tuple[str | None, int | None]:
    if text is None:
        return None, None
    chip_id, at, revision = text.partition("@")
    return chip_id, _revision(revision) if at else None


def _revision(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= LARGEST_REVISION):
        raise refuse("/query/chip", "out-of-range", f"A revision is a whole number from 1 to {LARGEST_REVISION}, as in example-chip@2.")
    return int(text)
