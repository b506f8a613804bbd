"""Entries of the catalogue in both databases: revisions that never change, deletions, and one winner of every race."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.errors import Conflict, NotFound
from service.storage import Database, Entry, EntryStore, open_database

WRITERS = 50


def entry(revision: int = 1, *, name: str = "next-one", **changes: object) -> Entry:
    fields = {"kind": "chip", "id": name, "revision": revision, "created_us": revision, "reason": "x", "document": "{}", "digest": "d"}
    return Entry(**{**fields, **changes})  # type: ignore[arg-type]


def after(seen: int) -> Callable[[Entry | None], Entry]:
    """The revision behind `seen`, for a writer who will not replace any other."""

    def make(last: Entry | None) -> Entry:
        if (0 if last is None else last.revision) != seen:
            raise Conflict("stale", code="precondition-failed")
        return entry(seen + 1)

    return make


def test_revisions_are_added_read_and_marked(database: Database) -> None:
    store = EntryStore(database)
    assert store.read() == ((0, 0), {}, ())
    first = store.add("chip", "next-one", after(0))
    second = store.add("chip", "next-one", after(1))
    other = store.add("cluster", "next-one", lambda last: entry(kind="cluster", document='{"ö": 1}') if last is None else entry())
    store.remove("chip", "next-one", lambda last: None)
    state, marks, entries = store.read({first.key})
    assert (state, store.state()) == ((3, 1), (3, 1))
    assert marks == {first.key: False, second.key: True, other.key: False}
    assert {each.document for each in entries} == {"{}", '{"ö": 1}'}
    with pytest.raises(NotFound):
        store.remove("chip", "next-one", lambda last: None)
    with pytest.raises(NotFound):
        store.remove("chip", "next-two", lambda last: None)


def test_what_a_condition_refuses_leaves_all_as_it_was(database: Database) -> None:
    store = EntryStore(database)
    store.add("chip", "next-one", after(0))
    before = store.read()

    def refuse(_last: Entry) -> None:
        raise Conflict("stale", code="precondition-failed")

    with pytest.raises(Conflict):
        store.remove("chip", "next-one", refuse)
    with pytest.raises(Conflict):
        store.add("chip", "next-one", after(0))
    assert store.read() == before


def test_of_fifty_writers_exactly_one_makes_each_revision(database: Database) -> None:
    """Two stores, as two replicas have; every writer has seen the revision that all others have seen."""
    url = None if database.path else database._writer.url.render_as_string(hide_password=False)
    folder = database.path.parent if database.path else None
    replica = open_database(url, folder and Path(folder), connections=8)
    stores = (EntryStore(database), EntryStore(replica))
    for seen in range(3):
        together = threading.Barrier(WRITERS)

        def write(number: int, seen: int = seen, together: threading.Barrier = together) -> bool:
            together.wait(30)
            try:
                stores[number % 2].add("chip", "next-one", after(seen))
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(WRITERS) as pool:
            assert sum(pool.map(write, range(WRITERS))) == 1
    assert [key[2] for key in sorted(stores[1].read()[1])] == [1, 2, 3]
    replica.close()
