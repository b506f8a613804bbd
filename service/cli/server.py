"""Uvicorn with our way of beginning and ending: one sentence when callers are answered, and an end in three steps.

    SIGTERM -> `/readyz` refuses, all else goes on (stop_delay_s) -> no new callers, what is under way goes on (drain_s) -> end

Ctrl-C to a process that serves alone leaves the first step out.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from ..api.connections import Connection
from ..api.logs import Log
from ..settings import Settings


class Server(uvicorn.Server):
    """Serves `app`, which it tells of its end; `announce` is called once callers are answered.

    A process that was started by another one leaves Ctrl-C to that one, and ends when it is gone.
    """

    def __init__(self, app: FastAPI, settings: Settings, *, log: Log, announce: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            loop="uvloop",
            http=Connection,
            ws="none",
            log_config=None,
            log_level="error",  # its warnings are all of what callers do, which is refused and counted
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=settings.keep_alive_s,
            timeout_graceful_shutdown=settings.drain_s,
        )
        super().__init__(config)
        self._is_told = app.state.service.stopping
        self._delay_s = settings.stop_delay_s
        self._ends_at = float("inf")
        self._heard: signal.Signals | None = None
        self._log = log
        self._announce = announce
        self._parent = multiprocessing.parent_process()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()
        self._log.info("started", pid=os.getpid())

    async def on_tick(self, counter: int) -> bool:
        if self._heard is not None:
            self._log.info("stopping", pid=os.getpid(), signal=self._heard.name)
            self._heard = None
        is_alone = self._parent is not None and not self._parent.is_alive()
        self.should_exit = self.should_exit or is_alone or time.monotonic() >= self._ends_at
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        self._log.info("stopped", pid=os.getpid())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGINT and self._parent is not None:
            return
        self._heard = signal.Signals(sig)  # told to the log by the next tick, since this may interrupt a line of it
        if sig == signal.SIGINT:
            super().handle_exit(sig, frame)
        elif self._is_told.is_set():
            self.should_exit = True
        else:
            self._ends_at = time.monotonic() + self._delay_s
        self._is_told.set()
