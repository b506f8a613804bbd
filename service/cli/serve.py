"""`roofline serve`: what is refused at once, before the service itself is loaded."""

from __future__ import annotations

import signal
from contextlib import closing
from typing import NoReturn

from ..settings import Settings
from .listening import listen


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C. Raises InvalidSettings, CatalogueError, Unavailable, before a caller is answered."""
    signal.signal(signal.SIGTERM, _leave)
    settings.refuse_workers_on_a_file()
    with closing(listen(settings.host, settings.port)) as listener:
        if settings.workers > 1:
            from .workers import run
        else:
            from .running import run

        run(settings, listener)


def _leave(_signal: int, _frame: object) -> NoReturn:
    """A signal before there is anything to drain. The first process of a container has no other way to hear it."""
    raise SystemExit(0)
