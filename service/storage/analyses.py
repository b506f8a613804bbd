"""The store of analyses: add, get, page, change, remove. A row never leaves it; what comes out are values of ours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, and_, delete, func, select, update

from ..errors import NotFound, Unavailable, refuse
from .analysis import SPACE, Analysis, Headline
from .database import ATTEMPTS, Transactions
from .facets import facets
from .faults import BUSY
from .inserting import insert_absent, unless_taken
from .lists import AnalysisList, is_storable
from .tables import ANALYSES, FACETS, LABELS

UNKNOWN = "No analysis has this id."


@dataclass(frozen=True)
class Page:
    """Some analyses of a list, and the cursor of the next ones; None on the last page."""

    items: tuple[Headline, ...]
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
        """Deletes the analysis of this id with its labels and facets, unless `allow` raises; committed.

        Raises: NotFound, Unavailable, and what `allow` does.
        """

        def work(connection: Connection) -> None:
            stored = _locked(connection, id, space)
            allow(stored)
            _remove_facets(connection, stored, facets(stored))
            connection.execute(delete(ANALYSES).where(ANALYSES.c.id == id))

        self._database.write(work)

    def page(self, limit: int, cursor: str | None = None, *, space: str = SPACE, **asked: Any) -> Page:
        """The first `limit` analyses of a list, or those behind a cursor of the same list.

        `asked` has the filters and the order of `AnalysisList`. Whoever follows the cursors meets every analysis that was there at the
        start exactly once. Raises: InvalidInput for a cursor, order or filter that cannot be meant; Unavailable.
        """
        assert limit >= 1
        listed = AnalysisList(space=space, **asked)
        rows_and_one = listed.select(limit + 1, cursor)
        if not listed.can_match:
            return Page((), None)

        def read(connection: Connection) -> Page:
            rows = connection.execute(rows_and_one).all()
            shown = rows[:limit]
            items = tuple(Headline(**row._mapping, labels=labels) for row, labels in _labelled(connection, shown))
            return Page(items, listed.cursor_behind(shown[-1]) if len(rows) > limit else None)

        return self._database.read(read)

    def count(self, most: int, *, space: str = SPACE, **asked: Any) -> int:
        """How many analyses a list has, or `most` if it has more. Raises: InvalidInput as `page` does; Unavailable."""
        listed = AnalysisList(space=space, **asked)
        rows = select(func.count()).select_from(listed.ids(most).subquery())
        return self._database.read(lambda connection: connection.execute(rows).scalar_one()) if listed.can_match else 0

    def whole(self, ids: Sequence[str]) -> tuple[Analysis, ...]:
        """Those of `ids` that are still there, in this order, with their documents. Raises: Unavailable."""

        def read(connection: Connection) -> tuple[Analysis, ...]:
            rows = connection.execute(select(ANALYSES).where(ANALYSES.c.id.in_(ids))).all()
            found = {each.id: each for each in _with_labels(connection, rows)}
            return tuple(found[each] for each in ids if each in found)

        return self._database.read(read)


def _add(connection: Connection, analysis: Analysis, most_labels: int | None) -> tuple[Analysis, bool]:
    row = {column.name: getattr(analysis, column.name) for column in ANALYSES.columns}
    for _ in range(ATTEMPTS):
        if insert_absent(connection, ANALYSES, [row]):
            insert_absent(connection, LABELS, _label_rows(analysis.id, analysis.labels))
            _insert_facets(connection, analysis, facets(analysis))
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
    insert_absent(connection, LABELS, _label_rows(stored.id, fresh))
    changed = replace(stored, version=stored.version + 1, note=wanted.note, labels=dict(sorted(wanted.labels.items())))
    connection.execute(update(ANALYSES).where(ANALYSES.c.id == stored.id).values(version=changed.version, note=changed.note))
    before, after = facets(stored), facets(changed)
    _remove_facets(connection, stored, before - after)
    _insert_facets(connection, stored, after - before)
    return changed


def _insert_facets(connection: Connection, analysis: Headline, names: Collection[bytes]) -> None:
    own = {"created_us": analysis.created_us, "lower_s": analysis.lower_s, "analysis_id": analysis.id}
    if names:  # row by row under one statement: there are hundreds, and a statement as long as they would be made anew each time
        connection.execute(unless_taken(connection, FACETS), [{"facet": name, **own} for name in sorted(names)])


def _remove_facets(connection: Connection, analysis: Headline, names: Collection[bytes]) -> None:
    if names:
        row = and_(FACETS.c.created_us == analysis.created_us, FACETS.c.analysis_id == analysis.id)
        connection.execute(delete(FACETS).where(row, FACETS.c.facet.in_(sorted(names))))


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
    return tuple(Analysis(**row._mapping, labels=labels) for row, labels in _labelled(connection, rows))


def _labelled(connection: Connection, rows: Sequence[Any]) -> Iterator[tuple[Any, dict[str, str]]]:
    """Rows of analyses, each with its labels by their keys."""
    labels: dict[str, dict[str, str]] = {row.id: {} for row in rows}
    query = select(LABELS.c.analysis_id, LABELS.c.key, LABELS.c.value).where(LABELS.c.analysis_id.in_(labels))
    for analysis_id, key, value in sorted(tuple(row) for row in connection.execute(query)) if rows else ():
        labels[analysis_id][key] = value
    return ((row, labels[row.id]) for row in rows)


def _label_rows(analysis_id: str, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"analysis_id": analysis_id, "key": key, "value": value} for key, value in labels.items()]
