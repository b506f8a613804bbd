"""Several processes behind one address: the same answers, one set of counts, and none of them is missed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from ..api.counting import value
from ..cli.program import ROOT, roofline
from .running import JSON, QUESTION, Service, is_refused, running, until

CALLERS = 8
ASKED = 200
KEPT = b'{"op":{"kind":"dot","n":77,"dtype":"bf16"},"target":{"chip":"nvidia-h100-sxm"},"labels":{"from":"operations"}}'


@pytest.fixture
def service(postgres_url: str, tmp_path: Path) -> Iterator[Service]:
    """Two workers that answer."""
    with running(tmp_path, "--workers", "2", ROOFLINE_DATABASE_URL=postgres_url) as service:
        until(lambda: len(service.pids()) == 2, "two workers")
        yield service


def ask(service: Service, method: str, path: str, content: bytes = b"") -> httpx.Response:
    """The answer to a caller with a connection of its own, so that any worker may take it."""
    answer = service.client.request(method, path, content=content, headers={**JSON, "connection": "close"})
    return answer.raise_for_status()


def answers(service: Service) -> list[bytes]:
    """What callers at the same time are answered."""
    with ThreadPoolExecutor(CALLERS) as callers:
        asked = [callers.submit(ask, service, "POST", "/v1/evaluate", QUESTION) for _ in range(ASKED)]
        return [each.result().content for each in asked]


def counted(service: Service) -> float:
    text = ask(service, "GET", "/metrics").text
    return value(text, "roofline_http_requests_total", method="POST", route="/v1/evaluate", status="200")


def test_workers_answer_alike_count_together_are_replaced_and_end_together(service: Service) -> None:
    assert "with 2 workers, analyses in PostgreSQL" in service.words.read_text()
    assert len(set(answers(service))) == 1
    assert {counted(service) for _ in range(10)} == {ASKED}  # whichever of them is asked
    saved = [ask(service, "POST", "/v1/analyses", KEPT) for _ in range(6)]
    assert Counter(each.status_code for each in saved) == {201: 1, 200: 5}
    assert len({each.content for each in saved}) == 1

    victim = service.pids()[0]
    os.kill(victim, signal.SIGKILL)
    until(lambda: len(service.pids()) == 3, "a worker in place of the dead one")
    assert [line["pid"] for line in service.events("worker died")] == [victim]
    assert len(set(answers(service))) == 1
    text = ask(service, "GET", "/metrics").text
    assert counted(service) == 2 * ASKED  # the dead worker's counts are kept, what it was doing is not
    # A request counts as under way until its last byte is sent, so the one before may still be there when this one is answered.
    until(lambda: value(ask(service, "GET", "/metrics").text, "roofline_http_requests_in_flight") == 1, "the end of all other requests")
    assert value(text, "roofline_pool_threads", pool="compute") == 2 * 2

    assert service.stop() == 0
    assert is_refused(service.address)
    assert sorted(line["pid"] for line in service.events("stopped")) == sorted(service.pids()[1:])
    assert not list(service.words.parent.glob("roofline-counts-*"))


def test_workers_end_when_their_supervisor_is_gone(service: Service) -> None:
    service.process.kill()
    until(lambda: is_refused(service.address), "the end of the workers")


def test_several_workers_on_a_file_are_refused_in_one_line() -> None:
    ended = roofline("serve", "--workers", "2")
    assert (ended.status, ended.output) == (2, b"")
    assert ended.words == (
        "roofline: 2 workers need a PostgreSQL database: give its address in ROOFLINE_DATABASE_URL, or serve with one.\n"
    )


def test_a_database_that_is_not_there_is_one_line_and_no_workers() -> None:
    ended = roofline(
        "serve", "--port", "0", "--workers", "2", variables={"ROOFLINE_DATABASE_URL": "postgresql://ann:hunter2@127.0.0.1:1/x"}
    )
    assert (ended.status, ended.output, ended.words) == (2, b"", "roofline: The database cannot be reached.\n")


def test_workers_that_cannot_start_are_an_error_and_not_tried_for_ever() -> None:
    program = (
        "import sys; from service.api.logs import open_log; from service.cli.supervisor import Supervisor; "
        "from service.errors import Unavailable; from service.settings import Settings; import socket\n"
        "settings = Settings.from_environment({}, workers=2)\n"
        "try:\n"
        "    Supervisor(sys.exit, settings, open_log('info')).run(socket.socket(), announce=lambda: print('served'))\n"
        "except Unavailable as error:\n"
        "    print(error.detail)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, "A worker could not be started; the log says why.\n")
