"""The log: one line for each event on standard error, JSON, or on a terminal for reading.

A request must neither fail nor wait for its line, so one that cannot be written is lost.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import orjson
import structlog
from structlog.typing import FilteringBoundLogger, Processor

Log = FilteringBoundLogger

STANDARD_ERROR: Final = 2


class Lines:
    """Writes whole lines, each at once: lines of several processes do not mix."""

    def __init__(self, file: int = STANDARD_ERROR) -> None:
        self._file = file

    def write(self, line: str | bytes) -> None:
        with suppress(OSError):
            os.write(self._file, (line if isinstance(line, bytes) else line.encode(errors="backslashreplace")) + b"\n")

    debug = info = warning = error = critical = write


def open_log(level: str, *, file: int = STANDARD_ERROR) -> Log:
    """A log of the events from `level` on. A traceback is part of its event, and never holds the values of variables."""
    log: Log = structlog.wrap_logger(
        Lines(file),
        processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True), *_form(file)],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        context_class=dict,
        cache_logger_on_first_use=True,
    ).bind()
    return log


def _form(file: int) -> list[Processor]:
    if os.isatty(file):
        return [structlog.dev.ConsoleRenderer(colors="NO_COLOR" not in os.environ, exception_formatter=structlog.dev.plain_traceback)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_json)]


def _json(event: Any, default: Callable[[Any], Any]) -> bytes:
    try:
        return orjson.dumps(event, default=default)
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
