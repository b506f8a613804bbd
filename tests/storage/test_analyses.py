"""Adding and reading analyses, on both databases."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import psycopg
import pytest
from sqlalchemy import make_url, text

from service.errors import NotFound
from service.storage import Analysis, AnalysisStore, Database, migrate, open_database

from .examples import analysis, follow

THREADS = 16
STEPS = 8


def test_an_analysis_is_read_back_as_it_was_added(database: Database) -> None:
    store = AnalysisStore(database)
    given = analysis(note="first", labels={"team": "red", "alpha": "1"}, estimate_s=2e-6)
    assert store.add(given) == (given, True)
    assert store.get(given.id) == given


def test_labels_come_in_one_order_whether_just_added_or_read(database: Database) -> None:
    store = AnalysisStore(database)
    added, _ = store.add(analysis(labels={"b": "2", "a": "1"}))
    assert list(added.labels.items()) == list(store.get(added.id).labels.items()) == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Größe · 大きさ · حجم · 🧮 · e\u0301",
        "\u2028 \u2029 \ufeff \u200f \U0010ffff \x01 \x7f",
        "'; DROP TABLE analyses; -- %s %(a)s :name ?",
        '{"a":1e999,  "b" : 0.10 ,"a":\t2}\r\n',
        "x" * 2**20,
        "é" * 2**20,
    ],
    ids=["empty", "unicode", "invisible", "statement", "json", "1 MiB", "2 MiB"],
)
def test_texts_come_back_byte_for_byte(database: Database, words: str) -> None:
    store = AnalysisStore(database)
    short = words[:50]
    store.add(analysis(question=words, answer=words + "!", note=words, labels={f"k{short}": short}))
    found = store.get("an_000000")
    assert (found.question, found.answer, found.note, found.labels) == (words, words + "!", words, {f"k{short}": short})


def test_numbers_come_back_bit_for_bit(database: Database) -> None:
    store = AnalysisStore(database)
    given = [
        analysis(number, lower_s=seconds, estimate_s=seconds, created_us=2**53 - 1 - number)
        for number, seconds in enumerate((0.0, 5e-324, 0.1, 1 / 3, 1.7976931348623157e308))
    ]
    for one in given:
        store.add(one)
    assert list(store.page(10).items) == [one.headline for one in given]
    assert [store.get(one.id) for one in given] == given


def test_the_same_question_again_gives_the_stored_one_and_adds_absent_labels(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis(note="kept", labels={"team": "red"}))
    again = replace(first, note="ignored", created_us=first.created_us + 5, answer="{}", labels={"team": "blue", "run": "7"})
    expected = replace(first, version=2, labels={"run": "7", "team": "red"})
    assert store.add(again) == (expected, False)
    assert store.get(first.id) == expected
    assert store.page(5, label="run:7").items == (expected.headline,)


def test_a_repeat_gives_a_note_to_one_that_has_none_and_takes_none_away(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis())
    noted = replace(first, note="", version=2)
    assert store.add(replace(first, note="")) == (noted, False)
    assert store.add(replace(first, note="another")) == (noted, False)
    assert store.add(first) == (noted, False)
    assert store.get(first.id) == noted


def test_of_all_who_give_a_note_at_one_moment_one_is_heard_and_all_are_told_which(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis())
    together = Barrier(THREADS, timeout=30)

    def give(thread: int) -> Analysis:
        together.wait()
        return store.add(replace(first, note=f"thread {thread}"))[0]

    with ThreadPoolExecutor(THREADS) as pool:
        told = list(pool.map(give, range(THREADS)))
    assert all(each == told[0] for each in told)
    assert (told[0].version, store.get(first.id)) == (2, told[0])


def test_a_repeat_without_new_labels_changes_nothing(database: Database) -> None:
    store = AnalysisStore(database)
    first, _ = store.add(analysis(labels={"team": "red"}))
    assert store.add(first) == (first, False)
    assert store.add(replace(first, labels={})) == (first, False)
    assert store.get(first.id).version == 1


def test_an_unknown_id_is_not_found(database: Database) -> None:
    for unknown in ("an_missing", "", "an_\0", "\ud800", "'''", "x" * 10_000):
        with pytest.raises(NotFound):
            AnalysisStore(database).get(unknown)


def test_spaces_do_not_see_each_other(database: Database) -> None:
    store = AnalysisStore(database)
    store.add(analysis(1))
    store.add(analysis(2, space="other", labels={"team": "red"}))
    assert [found.id for found in store.page(5).items] == ["an_000001"]
    assert [found.id for found in store.page(5, space="other", label="team:red").items] == ["an_000002"]
    assert store.page(5, label="team:red").items == ()
    with pytest.raises(NotFound):
        store.get("an_000002")


def test_it_is_committed_when_add_returns(database: Database, request: pytest.FixtureRequest) -> None:
    """A connection that has nothing to do with the store sees the row at once."""
    AnalysisStore(database).add(analysis(labels={"team": "red"}))
    query = "SELECT a.id, l.value FROM analyses a JOIN analysis_labels l ON l.analysis_id = a.id"
    if database.path is not None:
        other = sqlite3.connect(database.path)
        seen = other.execute(query).fetchall()
        other.close()
    else:
        with psycopg.connect(request.getfixturevalue("postgres_url")) as session:
            seen = session.execute(query).fetchall()
    assert seen == [("an_000000", "red")]


def test_threads_that_add_the_same_and_different_questions_lose_nothing(database: Database) -> None:
    """Of all who add one id at one moment exactly one has created it; every acknowledged id is found."""
    store = AnalysisStore(database)
    together = Barrier(THREADS, timeout=30)

    def work(thread: int) -> list[tuple[str, bool]]:
        outcome = []
        for step in range(STEPS):
            together.wait()
            for number in (step, 1000 + 100 * thread + step):
                stored, created = store.add(analysis(number, labels={f"thread-{thread}": "was here"}))
                outcome.append((stored.id, created))
        return outcome

    with ThreadPoolExecutor(THREADS) as pool:
        outcomes = [entry for entries in pool.map(work, range(THREADS)) for entry in entries]
    created = [name for name, was_created in outcomes if was_created]
    assert len(created) == len(set(created)) == STEPS + STEPS * THREADS
    assert {found.id for found in follow(store, 50)} == {name for name, _ in outcomes}
    for step in range(STEPS):
        shared = store.get(f"an_{step:06d}")
        assert set(shared.labels) == {f"thread-{thread}" for thread in range(THREADS)}
        assert shared.version == THREADS


def test_a_question_that_is_deleted_meanwhile_is_added_anew(database: Database) -> None:
    """Labels never hang on an analysis that is gone, whoever was first."""
    store = AnalysisStore(database)
    together = Barrier(2, timeout=30)

    def add(step: int) -> None:
        together.wait()
        store.add(analysis(labels={"step": str(step)}))

    def delete(_: int) -> None:
        together.wait()
        database.write(lambda connection: connection.execute(text("DELETE FROM analyses WHERE id = 'an_000000'")))

    with ThreadPoolExecutor(2) as pool:
        for step in range(25):
            jobs = [pool.submit(add, step), pool.submit(delete, step)]
            for job in jobs:
                job.result()
    stray = text("SELECT count(*) FROM analysis_labels WHERE analysis_id NOT IN (SELECT id FROM analyses)")
    assert database.read(lambda connection: connection.execute(stray).scalar()) == 0
    store.add(analysis(labels={"last": "one"}))
    assert store.get("an_000000").labels["last"] == "one"


def test_a_database_of_the_short_scheme_is_opened_as_well(postgres_url: str) -> None:
    database = open_database(make_url(postgres_url).set(drivername="postgres").render_as_string(hide_password=False), None)
    migrate.ensure(database)
    assert AnalysisStore(database).add(analysis())[1]
    database.close()
