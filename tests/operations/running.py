"""A service in processes of its own, with its log in a file. Every wait is bounded."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from ..cli.program import COMMAND, PATIENCE_S, ROOT, environment

QUESTION = b'{"op":{"kind":"matmul","m":64,"k":8192,"n":28672,"dtype":"bf16"},"target":{"chip":"nvidia-h100-sxm"}}'
JSON = {"content-type": "application/json"}
HEAD = (
    f"POST /v1/evaluate HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(QUESTION)}\r\n\r\n".encode()
)


def until(condition: Callable[[], object], what: str) -> None:
    """Returns once `condition` holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.02)


@dataclass
class Service:
    """A service that runs, or has ended."""

    process: subprocess.Popen[bytes]
    words: Path
    client: httpx.Client

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.client.base_url.port or 80

    def events(self, name: str) -> list[dict[str, Any]]:
        """The lines of the log with this event; sentences for people are passed over."""
        lines = [json.loads(line) for line in self.words.read_text().splitlines() if not line.startswith("roofline: ")]
        return [line for line in lines if line["event"] == name]

    def pids(self) -> list[int]:
        """Of the processes that have told that they answer."""
        return [line["pid"] for line in self.events("started")]

    def ended(self) -> int:
        return self.process.wait(PATIENCE_S)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.ended()


@contextmanager
def running(folder: Path, *arguments: str, **variables: str) -> Iterator[Service]:
    """`roofline serve` on a free port, with its data and its log in `folder`, until the end of the block at the latest."""
    words = folder / "words"
    with words.open("wb") as log:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", "--data", str(folder / "data"), *arguments],
            cwd=ROOT,
            env=environment(ROOFLINE_LOG_LEVEL="info", TMPDIR=str(folder), **variables),
            stdin=subprocess.DEVNULL,
            stderr=log,
        )
    try:
        until(lambda: "http://" in words.read_text() or process.poll() is not None, "a sentence that says where it is")
        found = re.search(r"http://\S+:[0-9]+", words.read_text())
        assert found, words.read_text()
        with httpx.Client(base_url=found[0], trust_env=False, timeout=PATIENCE_S) as client:
            yield Service(process, words, client)
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def is_refused(address: tuple[str, int]) -> bool:
    """Whether nobody listens any more, in whatever process."""
    try:
        socket.create_connection(address, timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False
