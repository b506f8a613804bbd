"""A backup while the service works: every row that was committed before it began, as one moment saw them all.

One transaction that only reads takes it, so writers go on: SQLite keeps what they write in its log meanwhile, PostgreSQL in new
versions of the rows. The file bears its name once it is complete, on the disk, and read back.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from sqlalchemy import Boolean, Connection, Float, Integer, LargeBinary, String, select, text
from sqlalchemy.types import TypeEngine

from . import schema
from .backup_file import BATCH, BackupError, BackupWriter, Contents, contents
from .database import Database
from .schema import SchemaState
from .tables import METADATA

TYPES: Final[Mapping[type[TypeEngine[Any]], str]] = {
    String: "text",
    Boolean: "boolean",
    Integer: "integer",
    Float: "number",
    LargeBinary: "bytes",
}
"""What a backup calls the types of columns; no table has others."""


def backup(database: Database, path: Path) -> Contents:
    """Writes all that is kept to a new file, for this user alone. Raises: BackupError, Unavailable."""
    if os.path.lexists(path):
        raise _exists()
    try:
        with _new_file(path) as (file, partial):
            database.read(lambda connection: _write(connection, file))
            file.flush()
            os.fsync(file.fileno())
            found = contents(partial)
            _name(partial, path)
    except OSError as error:
        raise BackupError(f"The file cannot be written: {error.strerror}.") from error
    return found


def kind_of(type_: TypeEngine[Any]) -> str:
    """What a backup calls the type of a column."""
    return next(name for known, name in TYPES.items() if isinstance(type_, known))


def _write(connection: Connection, file: IO[bytes]) -> None:
    _prepare(connection)
    if schema.state(connection) is not SchemaState.HEAD:
        raise BackupError("The database does not have the schema of this version; back it up with the version that it is of.")
    file.seek(0)
    file.truncate()
    writer = BackupWriter(file, schema.head(), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    for table in METADATA.sorted_tables:
        rows = connection.execute(select(table), execution_options={"yield_per": BATCH})
        writer.table(str(table.name), {str(column.name): kind_of(column.type) for column in table.columns}, iter(rows))
    writer.close()


def _prepare(connection: Connection) -> None:
    """A backup may take longer than a request; and what SQLite holds is looked through before a copy of it is trusted."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    elif connection.execute(text("PRAGMA integrity_check")).scalar() != "ok":
        raise BackupError("The database file is damaged; what can be read of it is no backup.")


@contextmanager
def _new_file(path: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A file beside `path`, which is gone in the end."""
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _name(partial: Path, path: Path) -> None:
    """A link, unlike a new name, never replaces what someone else has put there meanwhile."""
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        raise _exists() from None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _exists() -> BackupError:
    return BackupError("The file is there already; a backup replaces nothing.")
