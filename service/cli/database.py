"""The database that a command reads: that of the service, as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from ..settings import Settings
from ..storage import Database, migrate, open_database


@contextmanager
def opened(settings: Settings) -> Iterator[Database]:
    """The database, with the schema of this version. Raises Unavailable."""
    with closing(open_database(settings.database_url, settings.data_dir)) as database:
        migrate.ensure(database)
        yield database
