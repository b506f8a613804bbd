"""Bodies on a real socket: 8 MiB are read, 16 MiB are drained, beyond that the connection ends after the refusal."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from starlette.types import Message

from service.api.bodies import DRAINED, read_body
from service.schemas.reading import MAX_BODY_BYTES

REFUSAL = {
    "type": "/problems/body-too-large",
    "title": "The request is too large",
    "status": 413,
    "detail": "A body may have 8388608 bytes. Split the request, or send numbers as columns.",
    "code": "body-too-large",
    "request_id": "ours",
}
HEAD = b"POST /v1/evaluate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Request-Id: ours\r\n"
PROBE = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Connection:
    """A client that writes bytes and reads one answer at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._answers = self._socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def send_all(self, pieces: Iterator[bytes]) -> None:
        for piece in pieces:
            self.send(piece)

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        status = int(self._answers.readline().split()[1])
        headers = {}
        while line := self._answers.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        return status, headers, self._answers.read(int(headers.get("content-length", 0)))

    def is_open(self) -> bool:
        self.send(PROBE)
        return self.answer()[0] == 200

    def read_all(self) -> bytes:
        return self._answers.read()

    def is_closed(self) -> bool:
        return self.read_all() == b""

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


@pytest.fixture
def connection(port: int) -> Iterator[Connection]:
    with closing(Connection(port)) as connection:
        yield connection


def announced(size: int) -> bytes:
    return HEAD + f"Content-Length: {size}\r\n\r\n".encode()


def chunks(size: int) -> Iterator[bytes]:
    piece = b" " * 2**20
    for _ in range(size // len(piece)):
        yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def problem(answer: tuple[int, dict[str, str], bytes]) -> Any:
    status, headers, body = answer
    assert (status, headers["content-type"]) == (413, "application/problem+json")
    return json.loads(body)


def test_a_body_of_8_mib_is_read(connection: Connection) -> None:
    text = b'{"x": 1}'
    connection.send(announced(MAX_BODY_BYTES) + text + b" " * (MAX_BODY_BYTES - len(text)))
    status, _, body = connection.answer()
    assert (status, json.loads(body)["errors"][0]["pointer"]) == (422, "/x")


def test_one_byte_more_is_drained_and_refused_and_the_connection_stays(connection: Connection) -> None:
    connection.send(announced(MAX_BODY_BYTES + 1) + b" " * (MAX_BODY_BYTES + 1))
    assert problem(connection.answer()) == REFUSAL
    assert connection.is_open()


def test_16_mib_in_chunks_are_drained_and_refused(connection: Connection) -> None:
    connection.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    connection.send_all(chunks(DRAINED * MAX_BODY_BYTES))
    assert problem(connection.answer()) == REFUSAL
    assert connection.is_open()


def test_a_body_in_very_many_pieces_costs_no_more_than_its_bytes() -> None:
    """200,000 pieces take a tenth of a second; where each makes a new list of all before it, minutes."""
    pieces = iter(range(200_000, -1, -1))

    async def receive() -> Message:
        return {"type": "http.request", "body": b" ", "more_body": next(pieces) > 0}

    assert asyncio.run(read_body({"headers": []}, receive, receive_s=15)) == b" " * 200_001


def test_50_mb_are_refused_and_the_connection_closes(connection: Connection) -> None:
    connection.send(announced(50_000_000))
    sent = 0
    try:
        while sent < 50_000_000:
            connection.send(b" " * 100_000)
            sent += 100_000
    except OSError:  # the connection may end under a client that does not stop
        pass
    answer = connection.answer()
    assert problem(answer) == REFUSAL
    assert answer[1]["connection"] == "close"
    assert connection.is_closed()


def test_a_client_that_never_stops_is_cut_off(connection: Connection) -> None:
    connection.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    endless = chunks(100 * 2**30)
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        connection.send_all(endless)


def test_a_client_that_asks_first_is_refused_before_it_sends(connection: Connection) -> None:
    connection.send(HEAD + b"Expect: 100-continue\r\nContent-Length: 50000000\r\n\r\n")
    assert problem(connection.answer()) == REFUSAL


def test_a_client_that_asks_first_may_send_what_is_small(connection: Connection) -> None:
    connection.send(HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert connection.answer()[0] == 100
    connection.send(b"{}")
    assert connection.answer()[0] == 422


def test_a_client_that_hangs_up_in_the_middle_harms_nobody(port: int, connection: Connection) -> None:
    with closing(Connection(port)) as other:
        other.send(announced(1000) + b"{")
    assert connection.is_open()
