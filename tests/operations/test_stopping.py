"""What happens between SIGTERM and the end: who is still let in, what is still answered, for how long."""

from __future__ import annotations

import signal
import socket
import time
from pathlib import Path

import httpx

from .running import HEAD, JSON, QUESTION, is_refused, running, until


def read_all(caller: socket.socket) -> bytes:
    return b"".join(iter(lambda: caller.recv(65536), b""))


def test_balancers_hear_of_the_end_at_once_and_callers_are_served_until_it(tmp_path: Path) -> None:
    with running(tmp_path, ROOFLINE_STOP_DELAY_S="2") as service, socket.create_connection(service.address, timeout=30) as slow:
        assert service.client.get("/readyz").status_code == 200
        slow.sendall(HEAD + QUESTION[:10])
        service.process.send_signal(signal.SIGTERM)
        until(lambda: service.events("stopping"), "that it has heard the signal")
        began = time.monotonic()
        with httpx.Client(base_url=service.client.base_url, trust_env=False, timeout=30) as newcomer:
            refused = newcomer.get("/readyz")
            assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (503, "stopping", "1")
            assert newcomer.get("/livez").status_code == 200
            assert newcomer.post("/v1/evaluate", content=QUESTION, headers=JSON).status_code == 200
        assert time.monotonic() - began < 2, "too slow a machine for what is tested here"
        until(lambda: is_refused(service.address), "an end to new callers")
        slow.sendall(QUESTION[10:])
        assert read_all(slow).startswith(b"HTTP/1.1 200 OK\r\n")
        assert service.ended() == 0
        assert [len(service.events(name)) for name in ("started", "stopping", "stopped")] == [1, 1, 1]


def test_a_caller_who_never_comes_to_an_end_is_refused_in_time(tmp_path: Path) -> None:
    with running(tmp_path, ROOFLINE_DRAIN_S="1") as service, socket.create_connection(service.address, timeout=30) as slow:
        slow.sendall(HEAD + QUESTION[:10])
        service.client.get("/livez")  # answered after the half request was read
        began = time.monotonic()
        assert service.stop() == 0
        assert time.monotonic() - began < 20
        answer = read_all(slow)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b'"code":"stopping"' in answer
        (line,) = [line for line in service.events("request") if line["route"] == "/v1/evaluate"]
        assert (line["status"], line["code"], line["bytes_in"]) == (503, "stopping", 10)


def test_a_second_signal_ends_the_time_for_balancers(tmp_path: Path) -> None:
    with running(tmp_path, ROOFLINE_STOP_DELAY_S="600") as service:
        service.process.send_signal(signal.SIGTERM)
        until(lambda: service.client.get("/readyz").status_code == 503, "that it has heard the signal")
        assert service.stop() == 0
