"""The service itself: everything is made here, then uvicorn runs until a signal."""

from __future__ import annotations

import logging
import signal
import socket
from contextlib import closing
from typing import Final

import uvicorn
from fastapi import FastAPI

from ..api.app import create_app
from ..bootstrap import say
from ..catalogue import load
from ..settings import Settings
from ..storage import open_database
from ..storage.migrate import ensure
from .kinds import kind
from .listening import address

DRAIN_S: Final = 8
"""How long [s] requests under way may take after SIGTERM; container runtimes kill after 10."""


def run(settings: Settings, listener: socket.socket) -> None:
    """Answer callers of `listener`. Raises CatalogueError, Unavailable, before any is answered."""
    _log(settings.log_level)
    catalogue = load()
    with closing(open_database(settings.database_url, settings.data_dir, connections=settings.database_connections)) as database:
        ensure(database)
        app = create_app(settings, catalogue=catalogue, database=database)
        _serve(app, listener, f"serving {address(listener)}, analyses in {kind(database)}")


class Server(uvicorn.Server):
    """Says one sentence once callers are answered."""

    def __init__(self, config: uvicorn.Config, sentence: str) -> None:
        super().__init__(config)
        self._sentence = sentence

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        say(self._sentence)


def _serve(app: FastAPI, listener: socket.socket, sentence: str) -> None:
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_S,
    )
    server = Server(config, sentence)

    def stop(_signal: int, _frame: object) -> None:
        server.should_exit = True

    # Uvicorn puts this handler back when it has drained and raises the signal again, which then ends nothing by force.
    signal.signal(signal.SIGTERM, stop)
    server.run([listener])


def _log(level: str) -> None:
    """Our own words from `level` on, everybody else's when something is wrong."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("service").setLevel(level.upper())
