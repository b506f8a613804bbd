"""Callers that do not come to an end, or speak no HTTP, on a real socket: each is told why, and none can hold the service."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI

from service.api.app import create_app
from service.api.bodies import MAX_HEADER_BYTES
from service.api.patience import SLOWEST_BYTES_PER_S
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from ..operations.running import until
from .conftest import served
from .test_bodies import HEAD, PROBE, Connection, announced

RECEIVE_S = 1
SOON_S = 2.5  # the time itself, a quarter until it is noticed, a second in which a caller may still write
PLACES = 4


@pytest.fixture(scope="module")
def app(settings: Settings, catalogue: Catalogue, shared_database: Database) -> FastAPI:
    """The service with little patience and few places."""
    own = replace(settings, receive_s=RECEIVE_S, connections=PLACES)
    return create_app(own, catalogue=catalogue, database=shared_database)


@pytest.fixture(scope="module")
def port(app: FastAPI) -> Iterator[int]:
    with served(app) as port:
        yield port


@pytest.fixture
def connection(port: int) -> Iterator[Connection]:
    with closing(Connection(port)) as connection:
        yield connection


def refusal(connection: Connection, status: int, code: str) -> dict[str, str]:
    """The headers of a refusal that closes the connection."""
    found, headers, body = connection.answer()
    document: dict[str, Any] = json.loads(body)
    assert (found, document["status"], document["code"], document["type"]) == (status, status, code, f"/problems/{code}")
    assert (headers["content-type"], headers["connection"]) == ("application/problem+json", "close")
    assert (headers["x-request-id"], headers["x-content-type-options"]) == (document["request_id"], "nosniff")
    assert connection.is_closed()
    return headers


def counted(app: FastAPI, status: int) -> float:
    text = app.state.service.metrics.text().decode()
    lines = [line for line in text.splitlines() if line.startswith("roofline_http_requests_total") and f'status="{status}"' in line]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        b"hello\r\n\r\n",
        b"GET /livez HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: a\x00b\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
    ],
)
def test_what_is_not_http_is_refused_as_everything_else(
    app: FastAPI, connection: Connection, text: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    before = counted(app, 400)
    connection.send(text)
    refusal(connection, 400, "malformed-http")
    assert counted(app, 400) == before + 1
    assert not caplog.records


def test_an_offer_of_another_protocol_is_passed_over(connection: Connection) -> None:
    connection.send(PROBE.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"))
    assert connection.answer()[0] == 200


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X-A: " + b"a" * MAX_HEADER_BYTES],
        [b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n", *[b"X-A: " + b"a" * 1000 + b"\r\n"] * 40],
        [b"GET /v1/chips?q=" + b"a" * MAX_HEADER_BYTES],
        [b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: " + b"a" * MAX_HEADER_BYTES + b"\r\n\r\n"],
    ],
)
def test_a_header_without_end_is_refused(connection: Connection, pieces: list[bytes]) -> None:
    for piece in pieces:
        connection.send(piece)
    refusal(connection, 431, "header-too-large")


def test_a_header_of_30_kib_is_read(connection: Connection) -> None:
    connection.send(PROBE.replace(b"\r\n\r\n", b"\r\nX-A: " + b"a" * 30_720 + b"\r\n\r\n"))
    assert connection.answer()[0] == 200
    assert connection.is_open()


@pytest.mark.parametrize(
    "begun",
    [PROBE[:-2], announced(100) + b"{", announced(5_000_000), HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
    ids=["header", "body", "nothing of a body", "chunks"],
)
def test_who_stops_in_the_middle_is_told_in_time(connection: Connection, begun: bytes) -> None:
    began = time.monotonic()
    connection.send(begun)
    refusal(connection, 408, "request-timeout")
    assert RECEIVE_S * 0.9 < time.monotonic() - began < SOON_S


def test_a_drop_now_and_then_buys_no_time(connection: Connection) -> None:
    began = time.monotonic()
    connection.send(announced(5_000_000))
    try:
        while time.monotonic() - began < 10:
            connection.send(b" ")
            time.sleep(0.05)
    except OSError:
        pass
    assert time.monotonic() - began < SOON_S + 1
    assert connection.answer()[0] == 408


def test_an_honest_upload_may_be_slow(connection: Connection) -> None:
    """512 KiB at 128 KiB/s take four times as long as a body that stops is waited for."""
    text, size = b'{"x": 1}', 512 * 1024
    connection.send(announced(size) + text)
    began, rest = time.monotonic(), size - len(text)
    while rest:
        piece = min(rest, SLOWEST_BYTES_PER_S // 10)
        connection.send(b" " * piece)
        rest -= piece
        time.sleep(0.05)
    status, _, body = connection.answer()
    assert (status, json.loads(body)["errors"][0]["pointer"]) == (422, "/x")
    assert time.monotonic() - began > 3 * RECEIVE_S


@pytest.mark.parametrize("size", [9_000_000, 50_000_000, 2**63])
def test_a_body_that_is_announced_too_large_is_refused_before_it_comes(connection: Connection, size: int) -> None:
    began = time.monotonic()
    connection.send(announced(size))
    status, headers, body = connection.answer()
    assert (status, json.loads(body)["code"]) == (413, "body-too-large")
    assert time.monotonic() - began < RECEIVE_S
    assert headers.get("connection") == (None if size == 9_000_000 else "close")


def test_a_body_that_nobody_reads_is_not_waited_for_either(connection: Connection) -> None:
    """A GET with a body is answered at once; what is missing of the body then has the time of a body."""
    connection.send(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n" + b" " * 100)
    assert connection.answer()[0] == 200
    began = time.monotonic()
    assert connection.is_closed()
    assert time.monotonic() - began < SOON_S


def test_an_answer_that_nobody_takes_is_dropped(app: FastAPI, port: int) -> None:
    """The answers to 400 requests for the contract, written one after another, fill whatever buffers lie between."""
    with closing(socket.socket()) as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.settimeout(20)
        caller.connect(("127.0.0.1", port))
        with pytest.raises((ConnectionResetError, BrokenPipeError)):  # noqa: PT012 - how often it goes well is not known
            while True:
                caller.sendall(PROBE.replace(b"/livez", b"/openapi.json") * 20)
                time.sleep(0.2)


def test_the_one_that_has_waited_longest_gives_way(port: int) -> None:
    """Whoever opens connections and says nothing, or half of something, keeps nobody else out."""
    with ExitStack() as all_of_them:
        idle = [all_of_them.enter_context(closing(Connection(port))) for _ in range(PLACES)]
        for each in idle:
            assert each.is_open()
        newcomer = all_of_them.enter_context(closing(Connection(port)))
        newcomer.send(announced(100) + b"{")
        time.sleep(0.1)
        assert idle[0].is_closed()
        for _ in range(2 * PLACES):
            with closing(Connection(port)) as other:
                assert other.is_open()


def test_where_every_place_has_work_the_next_caller_is_refused(settings: Settings, catalogue: Catalogue, shared_database: Database) -> None:
    """Work that waits for a thread, while all of them are taken, until the caller has been refused."""
    op = {"kind": "matmul", "m": list(range(1, 100_001)), "k": 8192, "n": 28672, "dtype": "bf16"}
    text = json.dumps({"op": op, "target": {"chip": "nvidia-h100-sxm"}}).encode()
    app = create_app(replace(settings, connections=2), catalogue=catalogue, database=shared_database)
    service, release = app.state.service, threading.Event()
    with served(app) as port, ThreadPoolExecutor(2) as pool:
        for _ in range(settings.compute_threads):
            service.pools._compute._executor.submit(release.wait, 60)

        def ask() -> int:
            with closing(Connection(port)) as connection:
                connection.send(announced(len(text)) + text)
                return connection.answer()[0]

        working = [pool.submit(ask) for _ in range(2)]
        try:
            until(lambda: service.pools._compute._pieces == len(working), "both questions wait for a thread")
            with closing(Connection(port)) as late:
                late.send(PROBE)
                headers = refusal(late, 503, "overloaded")
        finally:
            release.set()
        assert headers["retry-after"] == "1"
        assert [each.result() for each in working] == [200, 200]
        with closing(Connection(port)) as later:
            assert later.is_open()


def test_a_fault_behind_a_request_takes_no_answer_for_its_own(connection: Connection) -> None:
    """Both came in one piece: the request is answered or the connection ends, and the refusal is never taken for the answer."""
    connection.send(PROBE.replace(b"/livez", b"/v1/chips") + b"nonsense\r\n\r\n")
    answers = connection.read_all()
    assert answers == b"" or answers.startswith(b"HTTP/1.1 200 OK\r\n")
