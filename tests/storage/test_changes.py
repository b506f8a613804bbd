"""Changing and deleting what is kept, on both databases, also when many do it at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import text

from service.errors import Conflict, InvalidInput, NotFound
from service.storage import Analysis, AnalysisStore, Database

from .examples import analysis

THREADS = 16


class Refused(Exception):
    pass


def labelled(labels: Mapping[str, str]) -> Callable[[Analysis], Analysis]:
    return lambda stored: replace(stored, labels={**stored.labels, **labels})


def refuse(stored: Analysis) -> Analysis:
    raise Refused(stored.id)


def forbid(stored: Analysis) -> None:
    raise Refused(stored.id)


def count_of_labels(database: Database) -> int:
    found = database.read(lambda connection: connection.execute(text("SELECT count(*) FROM analysis_labels")).scalar())
    assert isinstance(found, int)
    return found


def test_labels_and_note_are_replaced_and_the_version_rises(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis(note="old", labels={"keep": "1", "set": "1", "drop": "1"}))
    changed = store.change(first.id, lambda stored: replace(stored, note=None, labels={"set": "2", "new": "2", "keep": "1"}))
    assert changed == replace(first, version=2, note=None, labels={"keep": "1", "new": "2", "set": "2"})
    assert list(changed.labels) == sorted(changed.labels)
    assert store.get(first.id) == changed


def test_nothing_else_can_be_changed(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis())
    store.change(first.id, lambda stored: replace(stored, note="n", answer="{}", lower_s=9.0, version=50, kind="dot"))
    assert store.get(first.id) == replace(first, version=2, note="n")


def test_lists_follow_a_change(database: Database) -> None:
    store = AnalysisStore(database)
    for number in range(3):
        store.add(analysis(number, labels={"team": "red"}))
    store.change("an_000001", labelled({"team": "blue"}))
    store.remove("an_000002", lambda _: None)
    assert {label: [found.id for found in store.page(5, label=label).items] for label in ("team:red", "team:blue")} == {
        "team:red": ["an_000000"],
        "team:blue": ["an_000001"],
    }
    assert [found.id for found in store.page(5).items] == ["an_000001", "an_000000"]


def test_what_changes_nothing_is_no_new_version(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis(note="n", labels={"b": "2", "a": "1"}))
    assert store.change(first.id, lambda stored: replace(stored, labels={"a": "1", "b": "2"})) == first
    assert store.get(first.id).version == 1


def test_a_change_or_deletion_that_is_refused_leaves_everything(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis(labels={"a": "1"}))
    for attempt in (lambda: store.change(first.id, refuse), lambda: store.remove(first.id, forbid)):
        with pytest.raises(Refused):
            attempt()
    assert store.get(first.id) == first


def test_a_deleted_analysis_is_gone_with_its_labels_and_can_be_added_anew(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis(labels={"a": "1"}, note="n"))
    store.change(first.id, labelled({"b": "2"}))
    store.remove(first.id, lambda _: None)
    assert count_of_labels(database) == 0
    for attempt in (
        lambda: store.get(first.id),
        lambda: store.change(first.id, refuse),
        lambda: store.remove(first.id, forbid),
    ):
        with pytest.raises(NotFound):
            attempt()
    again = analysis(created_us=5)
    assert store.add(again) == (again, True)


def test_an_unknown_id_is_not_found(database: Database) -> None:
    store = AnalysisStore(database)
    store.add(analysis(1))
    for unknown in ("an_missing", "", "an_\0", "\ud800", "'''", "x" * 10_000):
        with pytest.raises(NotFound):
            store.change(unknown, refuse)
        with pytest.raises(NotFound):
            store.remove(unknown, forbid)


def test_an_analysis_of_another_space_is_not_found(database: Database) -> None:
    store = AnalysisStore(database)
    store.add(analysis(1, space="other"))
    for attempt in (lambda: store.change("an_000001", refuse), lambda: store.remove("an_000001", forbid)):
        with pytest.raises(NotFound):
            attempt()
    assert store.change("an_000001", labelled({"a": "1"}), space="other").version == 2


def test_a_repeat_may_not_gain_more_labels_than_there_may_be(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis(labels={"a": "1", "b": "1"}), most_labels=3)
    assert store.add(analysis(labels={"b": "2", "c": "2"}), most_labels=3)[0].labels == {"a": "1", "b": "1", "c": "2"}
    with pytest.raises(InvalidInput) as refused:
        store.add(analysis(labels={"d": "3"}), most_labels=3)
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/labels", "out-of-range")]
    assert store.get(first.id).version == 2


def test_of_many_who_change_one_version_exactly_one_does(database: Database) -> None:
    store = AnalysisStore(database)
    store.add(analysis())
    together = Barrier(THREADS, timeout=30)

    def write(thread: int) -> list[bool]:
        return [write_once(thread, version) for version in range(1, 6)]

    def write_once(thread: int, version: int) -> bool:
        def revise(stored: Analysis) -> Analysis:
            if stored.version != version:
                raise Conflict("It has changed.")
            return replace(stored, note=f"{version} by {thread}", labels={"writer": str(thread)})

        together.wait()
        try:
            changed = store.change("an_000000", revise)
        except Conflict:
            return False
        finally:
            together.wait()
        return changed.version == version + 1

    with ThreadPoolExecutor(THREADS) as pool:
        outcomes = list(pool.map(write, range(THREADS)))
    assert [sum(round_) for round_ in zip(*outcomes, strict=True)] == [1] * 5
    last = store.get("an_000000")
    winner = next(thread for thread, outcome in enumerate(outcomes) if outcome[4])
    assert (last.version, last.note, last.labels) == (6, f"5 by {winner}", {"writer": str(winner)})
    assert count_of_labels(database) == 1


def test_changes_deletions_and_additions_at_once_leave_no_stray_label(database: Database) -> None:
    store = AnalysisStore(database)
    together = Barrier(6, timeout=30)

    def work(thread: int) -> None:
        for step in range(12):
            together.wait()
            try:
                if thread < 2:
                    store.add(analysis(labels={f"t{thread}": str(step)}))
                elif thread < 4:
                    store.change("an_000000", labelled({"shared": f"{thread}-{step}", f"t{thread}": str(step)}))
                else:
                    store.remove("an_000000", lambda _: None)
            except NotFound:
                assert thread >= 2

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    stray = text("SELECT count(*) FROM analysis_labels WHERE analysis_id NOT IN (SELECT id FROM analyses)")
    assert database.read(lambda connection: connection.execute(stray).scalar()) == 0
    store.add(analysis())
    store.change("an_000000", lambda stored: replace(stored, labels={}))
    assert count_of_labels(database) == 0
