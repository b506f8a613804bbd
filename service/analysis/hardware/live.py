"""The catalogue as it is now: the shipped one and what users have added, read again when the database has something new.

Whoever answers a question takes `current`, which is in memory and complete, and never waits for the database.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from ...catalogue import Catalogue, Chip, Cluster
from ...catalogue.own import KINDS, Kind, OwnRecord, read
from ...storage import Entry, EntryStore

Key = tuple[str, str, int]


@dataclass
class LiveCatalogue:
    """The catalogue of one process. `refresh` may be called from many threads; `current` is replaced at once, never changed."""

    shipped: Catalogue
    store: EntryStore
    current: Catalogue = field(init=False)
    unreadable: frozenset[Key] = frozenset()
    """entries that this version cannot use: written by a newer one, or called as one that is shipped by now"""

    def __post_init__(self) -> None:
        self.current = self.shipped
        self._state = (0, 0)
        self._records: dict[Key, OwnRecord] = {}
        self._reading = Lock()

    def refresh(self) -> None:
        """Sees every change that was committed before. Raises Unavailable; what was seen before then stays."""
        with self._reading:
            if self.store.state() == self._state:
                return
            state, marks, fresh = self.store.read(self._records.keys() | self.unreadable)
            found, unreadable = self._usable(fresh)
            self._records = {key: record for key, record in {**self._records, **found}.items() if key in marks}
            self.unreadable = (self.unreadable | unreadable) & marks.keys()
            self.current = self._with(self._records, marks)
            self._state = state

    def is_shipped(self, kind: Kind, name: str) -> bool:
        """Whether the entry called `name` is one of the service's own."""
        return any(each.id == name for each in (self.shipped.chips if kind.noun == "chip" else self.shipped.clusters))

    def _usable(self, fresh: Iterable[Entry]) -> tuple[dict[Key, OwnRecord], frozenset[Key]]:
        found: dict[Key, OwnRecord] = {}
        unreadable: set[Key] = set()
        for each in fresh:
            record = self._record(each)
            if record is None:
                unreadable.add(each.key)
            else:
                found[each.key] = record
        return found, frozenset(unreadable)

    def _record(self, stored: Entry) -> OwnRecord | None:
        kind = KINDS.get(stored.kind)
        if kind is None or self.is_shipped(kind, stored.id):
            return None
        try:
            return read(kind, stored.document)
        except ValueError:
            return None

    def _with(self, records: Mapping[Key, OwnRecord], marks: Mapping[Key, bool]) -> Catalogue:
        if not records:
            return self.shipped
        deleted = _without_present(records.keys(), marks)
        return self.shipped.with_own(
            chips=[record for record in records.values() if isinstance(record, Chip)],
            clusters=[record for record in records.values() if isinstance(record, Cluster)],
            deleted_chips=deleted["chip"],
            deleted_clusters=deleted["cluster"],
        )


def _without_present(usable: Collection[Key], marks: Mapping[Key, bool]) -> dict[str, set[str]]:
    """By kind, the ids of which only pinned revisions can be asked: deleted ones, and those whose last revision is not `usable`.

    The revision before that one is not what their ids mean.
    """
    known = {(kind, name) for kind, name, _ in usable}
    last = {(kind, name): revision for kind, name, revision in sorted(marks) if (kind, name) in known}
    gone = [(kind, name) for (kind, name), at in last.items() if marks[kind, name, at] or (kind, name, at) not in usable]
    return {kind: {name for of, name in gone if of == kind} for kind in KINDS}
