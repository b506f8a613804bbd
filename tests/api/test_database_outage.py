"""PostgreSQL is restarted or frozen while the service works: what needs no database goes on, the rest says so and recovers by itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from itertools import count
from threading import Event
from typing import Any

import pytest
from fastapi import FastAPI

from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import migrate, open_database

from ..postgres import PostgresServer
from .conftest import served

WRITERS = 4
DEADLINE_S = 2
SPARE_S = 2.0  # for a busy machine
Outcome = tuple[str, int, dict[str, str], dict[str, Any]]


class Caller:
    """Asks one thing after another on one connection until told to stop."""

    def __init__(self, port: int, stop: Event) -> None:
        self._port = port
        self._stop = stop
        self.outcomes: list[Outcome] = []

    def _ask(self, connection: HTTPConnection, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"content-type": "application/json", **headers})
        answer = connection.getresponse()
        document: dict[str, Any] = json.loads(answer.read())
        self.outcomes.append((f"{method} {path}", answer.status, {name.lower(): value for name, value in answer.getheaders()}, document))
        return document

    def write(self, first: int) -> None:
        """Keeps one analysis after another, and labels each that was kept."""
        with closing(HTTPConnection("127.0.0.1", self._port, timeout=30)) as connection:
            for n in count(first):
                if self._stop.is_set():
                    return
                question = {"op": {"kind": "dot", "n": n, "dtype": "fp32"}, "target": {"chip": "nvidia-h100-sxm"}}
                kept = self._ask(connection, "POST", "/v1/analyses", question)
                if "id" in kept:
                    self._ask(connection, "PATCH", f"/v1/analyses/{kept['id']}", {"labels": {"n": str(n)}}, **{"if-match": "*"})
                else:
                    time.sleep(0.05)

    def read(self) -> None:
        """Asks what needs no database."""
        question = {"op": {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sxm"}}
        with closing(HTTPConnection("127.0.0.1", self._port, timeout=30)) as connection:
            while not self._stop.is_set():
                self._ask(connection, "POST", "/v1/evaluate", question)
                for path in ("/livez", "/v1/chips?dtype=fp8&limit=3", "/v1/clusters/hgx-h100-8"):
                    self._ask(connection, "GET", path)
                time.sleep(0.02)


def written(callers: list[Caller]) -> list[Outcome]:
    return [outcome for caller in callers for outcome in caller.outcomes]


def wait_for(condition: object, callers: list[Caller], since: int) -> None:
    """Until a writer has got the status `condition` in an answer behind the first `since`."""
    deadline = time.monotonic() + 30
    while not any(status == condition for caller in callers for _, status, _, _ in caller.outcomes[since:]):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def app(settings: Settings, catalogue: Catalogue, restartable_server: PostgresServer) -> Iterator[FastAPI]:
    """The service with a database of its own on a server that may be stopped."""
    url = restartable_server.create_database()
    database = open_database(url, None)
    migrate.ensure(database)
    app = create_app(replace(settings, database_deadline_s=DEADLINE_S), catalogue=catalogue, database=database)
    yield app
    app.state.service.pools.close()
    database.close()
    restartable_server.drop_database(url)


@contextmanager
def restarted(server: PostgresServer) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("outage", "code"), [(restarted, "database-unavailable"), (PostgresServer.frozen, "deadline-exceeded")], ids=["restarted", "frozen"]
)
def test_an_outage_is_felt_by_writers_alone_and_loses_nothing(
    app: FastAPI, restartable_server: PostgresServer, outage: Callable[[PostgresServer], AbstractContextManager[None]], code: str
) -> None:
    stop = Event()
    with served(app) as port, ThreadPoolExecutor(WRITERS + 2) as pool:
        writers, readers = ([Caller(port, stop) for _ in range(number)] for number in (WRITERS, 2))
        jobs = [pool.submit(writer.write, 1 + 1_000_000 * at) for at, writer in enumerate(writers)]
        jobs += [pool.submit(reader.read) for reader in readers]
        try:
            for writer in writers:
                wait_for(200, [writer], 0)
            with outage(restartable_server):
                for writer in writers:
                    wait_for(503, [writer], 0)
            for writer in writers:
                wait_for(200, [writer], next(at for at, outcome in enumerate(writer.outcomes) if outcome[1] == 503))
        finally:
            stop.set()
        for job in jobs:
            job.result(timeout=60)

        assert {status for _, status, _, _ in written(readers)} == {200}
        statuses = {status for _, status, _, _ in written(writers)}
        assert {200, 201, 503} >= statuses >= {200, 503}
        for _, status, headers, body in written(writers):
            if status == 503:
                assert (body["code"], int(headers["retry-after"]) >= 1) == (code, True)
                assert "secret-of-the-tests" not in json.dumps(body)
        acknowledged = {body["id"] for _, status, _, body in written(writers) if status in {200, 201}}
        labelled = {body["id"]: body["labels"] for what, status, _, body in written(writers) if what.startswith("PATCH") and status == 200}
        store = app.state.service.analyses
        for name in acknowledged:
            assert store.get(name).labels == labelled.get(name, store.get(name).labels)
        assert len(labelled) >= 2 * WRITERS


def question(n: int) -> str:
    return json.dumps({"op": {"kind": "dot", "n": n, "dtype": "fp32"}, "target": {"chip": "nvidia-h100-sxm"}})


def asked(port: int, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, Any], float]:
    """(status, document, how long it took [s]) on a connection of its own."""
    began = time.monotonic()
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body, {"content-type": "application/json"})
        answer = connection.getresponse()
        document = json.loads(answer.read())
    return answer.status, document, time.monotonic() - began


def test_a_frozen_database_keeps_nobody_waiting_beyond_the_deadline(app: FastAPI, restartable_server: PostgresServer) -> None:
    """Twenty writers on eight connections: those that wait for a thread are refused as soon as those that have one."""
    with served(app) as port, ThreadPoolExecutor(32) as pool:
        kept = [asked(port, "POST", "/v1/analyses", question(n))[1]["id"] for n in range(1, 4)]
        with restartable_server.frozen():
            writes = [pool.submit(asked, port, "POST", "/v1/analyses", question(n)) for n in range(3, 23)]
            reads = [pool.submit(asked, port, "GET", f"/v1/analyses/{kept[0]}"), pool.submit(asked, port, "GET", "/v1/analyses")]
            ready = pool.submit(asked, port, "GET", "/readyz")
            for method, path, body in (("POST", "/v1/evaluate", question(7)), ("GET", "/livez", None), ("GET", "/v1/chips", None)):
                status, _, seconds = asked(port, method, path, body)
                assert (status, seconds < SPARE_S) == (200, True)
            for each in (*writes, *reads, ready):
                status, document, seconds = each.result()
                assert (status, document["code"]) == (503, "deadline-exceeded")
                assert seconds < DEADLINE_S + SPARE_S
        again = [asked(port, "POST", "/v1/analyses", question(n)) for n in range(1, 23)]
        assert {status for status, _, _ in again[:3]} == {200}
        assert {status for status, _, _ in again[3:]} <= {200, 201}
        assert [document["id"] for _, document, _ in again[:3]] == kept
        assert asked(port, "GET", "/readyz")[0] == 200
