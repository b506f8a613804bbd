"""What every process of the service needs before it serves."""

from __future__ import annotations

from ..analysis.moments import now_us
from ..api.logs import Log, adopt_libraries, open_log
from ..settings import Settings
from ..storage import Database, KeyStore, open_database


def opened(settings: Settings) -> Database:
    """The database, with a connection for each thread and one for whoever follows what other processes change."""
    return open_database(settings.database_url, settings.data_dir, connections=settings.database_connections + 1)


def refuse_locked_door(settings: Settings, database: Database) -> None:
    """Nothing, unless callers need a key and nobody has one. Raises InvalidSettings, Unavailable."""
    if settings.needs_key:
        settings.refuse_locked_door(has_keys=bool(KeyStore(database).in_use(now_us())))


def begin_log(settings: Settings) -> Log:
    """The log of this process: our own words from the level of the settings on, everybody else's when something is wrong."""
    log = open_log(settings.log_level)
    adopt_libraries(log)
    return log
