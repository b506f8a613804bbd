"""The store of analyses: add, get, page, change, remove. A row never leaves it; what comes out are values of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, delete, select, update

from ..errors import NotFound, Unavailable, refuse
from .database import ATTEMPTS, Transactions
from .faults import BUSY
from .inserting import insert_absent
from .lists import AnalysisList, is_storable
from .tables import ANALYSES, LABELS

SPACE = "default"
UNKNOWN = "No analysis has this id."


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A question with its answer, both as the canonical JSON text that was stored, and what lists need of them.

    id             derived by the caller from space, engine version and question, so equal ids mean equal questions
    created_us     when it was first kept [µs since 1970-01-01 UTC]
    lower_s        the roofline's lower bound [s]; estimate_s [s] where the answer has one
    chip_id        None, as chip_revision, where the chip's numbers stand in the question itself
    dtype, bound   None where the ops of the question differ in it
    version        1 at first, and one more with every change of labels or note
    """

    id: str
    space: str = SPACE
    created_us: int
    kind: str
    chip_id: str | None
    chip_revision: int | None
    dtype: str | None
    bound: str | None
    lower_s: float
    estimate_s: float | None
    engine_version: str
    question_digest: str
    target_digest: str
    document_version: int
    note: str | None = None
    version: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)
    question: str
    answer: str


@dataclass(frozen=True)
class Page:
    """Some analyses of a list, and the cursor of the next ones; None on the last page."""

    items: tuple[Analysis, ...]
    next_cursor: str | None


class AnalysisStore:
    """Analyses in a database whose schema is at head."""

    def __init__(self, database: Transactions) -> None:
        self._database = database

    def add(self, analysis: Analysis, *, most_labels: int | None = None) -> tuple[Analysis, bool]:
        """Keeps the analysis: (what is now stored, whether this call stored it), committed.

        Where the id is known the stored one stays as it is and gains only what it lacks, labels by their keys and a note; its
        version then rises by one. Holds under races of threads, processes and machines.
        Raises: InvalidInput where it would then have more than `most_labels`; Unavailable.
        """
        return self._database.write(lambda connection: _add(connection, analysis, most_labels))

    def get(self, id: str, space: str = SPACE) -> Analysis:  # noqa: A002 - the field's own name
        """The analysis of this id. Raises: NotFound, Unavailable."""
        found = self._database.read(lambda connection: _stored(connection, id, space)) if is_storable(id + space) else None
        if found is None:
            raise NotFound(UNKNOWN)
        return found

    def change(self, id: str, revise: Callable[[Analysis], Analysis], space: str = SPACE) -> Analysis:  # noqa: A002 - as in get
        """Gives the analysis of this id the labels and the note that `revise` makes of it: what is now stored, committed.

        Its version rises by one if anything is different. Nobody else changes it between the moment that `revise` sees and
        the commit, so what `revise` raises leaves everything as it was. Raises: NotFound, Unavailable, and what `revise` does.
        """

        def work(connection: Connection) -> Analysis:
            stored = _locked(connection, id, space)
            return _replace(connection, stored, revise(stored))

        return self._database.write(work)

    def remove(self, id: str, allow: Callable[[Analysis], None], space: str = SPACE) -> None:  # noqa: A002 - as in get
        """Deletes the analysis of this id with its labels, unless `allow` raises; committed.

        Raises: NotFound, Unavailable, and what `allow` does.
        """

        def work(connection: Connection) -> None:
            allow(_locked(connection, id, space))
            connection.execute(delete(ANALYSES).where(ANALYSES.c.id == id))

        self._database.write(work)

    def page(
        self,
        limit: int,
        cursor: str | None = None,
        *,
        kind: str | None = None,
        chip: str | None = None,
        bound: str | None = None,
        label: str | None = None,
        order_by: str = "-created_at",
        space: str = SPACE,
    ) -> Page:
        """The first `limit` analyses of a list, or those behind a cursor of the same list (`AnalysisList`).

        Whoever follows the cursors meets every analysis that was there at the start exactly once.
        Raises: InvalidInput for a cursor, order or filter that cannot be meant; Unavailable.
        """
        assert limit >= 1
        listed = AnalysisList(space=space, kind=kind, chip=chip, bound=bound, label=label, order_by=order_by)
        rows_and_one = listed.select(limit + 1, cursor)
        if not listed.can_match:
            return Page((), None)

        def read(connection: Connection) -> Page:
            rows = connection.execute(rows_and_one).all()
            shown = rows[:limit]
            return Page(_with_labels(connection, shown), listed.cursor_behind(shown[-1]) if len(rows) > limit else None)

        return self._database.read(read)


def _add(connection: Connection, analysis: Analysis, most_labels: int | None) -> tuple[Analysis, bool]:
    row = {column.name: getattr(analysis, column.name) for column in ANALYSES.columns}
    for _ in range(ATTEMPTS):
        if insert_absent(connection, ANALYSES, [row]):
            insert_absent(connection, LABELS, _label_rows(analysis, analysis.labels))
            return replace(analysis, labels=dict(sorted(analysis.labels.items()))), True
        stored = _stored(connection, analysis.id, analysis.space, lock=True)
        if stored is not None:
            return _replace(connection, stored, _completed(stored, analysis, most_labels)), False
    raise Unavailable(BUSY)  # each time someone deleted it between the two statements


def _completed(stored: Analysis, given: Analysis, most_labels: int | None) -> Analysis:
    """`stored` with the labels and the note of `given` where it has none; what it has stays."""
    labels = {**given.labels, **stored.labels}
    if most_labels is not None and len(labels) > max(most_labels, len(stored.labels)):
        raise refuse("/labels", "out-of-range", f"An analysis has at most {most_labels} labels, those that it has already included.")
    return replace(stored, labels=labels, note=given.note if stored.note is None else stored.note)


def _replace(connection: Connection, stored: Analysis, wanted: Analysis) -> Analysis:
    """Labels and note of `wanted` in the place of those of `stored`, whose row this transaction has locked."""
    if (wanted.labels, wanted.note) == (stored.labels, stored.note):
        return stored
    outdated = [key for key, value in stored.labels.items() if wanted.labels.get(key) != value]
    fresh = {key: value for key, value in wanted.labels.items() if stored.labels.get(key) != value}
    if outdated:
        connection.execute(delete(LABELS).where(LABELS.c.analysis_id == stored.id, LABELS.c.key.in_(outdated)))
    insert_absent(connection, LABELS, _label_rows(stored, fresh))
    version = stored.version + 1
    connection.execute(update(ANALYSES).where(ANALYSES.c.id == stored.id).values(version=version, note=wanted.note))
    return replace(stored, version=version, note=wanted.note, labels=dict(sorted(wanted.labels.items())))


def _stored(connection: Connection, analysis_id: str, space: str, *, lock: bool = False) -> Analysis | None:
    """The analysis, if there is one; with `lock` nobody else changes or deletes it until the transaction ends."""
    query = select(ANALYSES).where(ANALYSES.c.id == analysis_id, ANALYSES.c.space == space)
    rows = connection.execute(query.with_for_update(key_share=True) if lock else query).all()
    return next(iter(_with_labels(connection, rows)), None)


def _locked(connection: Connection, analysis_id: str, space: str) -> Analysis:
    """The analysis, which nobody else changes or deletes until the transaction ends. Raises: NotFound."""
    found = _stored(connection, analysis_id, space, lock=True) if is_storable(analysis_id + space) else None
    if found is None:
        raise NotFound(UNKNOWN)
    return found


def _with_labels(connection: Connection, rows: Sequence[Any]) -> tuple[Analysis, ...]:
    if not rows:
        return ()
    labels: dict[str, dict[str, str]] = {row.id: {} for row in rows}
    query = select(LABELS.c.analysis_id, LABELS.c.key, LABELS.c.value).where(LABELS.c.analysis_id.in_(labels))
    for analysis_id, key, value in sorted(tuple(row) for row in connection.execute(query)):
        labels[analysis_id][key] = value
    return tuple(Analysis(**row._mapping, labels=labels[row.id]) for row in rows)


def _label_rows(analysis: Analysis, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    own = {"analysis_id": analysis.id, "space": analysis.space, "created_us": analysis.created_us, "lower_s": analysis.lower_s}
    return [{**own, "key": key, "value": value} for key, value in labels.items()]
