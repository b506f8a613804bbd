"""The store of what users add to the catalogue: revisions that are added and never changed, and the mark of a deletion on the last one.

Every change adds a row or a mark, so two counts tell whether there is something new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, case, func, insert, select, text, update

from ..errors import NotFound
from .database import Database
from .tables import CATALOGUE_ENTRIES

Key = tuple[str, str, int]
"""Kind, id and revision."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One revision of one entry; `document` is JSON text, stored and returned byte for byte.

    created_us  when it was kept [µs since 1970-01-01 UTC]
    deleted     whether the entry was deleted after this revision; where it is the last one, its id names nothing
    """

    kind: str
    id: str
    revision: int
    created_us: int
    reason: str
    document: str
    digest: str
    deleted: bool = False

    @property
    def key(self) -> Key:
        return self.kind, self.id, self.revision


class State(NamedTuple):
    """Counts that only grow, one of them with every change."""

    revisions: int
    deletions: int


class EntryStore:
    """Entries in a database whose schema is at head."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self) -> State:
        """Another one than before as soon as anything was changed. Raises: Unavailable."""
        return self._database.read(_state)

    def read(self, known: Collection[Key] = ()) -> tuple[State, Mapping[Key, bool], tuple[Entry, ...]]:
        """At one moment: the state, every key with its mark of deletion, and the entries that are not `known`. Raises: Unavailable."""

        def work(connection: Connection) -> tuple[State, Mapping[Key, bool], tuple[Entry, ...]]:
            columns = CATALOGUE_ENTRIES.c
            listed = connection.execute(select(columns.kind, columns.id, columns.revision, columns.deleted)).all()
            marks = {(kind, id_, revision): deleted for kind, id_, revision, deleted in listed}
            unknown = [key for key in marks if key not in known]
            return _state(connection), marks, tuple(_entry(connection, key) for key in unknown)

        return self._database.read(work)

    def add(self, kind: str, id: str, make: Callable[[Entry | None], Entry]) -> Entry:  # noqa: A002 - the field's own name
        """Keeps the revision that `make` makes, given the last one, if any: committed before it is returned.

        Nobody else changes the entry between the moment that `make` sees and the commit; what it raises leaves all as it was.
        Raises: Unavailable, and what `make` does.
        """

        def work(connection: Connection) -> Entry:
            made = make(_last(connection, kind, id))
            connection.execute(insert(CATALOGUE_ENTRIES).values(asdict(made)))
            return made

        return self._database.write(work)

    def remove(self, kind: str, id: str, allow: Callable[[Entry], None]) -> None:  # noqa: A002 - as in add
        """Marks the entry as deleted, unless `allow` raises; committed. Raises: NotFound, Unavailable, and what `allow` does."""

        def work(connection: Connection) -> None:
            last = _last(connection, kind, id)
            if last is None or last.deleted:
                raise NotFound(f"No {kind} has this id.")
            allow(last)
            columns = CATALOGUE_ENTRIES.c
            is_last = (columns.kind == kind) & (columns.id == id) & (columns.revision == last.revision)
            connection.execute(update(CATALOGUE_ENTRIES).where(is_last).values(deleted=True))

        self._database.write(work)


def _state(connection: Connection) -> State:
    deletions = func.count(case((CATALOGUE_ENTRIES.c.deleted, 1)))
    return State(*connection.execute(select(func.count(), deletions).select_from(CATALOGUE_ENTRIES)).one())


def _entry(connection: Connection, key: Key) -> Entry:
    columns = CATALOGUE_ENTRIES.c
    kind, id_, revision = key
    query = select(CATALOGUE_ENTRIES).where(columns.kind == kind, columns.id == id_, columns.revision == revision)
    return _value(connection.execute(query).one())


def _last(connection: Connection, kind: str, id_: str) -> Entry | None:
    """The last revision of an entry, which nobody else changes until the transaction ends, also where there is none yet.

    On SQLite the transaction itself is the turn.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": f"{kind} {id_}"})
    columns = CATALOGUE_ENTRIES.c
    query = select(CATALOGUE_ENTRIES).where(columns.kind == kind, columns.id == id_).order_by(columns.revision.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else _value(row)


def _value(row: Any) -> Entry:
    return Entry(**row._mapping)
