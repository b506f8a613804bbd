"""What a database is called where people read it: its kind, and the path of a file, never an address."""

from __future__ import annotations

from ..storage import Database


def kind(database: Database) -> str:
    return "PostgreSQL" if database.path is None else f"SQLite ({database.path})"
