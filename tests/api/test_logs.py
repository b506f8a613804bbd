"""The log: one line for each request, nothing that is somebody's own, and no reader who can hold up the service."""

from __future__ import annotations

import json
import logging
import os
import pty
import time
from collections.abc import Iterator
from typing import Any

import pytest

from service.api.app import create_app
from service.api.logs import PATIENCE_MS, Adopted, Log, open_log
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import Client

SECRETS = ("key-of-ada", "body-of-ada", "cookie-of-ada", "agent-of-ada", "name-of-ada")


class Reader:
    """A pipe, and what was written into it."""

    def __init__(self) -> None:
        self._ours, self.file = os.pipe()
        os.set_blocking(self._ours, False)

    def text(self) -> str:
        parts = []
        while True:
            try:
                parts.append(os.read(self._ours, 1 << 20))
            except BlockingIOError:
                return b"".join(parts).decode()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text().splitlines()]

    def leave(self) -> None:
        os.close(self._ours)


@pytest.fixture
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    os.close(reader.file)


@pytest.fixture
def logged(settings: Settings, catalogue: Catalogue, shared_database: Database, reader: Reader) -> Iterator[Client]:
    log = open_log("info", file=reader.file)
    client = Client(create_app(settings, catalogue=catalogue, database=shared_database, log=log))
    yield client
    client.close()


def test_a_request_is_one_line(logged: Client, reader: Reader) -> None:
    content = b'{"op": {"kind": "dot", "n": 1024, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sxm"}}'
    sent = logged.post("/v1/evaluate", content=content, headers={"content-type": "application/json", "x-request-id": "ours"})
    (line,) = reader.lines()
    assert line.pop("timestamp").endswith("Z")
    assert 0 < line.pop("duration_ms") < 60_000
    assert line == {
        "event": "request",
        "level": "info",
        "request_id": "ours",
        "method": "POST",
        "route": "/v1/evaluate",
        "status": 200,
        "bytes_in": len(content),
        "bytes_out": len(sent.content),
    }


def test_a_refusal_is_logged_with_its_code_and_the_template_of_its_route(logged: Client, reader: Reader) -> None:
    refused = logged.get("/v1/chips/no%20such%0achip")
    (line,) = reader.lines()
    assert (line["route"], line["status"], line["code"]) == ("/v1/chips/{ref}", 404, "not-found")
    assert line["request_id"] == refused.headers["x-request-id"]


def test_nothing_that_a_caller_sends_is_in_the_log(logged: Client, reader: Reader) -> None:
    headers = {"cookie": "session=cookie-of-ada", "user-agent": "agent-of-ada", "authorization": "Bearer key-of-ada"}
    question = {"op": {"kind": "body-of-ada", "name-of-ada": 1}, "target": {"chip": "name-of-ada"}}
    assert logged.post("/v1/evaluate", json=question, headers=headers).status_code == 401
    del headers["authorization"]
    assert logged.post("/v1/evaluate?key=key-of-ada", json=question, headers=headers).status_code == 422
    assert logged.post("/v1/evaluate", json=question, headers=headers).status_code == 422
    assert logged.get("/v1/chips/name-of-ada?key=key-of-ada", headers=headers).status_code == 422
    assert logged.get("/name-of-ada?key=key-of-ada", headers=headers).status_code == 404
    text = reader.text()
    assert len(text.splitlines()) == 5
    assert not [secret for secret in (*SECRETS, "127.0.0.1") if secret in text]


def test_the_level_says_how_much_is_logged(reader: Reader) -> None:
    log = open_log("warning", file=reader.file)
    log.info("small")
    log.warning("grave")
    assert [line["event"] for line in reader.lines()] == ["grave"]


def test_a_traceback_is_part_of_its_line_and_shows_no_values(reader: Reader) -> None:
    log = open_log("info", file=reader.file)
    _fail(log, "hunter2")
    (line,) = reader.lines()
    assert line["exception"].startswith("Traceback")
    assert "KeyError" in line["exception"]
    assert "hunter2" not in json.dumps(line)


def _fail(log: Log, password: str) -> None:
    try:
        dict[int, int]()[len(password)]
    except KeyError:
        log.exception("failed")


def test_text_that_is_no_unicode_is_logged_all_the_same(reader: Reader) -> None:
    log = open_log("info", file=reader.file)
    log.info("half", of="\ud800 and \x1b[31m\n", other=object)
    (line,) = reader.lines()
    assert line["of"] == "\ud800 and \x1b[31m\n"


def test_on_a_terminal_a_line_is_for_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    ours, terminal = pty.openpty()
    log = open_log("info", file=terminal)
    log.info("request", status=200, route="/livez")
    _fail(log, "hunter2")
    log.info("last words")
    shown = ""
    while "last words" not in shown:  # a terminal may hand on what was written in pieces
        shown += os.read(ours, 65536).decode()
    os.close(ours)
    os.close(terminal)
    assert "request" in shown
    assert "route=/livez status=200" in shown
    assert "KeyError" in shown
    assert "hunter2" not in shown


def test_a_reader_who_left_holds_nobody_up(reader: Reader) -> None:
    log = open_log("info", file=reader.file)
    reader.leave()
    for _ in range(10):
        log.info("into the void")


def test_a_reader_who_does_not_read_is_waited_for_once_and_told_what_was_lost(reader: Reader) -> None:
    log = open_log("info", file=reader.file)
    began = time.monotonic()
    for at in range(5_000):
        log.info("event", at=at, padding="x" * 100)
    assert time.monotonic() - began < PATIENCE_MS / 1e3 + 20  # and not 0.1 s with each of some thousand lines
    kept = reader.lines()
    assert [line["at"] for line in kept] == list(range(len(kept)))
    log.info("again")
    lost, again = reader.lines()
    assert (lost["event"], lost["lines"], again["event"]) == ("lines lost", 5_000 - len(kept), "again")


def test_what_libraries_say_is_in_the_same_log(reader: Reader) -> None:
    library = logging.getLogger("library")
    library.handlers = [Adopted(open_log("info", file=reader.file))]
    library.warning("took %d s", 3)
    (line,) = reader.lines()
    assert (line["level"], line["logger"], line["event"]) == ("warning", "library", "took 3 s")
