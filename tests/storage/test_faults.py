"""When the database is not well: one sentence, the right code, no address, and well again afterwards."""

from __future__ import annotations

import logging
import os
import pwd
import shutil
import sqlite3
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Connection, make_url, text

from service.errors import Unavailable
from service.storage import AnalysisStore, Database, migrate, open_database, sqlite, until

from ..postgres import PostgresServer
from .examples import analysis

SECRET = "hunter2-is-secret"  # noqa: S105 - nobody's


def refusal(action: Callable[[], object]) -> Unavailable:
    with pytest.raises(Unavailable) as refused:
        action()
    error = refused.value
    assert error.detail.endswith((".", "`."))
    return error


@contextmanager
def one_who_may_not() -> Iterator[None]:
    """As a user without rights: root is refused nothing."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach, as pytest's own cannot be."""
    folder = Path(tempfile.mkdtemp(prefix="roofline-folder-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_the_folder_and_the_file_are_for_their_user_alone(tmp_path: Path) -> None:
    database = open_database(None, tmp_path / "a" / "data")
    migrate.ensure(database)
    AnalysisStore(database).add(analysis())
    assert (tmp_path / "a" / "data").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a" / "data").iterdir()} == {0o600}
    database.close()


def test_a_data_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "taken" / "analyses.sqlite3").mkdir(parents=True)
    for folder, word in {"file": "not a folder", "file/below": "not a folder", "taken": "should be", "x" * 300: "too long"}.items():
        error = refusal(lambda folder=folder: open_database(None, tmp_path / folder))  # type: ignore[misc]
        assert (error.code, word in error.detail) == ("database-unavailable", True), error.detail


def test_a_folder_that_cannot_be_written_is_refused(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with one_who_may_not():
        inside = refusal(lambda: open_database(None, open_folder))
        below = refusal(lambda: open_database(None, open_folder / "data"))
    open_folder.chmod(0o755)
    assert inside.detail == below.detail == "The data folder cannot be written by this user."


def test_a_file_that_cannot_be_written_is_refused(open_folder: Path) -> None:
    open_database(None, open_folder).close()
    (open_folder / "analyses.sqlite3").chmod(0o444)
    with one_who_may_not():
        assert "cannot be written" in refusal(lambda: open_database(None, open_folder)).detail


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "analyses.sqlite3").write_bytes(b"these are not the pages of a database\n" * 300)
    assert refusal(lambda: open_database(None, tmp_path)).detail == "The database file is not an SQLite database."


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    database = open_database(None, tmp_path)
    migrate.ensure(database)
    database.close()
    path = tmp_path / "analyses.sqlite3"
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))
    database = open_database(None, tmp_path)
    assert "damaged" in refusal(lambda: AnalysisStore(database).page(5)).detail
    database.close()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_full_disk_keeps_what_was_there_and_is_survived(database: Database) -> None:
    """SQLite's own limit on pages fails as a full disk does."""
    store = AnalysisStore(database)
    store.add(analysis(1))
    pages = database.write(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar_one())
    database.write(lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 5}"))
    error = refusal(lambda: store.add(analysis(2, answer="x" * 2**20)))
    assert (error.code, "full" in error.detail) == ("database-unavailable", True)
    assert [found.id for found in store.page(5).items] == ["an_000001"]
    database.write(lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 1000000"))
    assert store.add(analysis(2, answer="x" * 2**20))[1]


def test_a_writer_in_another_process_is_waited_for_and_then_named_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_S", 0.2)
    database = open_database(None, tmp_path)
    migrate.ensure(database)
    other = sqlite3.connect(tmp_path / "analyses.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert refusal(lambda: AnalysisStore(database).add(analysis())).code == "overloaded"
    assert AnalysisStore(database).page(5).items == ()  # who reads does not wait
    other.execute("ROLLBACK")
    other.close()
    assert AnalysisStore(database).add(analysis())[1]
    database.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_when_all_connections_are_taken_the_next_is_refused_soon(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("postgres_url") if kind == "postgresql" else None
    database = open_database(url, tmp_path, connections=1, wait_s=0.1)
    migrate.ensure(database)
    taken, done = Event(), Event()

    def hold(_: object) -> None:
        taken.set()
        done.wait(30)

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(database.read, hold)
        assert taken.wait(30)
        assert refusal(database.check).code == "overloaded"
        done.set()
        held.result()
    database.check()
    database.close()


def test_a_statement_that_takes_too_long_is_ended(postgres_url: str) -> None:
    database = open_database(postgres_url, None)

    def sleep_long(connection: Connection) -> None:
        connection.execute(text("SET LOCAL statement_timeout = '50ms'"))
        connection.execute(text("SELECT pg_sleep(30)"))

    assert refusal(lambda: database.read(sleep_long)).code == "overloaded"
    database.check()
    database.close()


def test_a_reader_cannot_write(database: Database) -> None:
    refusal(lambda: database.read(lambda connection: connection.execute(text("DELETE FROM analyses"))))


def test_a_restarted_server_is_well_again(restartable_server: PostgresServer, caplog: pytest.LogCaptureFixture) -> None:
    """Every connection of the pool is dead after the restart; no call but those in between notices."""
    url = restartable_server.create_database()
    database = open_database(url, None)
    migrate.ensure(database)
    store = AnalysisStore(database)
    store.add(analysis(1))
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: database.read(lambda connection: connection.execute(text("SELECT pg_sleep(0.1)"))), range(6)))
    restartable_server.stop()
    for action in (database.check, lambda: store.add(analysis(2)), lambda: store.get("an_000001"), lambda: store.page(3)):
        error = refusal(action)
        assert error.code == "database-unavailable"
        assert "secret" not in "".join(traceback.format_exception(error))
    restartable_server.start()
    assert store.add(analysis(3))[1]
    assert [found.id for found in store.page(5).items] == ["an_000003", "an_000001"]
    assert "secret" not in caplog.text
    database.close()
    restartable_server.drop_database(url)


def test_a_frozen_server_is_not_waited_for_beyond_the_deadline(restartable_server: PostgresServer) -> None:
    """At first on a connection that is open, and then on none; the driver rounds the time to connect up to two seconds."""
    url = restartable_server.create_database()
    database = open_database(url, None)
    migrate.ensure(database)
    store = AnalysisStore(database)
    store.add(analysis(1))
    with restartable_server.frozen():
        for number in (2, 3):
            began = time.monotonic()
            with until(began + 0.5):
                error = refusal(lambda number=number: store.add(analysis(number)))  # type: ignore[misc]
            assert (error.code, time.monotonic() - began < 4) == ("deadline-exceeded", True)
    with until(time.monotonic() + 20):
        assert store.add(analysis(1))[1] is False
        assert store.add(analysis(4))[1] is True
    database.close()
    restartable_server.drop_database(url)


def test_a_session_that_the_server_ends_in_the_middle_is_reported(postgres_url: str) -> None:
    database = open_database(postgres_url, None)
    ended = text("SELECT pg_terminate_backend(pg_backend_pid())")
    assert refusal(lambda: database.write(lambda connection: connection.execute(ended))).code == "database-unavailable"
    database.check()
    database.close()


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://zoe:{SECRET}@127.0.0.1:1/quux",
        f"postgresql://zoe:{SECRET}@no-such-host.invalid/quux",
        f"postgresql://zoe:{SECRET}@127.0.0.1:port/quux",
        f"postgresql://zoe:{SECRET}@127.0.0.1/quux?no_such_option=1",
        f"postgresql://zoe:{SECRET}@127.0.0.1/quux?sslmode=nonsense",
        f"mysql://zoe:{SECRET}@127.0.0.1/quux",
        f"sqlite:////tmp/{SECRET}",
        f"zoe:{SECRET}",
        SECRET,
        "",
    ],
)
def test_an_address_that_leads_nowhere_is_never_repeated(
    url: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    error = refusal(lambda: open_database(url, None).check())
    assert error.code == "database-unavailable"
    told = "".join(traceback.format_exception(error)) + caplog.text + "".join(capfd.readouterr())
    assert (error.__cause__, error.__context__) == (None, None)
    for part in (SECRET, "zoe", "quux", "no-such-host"):
        assert part not in told


@pytest.mark.parametrize(("part", "value", "word"), [("username", "nobody-known", "user"), ("database", "no-such-name", "no database")])
def test_a_server_that_refuses_us_is_told_apart(postgres_server: PostgresServer, part: str, value: str, word: str) -> None:
    url = make_url(postgres_server.url).set(**{part: value}).render_as_string(hide_password=False)  # type: ignore[arg-type]
    error = refusal(lambda: open_database(url, None).check())
    assert word in error.detail
    assert value not in "".join(traceback.format_exception(error))


def test_a_database_shows_no_address(postgres_url: str) -> None:
    database = open_database(postgres_url, None)
    assert repr(database) == "<Database postgresql>"
    database.close()
