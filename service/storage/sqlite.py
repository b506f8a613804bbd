"""SQLite as we use it: one file, one connection that writes, several that read.

Write-ahead logging lets readers go on while one transaction writes. `synchronous=FULL` makes a commit reach the disk
before it returns. Writers begin with BEGIN IMMEDIATE: a transaction that reads first and then wants to write fails at
once, whatever the timeout, when another process wrote in between.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import QueuePool

from ..errors import Unavailable

FILE_NAME = "analyses.sqlite3"
BUSY_S = 10.0  # how long a statement waits for the lock of another process


def prepare(folder: Path) -> Path:
    """The database file inside `folder`; both are made, for this user alone, where they are missing."""
    path = folder / FILE_NAME
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        fault = "The data folder is not a folder."
    except NotADirectoryError:
        fault = "The data folder lies below something that is not a folder."
    except IsADirectoryError:
        fault = f"The data folder holds a folder named {FILE_NAME} where the database file should be."
    except PermissionError:
        fault = "The data folder cannot be written by this user."
    except OSError as error:
        fault = f"The data folder cannot be used: {error.strerror}."
    else:
        return path
    raise Unavailable(fault, code="database-unavailable")


def engines(path: Path, *, connections: int, wait_s: float) -> tuple[Engine, Engine]:
    """(reader, writer). The writer's pool holds one connection: taking it is the lock that orders writes."""
    reader = _engine(path, connections=connections, wait_s=wait_s, begin="BEGIN", pragmas=("PRAGMA query_only = ON",))
    writer = _engine(path, connections=1, wait_s=wait_s, begin="BEGIN IMMEDIATE", pragmas=())
    return reader, writer


def copy(source: Path, target: Path) -> None:
    """A consistent copy of a database that may be in use, complete before it bears its name."""
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    origin = sqlite3.connect(source, timeout=BUSY_S)
    destination = sqlite3.connect(partial)
    try:
        origin.backup(destination)
    finally:
        destination.close()
        origin.close()
    partial.replace(target)


def _engine(path: Path, *, connections: int, wait_s: float, begin: str, pragmas: tuple[str, ...]) -> Engine:
    engine = create_engine(
        URL.create("sqlite+pysqlite", database=str(path)),
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=wait_s,
        hide_parameters=True,
        connect_args={"timeout": BUSY_S, "check_same_thread": False},
    )
    event.listen(engine, "connect", _configure(pragmas))
    event.listen(engine, "begin", _begin(begin))
    return engine


def _configure(pragmas: tuple[str, ...]) -> Callable[[sqlite3.Connection, object], None]:
    def configure(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver begins no transactions; `_begin` does
        _use_write_ahead_log(connection)
        for pragma in ("PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON", *pragmas):
            connection.execute(pragma)

    return configure


def _begin(statement: str) -> Callable[[Connection], None]:
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    return begin


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Several processes may open a new file at once, and SQLite refuses this one change at once instead of waiting."""
    deadline = time.monotonic() + BUSY_S
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
