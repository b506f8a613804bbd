"""The service itself: everything is made here, then uvicorn runs until a signal."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing

from ..api.app import create_app
from ..api.logs import Log
from ..bootstrap import say
from ..catalogue import Catalogue, load
from ..settings import Settings
from ..storage import Database
from ..storage.migrate import ensure
from .kinds import kind
from .listening import address
from .parts import begin_log, opened, refuse_locked_door
from .server import Server


def run(settings: Settings, listener: socket.socket) -> None:
    """Answer callers of `listener`. Raises CatalogueError, Unavailable, before any is answered."""
    log = begin_log(settings)
    catalogue = load()
    with closing(opened(settings)) as database:
        ensure(database)
        refuse_locked_door(settings, database)
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
