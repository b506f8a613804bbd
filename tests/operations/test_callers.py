"""Callers that the service has to turn away, as whoever runs it sees them."""

from __future__ import annotations

import socket
from pathlib import Path

from .running import HEAD, QUESTION, running, until


def test_what_callers_do_is_no_noise_in_the_log(tmp_path: Path) -> None:
    """A scanner, a header without end, and two that stop in the middle: a line each, as every request has, and no word of a library."""
    begun = (b"\x16\x03\x01\x02\x00\x01", HEAD + QUESTION[:10], b"GET /" + b"a" * 40_000, HEAD[:20])
    with running(tmp_path, ROOFLINE_RECEIVE_S="1") as service:
        for text in begun:
            with socket.create_connection(service.address, timeout=10) as caller:
                caller.sendall(text)
                assert caller.recv(65536).startswith(b"HTTP/1.1 4")
        until(lambda: len(service.events("request")) == 4, "a line for each")
        lines = [(line["level"], line["status"], line["code"], line["route"]) for line in service.events("request")]
        assert sorted(lines) == [
            ("info", 400, "malformed-http", "other"),
            ("info", 408, "request-timeout", "/v1/evaluate"),
            ("info", 408, "request-timeout", "other"),
            ("info", 431, "header-too-large", "other"),
        ]
        assert service.stop() == 0
        assert "uvicorn" not in service.words.read_text()
