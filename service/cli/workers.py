"""Several processes that answer on one socket. Each is a new Python with its own catalogue and connections to the database.

Their counts lie in files of one folder, so that any of them can tell the sums.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import closing
from functools import partial
from multiprocessing.connection import Connection
from tempfile import TemporaryDirectory

from ..bootstrap import say
from ..settings import Settings
from .supervisor import Supervisor


def run(settings: Settings, listener: socket.socket) -> None:
    """Answer callers of `listener` in `settings.workers` processes. Raises CatalogueError, Unavailable, before any is answered."""
    from ..api.metrics import SHARED_FOLDER
    from ..catalogue import load
    from ..storage.migrate import ensure
    from .kinds import kind
    from .listening import address
    from .parts import begin_log, opened, refuse_locked_door

    log = begin_log(settings)
    load()  # what is wrong with it is said once, and not by every worker
    with closing(opened(settings)) as database:
        ensure(database)
        refuse_locked_door(settings, database)
        sentence = f"serving {address(listener)} with {settings.workers} workers, analyses in {kind(database)}"
    with TemporaryDirectory(prefix="roofline-counts-") as folder:
        os.environ[SHARED_FOLDER] = folder  # as workers inherit it, it is there before they load what counts
        Supervisor(partial(work, settings, listener), settings, log).run(listener, announce=lambda: say(sentence))


def work(settings: Settings, listener: socket.socket, started: Connection) -> None:
    """The life of one worker, which tells `started` when it answers."""
    from ..catalogue import load
    from .parts import begin_log, opened
    from .running import answer

    log = begin_log(settings)
    try:
        with closing(opened(settings)) as database:
            answer(settings, listener, catalogue=load(), database=database, log=log, announce=partial(started.send, True))  # noqa: FBT003
    except Exception:
        log.exception("worker failed", pid=os.getpid())
        sys.exit(1)
