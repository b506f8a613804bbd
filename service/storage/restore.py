"""A backup brought back: into an empty database of either kind, the whole of it in one transaction.

The file is read twice. The first time everything is checked and nothing written; the second time its rows are inserted into the
schema that they were written in, which is then brought to this version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from sqlalchemy import Connection, column, inspect, table, text
from sqlalchemy.exc import DataError, IntegrityError

from . import migrate, schema
from .backup import kind_of
from .backup_file import BackupError, Contents, Part, contents, read
from .database import Database
from .schema import VERSION_TABLE, SchemaState

NOT_EMPTY: Final = "The database is not empty; a backup is restored into an empty one alone."


def restore(database: Database, path: Path) -> Contents:
    """Puts all rows of a backup into a database that has none, and says what they are. Raises: BackupError, Unavailable."""
    found = contents(path)
    if found.schema not in schema.known():
        raise BackupError("This backup has the schema of a newer version; restore it with that.")

    def work(connection: Connection) -> None:
        migrate.lock(connection)
        _make_ready(connection, found.schema)
        for part in read(path):
            _insert(connection, part)
        command.upgrade(schema.config(connection), "head")

    try:
        database.write(work)
    except (IntegrityError, DataError) as error:
        raise BackupError("The rows of this backup contradict each other; nothing was restored.") from error
    return found


def _make_ready(connection: Connection, revision: str) -> None:
    """The schema of that revision, without a row, and nobody else writes into it. Raises: BackupError."""
    state = schema.state(connection)
    if state is SchemaState.HEAD:
        _refuse_rows(connection)
        command.downgrade(schema.config(connection), revision)
    elif state is SchemaState.EMPTY:
        command.upgrade(schema.config(connection), revision)
    else:
        raise BackupError(NOT_EMPTY)


def _refuse_rows(connection: Connection) -> None:
    for name in _tables(connection):
        quoted = connection.dialect.identifier_preparer.quote(name)
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"LOCK TABLE {quoted} IN ACCESS EXCLUSIVE MODE"))
        if connection.execute(text(f"SELECT 1 FROM {quoted} LIMIT 1")).first() is not None:  # noqa: S608 - a name of the schema
            raise BackupError(NOT_EMPTY)


def _insert(connection: Connection, part: Part) -> None:
    if not part.rows:
        _compare(connection, part)
        return
    names = list(part.columns)
    into = table(part.table, *(column(name) for name in names))
    connection.execute(into.insert(), [dict(zip(names, row, strict=True)) for row in part.rows])


def _compare(connection: Connection, part: Part) -> None:
    """Nothing, if the table has these columns and no others. Raises: BackupError."""
    is_there = part.table in _tables(connection)
    columns = {each["name"]: kind_of(each["type"]) for each in inspect(connection).get_columns(part.table)} if is_there else {}
    if columns != dict(part.columns):
        raise BackupError("This backup is damaged: its tables are not those of the schema that it names.")


def _tables(connection: Connection) -> list[str]:
    return [name for name in inspect(connection).get_table_names() if name != VERSION_TABLE]
