"""The log: one line for each event on standard error, JSON, or on a terminal for reading.

No request fails for its line. Where nobody reads the lines they are lost, and how many is told to the next reader.
"""

from __future__ import annotations

import json
import logging
import os
import select
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final

import orjson
import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

Log = FilteringBoundLogger

STANDARD_ERROR: Final = 2
PATIENCE_MS: Final = 100
"""How long [ms] a reader that has fallen behind is waited for, once and not with every line."""


class Lines:
    """Writes whole lines, each at once: lines of several processes do not mix."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._lost = 0
        self._room = select.poll()
        self._room.register(file, select.POLLOUT)
        self._turn = Lock()  # a poll object serves one thread at a time

    def write(self, line: str | bytes) -> None:
        with self._turn, suppress(OSError):
            if not self._room.poll(0 if self._lost else PATIENCE_MS):
                self._lost += 1
                return
            if self._lost:
                os.write(self._file, b'{"event":"lines lost","level":"warning","lines":%d}\n' % self._lost)
                self._lost = 0
            os.write(self._file, (line if isinstance(line, bytes) else line.encode(errors="backslashreplace")) + b"\n")

    debug = info = warning = error = critical = write


def open_log(level: str, *, file: int = STANDARD_ERROR) -> Log:
    """A log of the events from `level` on. A traceback is part of its event, and never holds the values of variables."""
    log: Log = structlog.wrap_logger(
        Lines(file),
        processors=_form(file),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        context_class=dict,
        cache_logger_on_first_use=True,
    ).bind()
    return log


def _form(file: int) -> list[Processor]:
    if os.isatty(file):
        colors = "NO_COLOR" not in os.environ
        renderer = structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)
        return [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False), renderer]
    return [_stamp, structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_json)]


def _stamp(_logger: object, level: str, event: EventDict) -> EventDict:
    """When, how grave and what stand first. The time stays an object, which orjson writes faster than Python does."""
    return {"timestamp": datetime.now(UTC), "level": level, "event": event.pop("event"), **event}


def _json(event: Any, default: Callable[[Any], Any]) -> bytes:
    try:
        return orjson.dumps(event, default=default, option=orjson.OPT_UTC_Z)
    except TypeError:  # half of a surrogate pair, which UTF-8 does not have
        return json.dumps(event, default=default).encode()


class Adopted(logging.Handler):
    """Brings what libraries say through Python's own logging into the same log."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.log(record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info)


def adopt_libraries(log: Log) -> None:
    """Everybody else's words, from warnings on."""
    logging.basicConfig(level=logging.WARNING, handlers=[Adopted(log)], force=True)
