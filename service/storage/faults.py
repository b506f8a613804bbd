"""What a database driver raises, said in our own words.

A driver's message may hold the address, the user or the statement, so none of it is passed on, neither as text nor as
a cause: the caller gets a sentence chosen here, and the driver's error code where there is one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ..errors import ServiceError, Unavailable
from .deadline import too_late

T = TypeVar("T")

BUSY = "The database is busy. Try again."
UNAVAILABLE = "The database cannot be reached."

SQLITE_SENTENCES = {
    sqlite3.SQLITE_FULL: "The disk with the database file is full; nothing was saved.",
    sqlite3.SQLITE_READONLY: "The database file cannot be written: it, its folder or its disk is read-only.",
    sqlite3.SQLITE_CANTOPEN: "The database file cannot be opened; check that its folder exists and can be written.",
    sqlite3.SQLITE_PERM: "The database file may not be opened by this user.",
    sqlite3.SQLITE_IOERR: "The disk reports an error while the database file is read or written.",
    sqlite3.SQLITE_CORRUPT: "The database file is damaged; restore it from a copy.",
    sqlite3.SQLITE_NOTADB: "The database file is not an SQLite database.",
}

# PostgreSQL's codes, by their first characters; what is not listed is a fault of ours and stays what it is.
POSTGRES_SENTENCES = {
    "08": UNAVAILABLE,
    "25006": "The database accepts no writes at the moment.",
    "28": "The database refuses this user or password.",
    "3D": "The server has no database of this name.",
    "40": BUSY,
    "42501": "The database user lacks a permission that is needed.",
    "53100": "The disk of the database server is full; nothing was saved.",
    "53": BUSY,
    "55P03": BUSY,
    "57014": BUSY,
    "57": UNAVAILABLE,
    "58": "The database server reports an error of its disk.",
}

# Before a session exists the server's code does not reach us; libpq's words tell these cases apart.
CONNECT_SENTENCES = {
    "password authentication failed": POSTGRES_SENTENCES["28"],
    "no password supplied": POSTGRES_SENTENCES["28"],
    "no pg_hba.conf entry": POSTGRES_SENTENCES["28"],
    "too many clients": BUSY,
    "remaining connection slots": BUSY,
    "failed to resolve host": "The name of the database server cannot be resolved.",
    "could not translate host name": "The name of the database server cannot be resolved.",
    "role": POSTGRES_SENTENCES["28"],
    "does not exist": POSTGRES_SENTENCES["3D"],
    "starting up": "The database server is starting.",
    "shutting down": "The database server is shutting down.",
}


class TooLate(psycopg.OperationalError):
    """The server has not answered before the deadline."""


def speaking_plainly(action: Callable[[], T]) -> T:
    """The value of `action()`; what a driver raises inside becomes an `Unavailable` that names no address.

    The new error is raised outside the handler, so that it carries no context that could be printed.
    """
    try:
        return action()
    except (DBAPIError, PoolTimeout, sqlite3.Error, psycopg.Error) as error:
        fault = plain(error)
        if fault is None:
            raise
    raise fault


def plain(error: Exception) -> ServiceError | None:
    """Our error for a driver's; None where the fault is not the database's but ours (a wrong statement)."""
    if isinstance(error, PoolTimeout):
        return Unavailable(BUSY)
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, TooLate):
        return too_late()
    sentence = _sqlite(cause) if isinstance(cause, sqlite3.Error) else _postgres(cause) if isinstance(cause, psycopg.Error) else None
    if sentence is None and isinstance(error, DBAPIError) and error.connection_invalidated:
        sentence = UNAVAILABLE
    if sentence is None:
        return None
    return Unavailable(sentence, code="overloaded" if sentence == BUSY else "database-unavailable")


def is_transient(error: DBAPIError) -> bool:
    """True where PostgreSQL undid a transaction in favour of another one, and doing it again is the remedy."""
    return isinstance(error.orig, psycopg.Error) and error.orig.sqlstate in ("40001", "40P01")


def _sqlite(error: sqlite3.Error) -> str | None:
    # Extended codes keep the plain one in their low byte.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BUSY
    return SQLITE_SENTENCES.get(code)


def _postgres(error: psycopg.Error) -> str | None:
    code = error.sqlstate
    if code is not None:
        return next((POSTGRES_SENTENCES[code[:n]] for n in (5, 2) if code[:n] in POSTGRES_SENTENCES), None)
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return None
    return next((sentence for words, sentence in CONNECT_SENTENCES.items() if words in str(error)), UNAVAILABLE)
