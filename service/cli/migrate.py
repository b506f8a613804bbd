"""`roofline migrate`: the schema of a database, brought to this version."""

from __future__ import annotations

from contextlib import closing

from ..bootstrap import say
from ..settings import Settings
from ..storage import open_database
from ..storage.migrate import upgrade
from ..storage.schema import SchemaState, head
from .kinds import kind


def migrate(settings: Settings) -> None:
    """Runs the migrations that are missing and says so. Raises Unavailable."""
    with closing(open_database(settings.database_url, settings.data_dir)) as database:
        before = database.schema_state()
        upgrade(database)
        was = "has" if before is SchemaState.HEAD else "now has"
        say(f"{kind(database)} {was} schema {head()}, the one of this version")
