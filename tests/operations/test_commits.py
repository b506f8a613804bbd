"""What is acknowledged was committed before: shown on a service that is frozen at the first byte of its answer."""

from __future__ import annotations

import signal
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

from .running import running

TIMES = 10


def test_the_commit_comes_before_the_first_byte_of_the_answer(tmp_path: Path) -> None:
    """The process is stopped the moment a byte has come, so nothing that it would do afterwards has been done when we look."""
    with running(tmp_path) as service:
        for n in range(TIMES):
            body = b'{"op":{"kind":"dot","n":%d,"dtype":"fp32"},"target":{"chip":"nvidia-h100-sxm"},"note":"n%d"}' % (n + 1, n)
            head = b"POST /v1/analyses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            with socket.create_connection(service.address, timeout=30) as caller:
                caller.sendall(head % len(body) + body)
                assert caller.recv(1) == b"H"
                service.process.send_signal(signal.SIGSTOP)
                try:
                    with closing(sqlite3.connect(tmp_path / "data" / "analyses.sqlite3", timeout=5)) as other:
                        found = other.execute("SELECT count(*) FROM analyses WHERE note = ?", (f"n{n}",)).fetchone()
                finally:
                    service.process.send_signal(signal.SIGCONT)
                assert found == (1,)
                assert caller.recv(4096).startswith(b"TTP/1.1 201 ")
        assert len(service.client.get("/v1/analyses").json()["items"]) == TIMES
