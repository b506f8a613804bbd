"""Rows that are inserted unless they are there: the one statement that settles a race between writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_absent(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """How many of `rows` were inserted; those whose key is taken are left out, also when it is taken at this moment."""
    if not rows:
        return 0
    # Without the option SQLAlchemy leaves the count of an INSERT at the driver, unread.
    done = connection.execute(
        unless_taken(connection, table).values(list(rows)),
        execution_options={"preserve_rowcount": True},
    )
    return done.rowcount


def unless_taken(connection: Connection, table: Table) -> Any:
    """An INSERT that leaves rows as they are whose key is taken."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    return insert(table).on_conflict_do_nothing()
