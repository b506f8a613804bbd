"""What an evaluation costs over HTTP, against a route that does nothing but read and send as many bytes.

    evaluate   the application of `roofline serve`, asked about one matmul with its levers and thresholds
    no-op      the same application with one route, of the same class, that reads the body and sends a reply made beforehand

Each runs in one uvicorn worker of its own. One client asks over 32 connections that stay open, in rounds that alternate between
the two, so that what else the machine does meets both; the ratio of a round is what is held. A third figure sets one request for
a column of 10,000 rows against 30 single requests, over one connection.

    .venv/bin/python -m benchmarks.http [--rounds 11] [--seconds 1.0]

Not as a script: its folder would then stand first on the path, and its name is that of a module of the standard library.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import uvicorn
import uvloop
from starlette.responses import Response
from starlette.routing import BaseRoute

from service.analysis.evaluate import answer as evaluated
from service.api.answers import answer
from service.api.app import create_app
from service.api.bodies import read_body
from service.api.call import Call
from service.api.connections import Connection
from service.api.routes.router import router
from service.api.routing import join_methods
from service.catalogue import load
from service.schemas.evaluate import Question
from service.schemas.reading import parse, validate
from service.settings import Settings
from service.storage import migrate, open_database

ROOT: Final = Path(__file__).parents[1]
CONNECTIONS: Final = 32
SINGLES: Final = 30
PATIENCE_S: Final = 60
ROOM: Final = 2**16
"""Bytes that a connection of the client has room for until a reply is larger."""
LEAST_SHARE: Final = 0.6  # of the rate of the no-op, that an evaluation should reach
MOST_COST: Final = 1.0  # of 30 single requests, that a column of 10,000 rows should stay below
UVICORN: Final[dict[str, Any]] = {
    "loop": "uvloop",
    "http": Connection,
    "ws": "none",
    "log_config": None,
    "access_log": False,
    "proxy_headers": False,
    "server_header": False,
}


def question(m: int | list[int]) -> bytes:
    op = {"kind": "matmul", "m": m, "k": 8192, "n": 28672, "dtype": "bf16"}
    return json.dumps({"op": op, "target": {"chip": "nvidia-h100-sxm"}}).encode()


ONE: Final = question(512)
COLUMN: Final = question([1 + 37 * row % 8192 for row in range(10_000)])


def serve(name: str, listener: socket.socket) -> None:
    """One worker, until a signal ends it."""
    settings = Settings.from_environment({})
    with tempfile.TemporaryDirectory() as folder, closing(open_database(None, Path(folder))) as database:
        migrate.ensure(database)
        app = create_app(settings, catalogue=load(), database=database)
        if name == "no-op":
            app.router.routes[:] = no_op()
        uvicorn.Server(uvicorn.Config(app, **UVICORN)).run([listener])


def no_op() -> list[BaseRoute]:
    """In place of all routes, one whose endpoint reads the body and sends a reply as long as the answer to `ONE`."""
    reply = evaluated(validate(Question, parse(ONE)), load()).text
    routes = router("benchmark")

    @routes.post("/v1/evaluate", scope="public")
    async def post_nothing(call: Call) -> Response:
        await read_body(call.scope, call.receive, call.service.settings.receive_s)
        return answer(reply)

    join_methods(routes.routes)
    return routes.routes


@dataclass(frozen=True)
class Server:
    """A worker that has answered."""

    port: int
    process: subprocess.Popen[bytes]

    def cpu_s(self) -> float:
        """Processor time [s] that it has used, where the system tells."""
        with suppress(OSError):
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return float("nan")


@contextmanager
def serving(name: str) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        descriptor = listener.fileno()
        command = [sys.executable, "-m", "benchmarks.http", "--serve", name, "--descriptor", str(descriptor)]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[descriptor])
        try:
            server = Server(listener.getsockname()[1], process)
            call(server, ONE, count=200)  # the first replies make what is then kept
            yield server
        finally:
            process.terminate()
            process.wait()


class Caller(asyncio.BufferedProtocol):
    """One connection that asks again as soon as it is answered, while there is more to ask."""

    def __init__(self, request: bytes, more: Callable[[], bool], ended: asyncio.Future[None]) -> None:
        self._request = request
        self._more = more
        self._ended = ended
        self._buffer = bytearray(ROOM)
        self._filled = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def _ask(self) -> None:
        if self._more():
            self._transport.write(self._request)
        else:
            self._transport.close()
            self._ended.set_result(None)

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._buffer)[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        head = self._buffer.find(b"\r\n\r\n", 0, self._filled)
        if head < 0:
            return
        at = self._buffer.index(b"content-length: ", 0, head) + len(b"content-length: ")
        size = head + 4 + int(self._buffer[at : self._buffer.index(b"\r", at)])
        if self._filled < size:
            self._enlarge(size)
            return
        if not self._buffer.startswith(b"HTTP/1.1 200"):
            self._ended.set_exception(RuntimeError(bytes(self._buffer[: self._filled]).decode()))
            return
        self._filled = 0
        self._ask()

    def _enlarge(self, size: int) -> None:
        if size > len(self._buffer):
            enlarged = bytearray(size)
            enlarged[: self._filled] = self._buffer[: self._filled]
            self._buffer = enlarged

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_exception(exc or ConnectionError("the server closed the connection"))


def call(server: Server, body: bytes, *, count: int = 2**62, seconds: float = 1e9, connections: int = 1) -> float:
    """Requests answered in a second, over `connections`: `count` of them, or as many as go into `seconds`."""
    head = f"POST /v1/evaluate HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\naccept: */*\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    asked = 0
    begin = time.perf_counter()

    def more() -> bool:
        nonlocal asked
        asked += 1
        return asked <= count and time.perf_counter() < begin + seconds

    async def run() -> None:
        loop = asyncio.get_running_loop()
        ends = [loop.create_future() for _ in range(connections)]
        for ended in ends:
            await loop.create_connection(partial(Caller, request, more, ended), "127.0.0.1", server.port)
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*ends)

    uvloop.run(run())
    return (asked - connections) / (time.perf_counter() - begin)


@dataclass(frozen=True)
class Round:
    """What one round found: requests a second, processor time of the server for each, and the cost of a column."""

    evaluate: float
    no_op: float
    evaluate_cpu_s: float
    no_op_cpu_s: float
    column: float

    @property
    def share(self) -> float:
        return self.evaluate / self.no_op


def measure(servers: Sequence[Server], seconds: float, *, is_odd: bool) -> Round:
    rates, costs = {}, {}
    for server in reversed(servers) if is_odd else servers:
        used = server.cpu_s()
        rates[server.port] = call(server, ONE, seconds=seconds, connections=CONNECTIONS)
        costs[server.port] = (server.cpu_s() - used) / (rates[server.port] * seconds)
    evaluate, nothing = servers
    singles = SINGLES / call(evaluate, ONE, count=SINGLES)
    column = 3 / call(evaluate, COLUMN, count=3) / 3
    return Round(rates[evaluate.port], rates[nothing.port], costs[evaluate.port], costs[nothing.port], column / singles)


def spread(values: Sequence[float], form: str = ".2f") -> str:
    """The median, and the least and the most."""
    return f"{statistics.median(values):{form}}  ({min(values):{form}} … {max(values):{form}})"


def main() -> None:
    options = argparse.ArgumentParser(description="The cost of an evaluation over HTTP.")
    options.add_argument("--rounds", type=int, default=11)
    options.add_argument("--seconds", type=float, default=1.0, help="of each load in a round")
    options.add_argument("--serve", choices=("evaluate", "no-op"), help=argparse.SUPPRESS)
    options.add_argument("--descriptor", type=int, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.serve:
        serve(asked.serve, socket.socket(fileno=asked.descriptor))
        return
    with serving("evaluate") as evaluate, serving("no-op") as nothing:
        rounds = []
        for at in range(max(9, asked.rounds)):
            rounds.append(measure((evaluate, nothing), asked.seconds, is_odd=at % 2 == 1))
            print(f"round {at + 1:2}: evaluate {rounds[-1].evaluate:6.0f}/s, no-op {rounds[-1].no_op:6.0f}/s, share {rounds[-1].share:.3f}")
    print(f"evaluate, requests a second       {spread([each.evaluate for each in rounds], '.0f')}")
    print(f"no-op, requests a second          {spread([each.no_op for each in rounds], '.0f')}")
    print(f"evaluate, processor time          {spread([each.evaluate_cpu_s * 1e6 for each in rounds], '.0f')} µs")
    print(f"no-op, processor time             {spread([each.no_op_cpu_s * 1e6 for each in rounds], '.0f')} µs")
    print(f"evaluate / no-op                  {spread([each.share for each in rounds], '.3f')}  aim: {LEAST_SHARE} or more")
    print(f"column of 10,000 rows / {SINGLES} singles {spread([each.column for each in rounds])}  aim: below {MOST_COST}")


if __name__ == "__main__":
    main()
