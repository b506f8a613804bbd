"""Which schema a database has, compared with the one that this version works with.

The migrations stand in `migrations/`, beside the package in a checkout and inside it once installed.
"""

from __future__ import annotations

import functools
from enum import StrEnum
from pathlib import Path

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

VERSION_TABLE = "roofline_schema"
PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS: tuple[Path, ...] = (PACKAGE / "migrations", PACKAGE.parent / "migrations")  # of an installed package, of a checkout


class SchemaState(StrEnum):
    EMPTY = "empty"  # no table at all
    BEHIND = "behind"  # an earlier schema of ours
    HEAD = "head"
    AHEAD = "ahead"  # a schema of ours from a later version
    UNKNOWN = "unknown"  # tables, and none of them says that the schema is ours


def state(connection: Connection) -> SchemaState:
    """How the schema behind `connection` stands to this version."""
    revision = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()
    if revision is None:
        tables = set(inspect(connection).get_table_names()) - {VERSION_TABLE}
        return SchemaState.UNKNOWN if tables else SchemaState.EMPTY
    if revision == head():
        return SchemaState.HEAD
    return SchemaState.BEHIND if revision in known() else SchemaState.AHEAD


@functools.cache
def head() -> str:
    """The revision that this version of the service works with."""
    revision = ScriptDirectory.from_config(config(None)).get_current_head()
    assert revision is not None
    return revision


def config(connection: Connection | None) -> Config:
    """Alembic's configuration: where the migrations are, and the connection that they run over."""
    made = Config(attributes={"connection": connection})
    # ConfigParser expands percent signs, and a path may hold one.
    made.set_main_option("script_location", str(_folder()).replace("%", "%%"))
    return made


@functools.cache
def known() -> frozenset[str]:
    return frozenset(script.revision for script in ScriptDirectory.from_config(config(None)).walk_revisions())


def _folder() -> Path:
    return next(folder for folder in FOLDERS if (folder / "env.py").is_file())
