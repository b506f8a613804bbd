"""Following what other processes change in the catalogue: the database is asked twice a second, apart from every request.

While it does not answer, questions are answered with what was seen last.
"""

from __future__ import annotations

import time
from threading import Event, Thread
from typing import Final

from ..analysis.hardware.live import LiveCatalogue
from ..errors import ServiceError
from ..storage import until
from .logs import Log

EVERY_S: Final = 0.5
PATIENCE_S: Final = 2.0
"""how long one look may take"""


class Follower:
    """Keeps the catalogue of a process as new as the database, from `start` to `stop`, on a thread of its own."""

    def __init__(self, hardware: LiveCatalogue, log: Log) -> None:
        self._hardware = hardware
        self._log = log
        self._ended = Event()
        self._thread: Thread | None = None
        self._is_well = True
        self._unreadable = hardware.unreadable

    def start(self) -> None:
        """Returns when what is in the database by now has been seen, or could not be."""
        self._look()
        self._ended.clear()
        self._thread = Thread(target=self._follow, name="catalogue", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_S + EVERY_S)

    def _follow(self) -> None:
        while not self._ended.wait(EVERY_S):
            self._look()

    def _look(self) -> None:
        try:
            with until(time.monotonic() + PATIENCE_S):
                self._hardware.refresh()
        except ServiceError as error:
            if self._is_well:
                self._log.warning("catalogue not followed", code=error.code)
            self._is_well = False
        except Exception:  # noqa: BLE001 - told to the log, and tried again: who follows must not end
            self._log.exception("catalogue not followed")
        else:
            if not self._is_well:
                self._log.info("catalogue followed again")
            self._is_well = True
            self._tell_unreadable()

    def _tell_unreadable(self) -> None:
        for kind, name, revision in sorted(self._hardware.unreadable - self._unreadable):
            self._log.warning("entry left out", kind=kind, entry=f"{name}@{revision}")
        self._unreadable = self._hardware.unreadable
