"""The service itself: everything is made here, then uvicorn runs until a signal."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing

from ..api.app import create_app
from ..api.logs import Log, adopt_libraries, open_log
from ..bootstrap import say
from ..catalogue import Catalogue, load
from ..settings import Settings
from ..storage import Database, open_database
from ..storage.migrate import ensure
from .kinds import kind
from .listening import address
from .server import Server


def run(settings: Settings, listener: socket.socket) -> None:
    """Answer callers of `listener`. Raises CatalogueError, Unavailable, before any is answered."""
    log = begin_log(settings)
    catalogue = load()
    with closing(opened(settings)) as database:
        ensure(database)
        sentence = f"serving {address(listener)}, analyses in {kind(database)}"
        answer(settings, listener, catalogue=catalogue, database=database, log=log, announce=lambda: say(sentence))


def answer(
    settings: Settings,
    listener: socket.socket,
    *,
    catalogue: Catalogue,
    database: Database,
    log: Log,
    announce: Callable[[], None],
) -> None:
    """Answer callers until a signal; `announce` is called before the first."""
    app = create_app(settings, catalogue=catalogue, database=database, log=log)
    Server(app, settings, log=log, announce=announce).run([listener])


def opened(settings: Settings) -> Database:
    return open_database(settings.database_url, settings.data_dir, connections=settings.database_connections)


def begin_log(settings: Settings) -> Log:
    """The log of this process: our own words from the level of the settings on, everybody else's when something is wrong."""
    log = open_log(settings.log_level)
    adopt_libraries(log)
    return log
