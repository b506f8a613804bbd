"""Bringing a database's schema to the one that this version works with.

Migrations run over a connection of ours, so nothing is configured in a file and no address is handed around. One
process migrates at a time: the others wait for its lock and then find nothing left to do.
"""

from __future__ import annotations

from alembic import command
from sqlalchemy import Connection, text

from ..errors import Unavailable
from . import schema, sqlite
from .database import Database
from .schema import SchemaState

LOCK_KEY = 0x526F6F66  # any fixed number; PostgreSQL's advisory locks are named so
LOCK_WAIT = "60s"

REFUSALS = {
    SchemaState.AHEAD: "The database has the schema of a newer version; this version does not open it.",
    SchemaState.UNKNOWN: "The database holds tables of another application; give this service a database of its own.",
    SchemaState.BEHIND: "The database has an older schema; bring it to this version with `roofline migrate`.",
}


def ensure(database: Database) -> None:
    """Makes the schema ready to serve, or refuses with a sentence that says what to do.

    An empty database gets the schema. An older one is upgraded where it is an SQLite file, which is copied beside
    itself first; on PostgreSQL other replicas may still be running, so that is left to a person. Raises: Unavailable.
    """
    found = database.schema_state()
    if found is SchemaState.BEHIND and database.dialect == "postgresql":
        raise _refused(found)
    if found is not SchemaState.HEAD:
        upgrade(database)


def upgrade(database: Database) -> None:
    """Runs the migrations that are missing, all or none of them. Raises: Unavailable."""

    def migrate(connection: Connection) -> None:
        lock(connection)
        found = schema.state(connection)
        if found in (SchemaState.AHEAD, SchemaState.UNKNOWN):
            raise _refused(found)
        if found is SchemaState.BEHIND and database.path is not None:
            sqlite.copy(database.path, database.path.with_name(f"{database.path.name}.before-{schema.head()}"))
        command.upgrade(schema.config(connection), "head")

    database.write(migrate)


def downgrade(database: Database, revision: str) -> None:
    """Undoes migrations down to `revision`, or all with `base`: what the later schema alone could hold is lost."""

    def migrate(connection: Connection) -> None:
        lock(connection)
        command.downgrade(schema.config(connection), revision)

    database.write(migrate)


def lock(connection: Connection) -> None:
    """No other process changes the schema until the transaction ends, on SQLite by that itself; the limits hold as long."""
    if connection.dialect.name != "postgresql":
        return
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'"))
    connection.execute(text(f"SET LOCAL statement_timeout = '{LOCK_WAIT}'"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
    connection.execute(text("SET LOCAL lock_timeout = '5s'"))
    connection.execute(text("SET LOCAL statement_timeout = '15min'"))


def _refused(found: SchemaState) -> Unavailable:
    return Unavailable(REFUSALS[found], code="database-unavailable")
