"""A database that transactions are run on. What a transaction gives back was committed before it is given back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from ..errors import Unavailable
from . import postgresql, schema, sqlite
from .faults import is_transient, speaking_plainly

T = TypeVar("T")

ATTEMPTS = 4  # of a transaction that PostgreSQL undid in favour of another one


class Transactions(Protocol):
    """Where a store reads and writes: a database, or a transaction of it that has begun."""

    def read(self, work: Callable[[Connection], T]) -> T: ...

    def write(self, work: Callable[[Connection], T]) -> T: ...


class Joined:
    """Reads and writes inside one transaction that has begun, so that those of several stores are kept together or not at all."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, work: Callable[[Connection], T]) -> T:
        return work(self._connection)

    def write(self, work: Callable[[Connection], T]) -> T:
        return work(self._connection)


class Database:
    """Reads and writes as transactions. Made by `open_database`; safe to use from many threads.

    `path` is the file of SQLite and None for PostgreSQL, whose address is kept by the driver alone.
    """

    def __init__(self, reader: Engine, writer: Engine, path: Path | None) -> None:
        self._reader = reader
        self._writer = writer
        self.path = path
        self.dialect: Literal["sqlite", "postgresql"] = "postgresql" if path is None else "sqlite"

    def __repr__(self) -> str:
        return f"<Database {self.dialect}>"

    def read(self, work: Callable[[Connection], T]) -> T:
        """`work` in a transaction that sees one moment and cannot write.

        Raises: Unavailable (database-unavailable, overloaded, deadline-exceeded)."""

        def transaction() -> T:
            with self._reader.begin() as connection:
                return work(connection)

        return speaking_plainly(transaction)

    def write(self, work: Callable[[Connection], T]) -> T:
        """`work` in a transaction that is committed before this returns; `work` may be run again from its start.

        Raises: Unavailable (database-unavailable, overloaded, deadline-exceeded); nothing is then kept, unless the connection
        broke or the time ended during the commit itself, when it is unknown."""

        def transaction() -> T:
            with self._writer.begin() as connection:
                return work(connection)

        def persistently() -> T:
            for _ in range(ATTEMPTS - 1):
                try:
                    return transaction()
                except DBAPIError as error:
                    if not is_transient(error):
                        raise
            return transaction()

        return speaking_plainly(persistently)

    def check(self) -> None:
        """Nothing, if the database answers. Raises: Unavailable."""
        self.read(lambda connection: connection.execute(text("SELECT 1")))

    def schema_state(self) -> schema.SchemaState:
        """How the schema stands to the one that this version works with. Raises: Unavailable."""
        return self.read(schema.state)

    def close(self) -> None:
        """Closes every connection that is not in use."""
        self._reader.dispose()
        self._writer.dispose()


def open_database(url: str | None, data_dir: Path | None, *, connections: int = 8, wait_s: float = 5.0) -> Database:
    """The PostgreSQL database at `url`, or the SQLite file in the folder `data_dir`, which is made if it is missing.

    connections  how many may be open at once
    wait_s       how long [s] a transaction waits for one of them before it is refused as `overloaded`

    A PostgreSQL server need not answer yet; an SQLite file is opened at once. Raises: Unavailable.
    """
    if url is not None:
        return Database(*postgresql.engines(postgresql.address(url), connections=connections, wait_s=wait_s), path=None)
    if data_dir is None:
        raise Unavailable("Neither a database URL nor a data folder was given.", code="database-unavailable")
    path = sqlite.prepare(data_dir)
    database = Database(*sqlite.engines(path, connections=connections, wait_s=wait_s), path=path)
    database.check()
    return database
