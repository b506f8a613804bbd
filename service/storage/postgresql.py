"""PostgreSQL as we use it: a bounded pool with short waits, and an address that is never shown."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.errors import ConnectionTimeout
from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from ..errors import Unavailable
from .deadline import remaining_s
from .faults import TooLate

T = TypeVar("T")

CONNECT_S = 5
WAKE_S = 0.1
STATEMENT_MS = 15_000
LOCK_MS = 5_000
IDLE_IN_TRANSACTION_MS = 30_000

# Every list has an index that holds it in order, so plans that gather rows and then sort or match them are put last,
# whatever the statistics of a young table say; and no cached plan ignores the values that it is run with.
SESSION = (
    *(f"SET enable_{plan} = off" for plan in ("seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin", "material")),
    "SET jit = off",
    f"SET statement_timeout = {STATEMENT_MS}",
    f"SET lock_timeout = {LOCK_MS}",
    f"SET idle_in_transaction_session_timeout = {IDLE_IN_TRANSACTION_MS}",
    "SET plan_cache_mode = force_custom_plan",
)


class Connection(psycopg.Connection[Any]):
    """Waits for the server until the deadline of its thread. Past it the connection is closed, as nobody knows what the server did."""

    def wait(self, gen: Generator[Any, Any, T], interval: float = WAKE_S, timeout: float | None = None) -> T:
        return super().wait(self._in_time(gen), interval, timeout)

    def _in_time(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        """`gen`, which the driver wakes when the server has spoken, and every `WAKE_S` when it has not."""
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if remaining_s() <= 0:
                    self.pgconn.finish()
                    raise TooLate
                wanted = gen.send(ready)
        except StopIteration as end:
            value: T = end.value
            return value


def address(text: str) -> URL:
    """The URL, for our driver. Accepts `postgresql://` and `postgres://`; a refusal does not repeat what was given."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.drivername not in ("postgres", "postgresql", "postgresql+psycopg"):
        raise _refused("The database URL is not of the form postgresql://user:password@host:port/name.")
    if not _are_options(url.query):
        raise _refused("The database URL has an option that PostgreSQL does not know.")
    return url.set(drivername="postgresql+psycopg")


def engines(url: URL, *, connections: int, wait_s: float) -> tuple[Engine, Engine]:
    """(reader, writer), over one pool. A reader sees one moment throughout its transaction and cannot write."""
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=wait_s,
        pool_pre_ping=True,  # after a restart of the server its dead connections are replaced, not handed out
        hide_parameters=True,
        isolation_level="READ COMMITTED",
        connect_args={
            "connect_timeout": CONNECT_S,
            "application_name": "roofline",
            "tcp_user_timeout": 10_000,
            "keepalives_idle": 30,
        },
    )
    event.listen(engine, "do_connect", _connect)
    event.listen(engine, "connect", _configure)
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True), engine


def _connect(_dialect: object, _record: object, arguments: list[Any], options: dict[str, Any]) -> Connection:
    """A connection, within the deadline but for what the driver rounds by: it counts whole seconds, and at least two."""
    left = remaining_s()
    if left <= 0:
        raise TooLate
    try:
        return Connection.connect(*arguments, **{**options, "connect_timeout": math.ceil(min(options["connect_timeout"], left))})
    except ConnectionTimeout:
        if remaining_s() <= 0:
            raise TooLate from None
        raise


def _configure(connection: psycopg.Connection, _record: object) -> None:
    autocommit = connection.autocommit
    connection.autocommit = True
    for statement in SESSION:
        connection.execute(statement)
    connection.autocommit = autocommit


def _are_options(query: Mapping[str, str | tuple[str, ...]]) -> bool:
    try:
        make_conninfo(**dict.fromkeys(query, ""))
    except psycopg.ProgrammingError:
        return False
    return True


def _refused(sentence: str) -> Unavailable:
    return Unavailable(sentence, code="database-unavailable")
