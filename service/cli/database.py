"""The database that a command reads: that of the service, as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from ..settings import Settings
from ..storage import Database, migrate
from .parts import opened


@contextmanager
def prepared(settings: Settings) -> Iterator[Database]:
    """The database, with the schema of this version. Raises Unavailable."""
    with closing(opened(settings)) as database:
        migrate.ensure(database)
        yield database
