"""Which analyses a list shows and in what order, as one SELECT that an index serves from any cursor on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Column, Select, select, tuple_

from ..errors import refuse
from . import cursors
from .tables import ANALYSES, LABELS

ORDERS = ("-created_at", "created_at", "-lower_s", "lower_s")  # a minus puts the largest first
SORT_COLUMNS: dict[str, tuple[str, type[int | float]]] = {"created_at": ("created_us", int), "lower_s": ("lower_s", float)}
LARGEST_REVISION = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class AnalysisList:
    """All analyses of a space, or those that pass every filter given.

    chip   `id`, or `id@revision` for those made with that revision
    label  `key:value`
    """

    space: str
    kind: str | None
    chip: str | None
    bound: str | None
    label: str | None
    order_by: str

    def __post_init__(self) -> None:
        if self.order_by not in ORDERS:
            raise refuse("/query/order_by", "out-of-range", "Analyses are not ordered by this.", ORDERS)

    @property
    def can_match(self) -> bool:
        """False where a filter holds text that no database stores (a NUL, half of a surrogate pair)."""
        texts = (self.space, self.kind, self.chip, self.bound, self.label)
        return all(is_storable(text) for text in texts if text is not None)

    def select(self, limit: int, cursor: str | None) -> Select[Any]:
        """The first `limit` analyses behind `cursor`. Raises: InvalidInput."""
        conditions = [*self._label_conditions(), *self._column_conditions()]
        value, row_id = self._sort_columns()
        position = tuple_(value, row_id)
        if cursor is not None:
            end = tuple_(*cursors.read(cursor, self._digest(), SORT_COLUMNS[self.order_by.lstrip("-")][1]))
            conditions.append(position < end if self._descends else position > end)
        rows = select(ANALYSES).where(*conditions)
        if self.label is not None:
            rows = rows.join(LABELS, LABELS.c.analysis_id == ANALYSES.c.id)
        return rows.order_by(*(column.desc() if self._descends else column.asc() for column in (value, row_id))).limit(limit)

    def cursor_behind(self, row: Any) -> str:
        """The cursor of the page that follows `row`, a row of `select`."""
        return cursors.write(self._digest(), getattr(row, SORT_COLUMNS[self.order_by.lstrip("-")][0]), row.id)

    @property
    def _descends(self) -> bool:
        return self.order_by.startswith("-")

    def _digest(self) -> str:
        return cursors.list_digest(**asdict(self))

    def _sort_columns(self) -> tuple[Column[Any], Column[Any]]:
        name = SORT_COLUMNS[self.order_by.lstrip("-")][0]
        return (ANALYSES.c[name], ANALYSES.c.id) if self.label is None else (LABELS.c[name], LABELS.c.analysis_id)

    def _label_conditions(self) -> list[Any]:
        if self.label is None:
            return [ANALYSES.c.space == self.space]
        key, colon, value = self.label.partition(":")
        if not colon:
            raise refuse("/query/label", "out-of-range", "A label is asked for as key:value.")
        return [LABELS.c.space == self.space, LABELS.c.key == key, LABELS.c.value == value]

    def _column_conditions(self) -> list[Any]:
        conditions: list[Any] = []
        if self.kind is not None:
            conditions.append(ANALYSES.c.kind == self.kind)
        if self.bound is not None:
            conditions.append(ANALYSES.c.bound == self.bound)
        if self.chip is not None:
            chip_id, at, revision = self.chip.partition("@")
            conditions.append(ANALYSES.c.chip_id == chip_id)
            if at:
                conditions.append(ANALYSES.c.chip_revision == _revision(revision))
        return conditions


def is_storable(text: str) -> bool:
    """True for what both databases keep as text: characters of UTF-8 without NUL."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _revision(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= LARGEST_REVISION):
        raise refuse("/query/chip", "out-of-range", f"A revision is a whole number from 1 to {LARGEST_REVISION}, as in example-chip@2.")
    return int(text)
