"""What every process of the service needs before it serves."""

from __future__ import annotations

from ..api.logs import Log, adopt_libraries, open_log
from ..settings import Settings
from ..storage import Database, open_database


def opened(settings: Settings) -> Database:
    """The database, with a connection for each thread and one for whoever follows what other processes change."""
    return open_database(settings.database_url, settings.data_dir, connections=settings.database_connections + 1)


def begin_log(settings: Settings) -> Log:
    """The log of this process: our own words from the level of the settings on, everybody else's when something is wrong."""
    log = open_log(settings.log_level)
    adopt_libraries(log)
    return log
