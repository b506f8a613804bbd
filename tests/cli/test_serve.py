"""`roofline serve`: one line when callers are answered, one line when they cannot be, an end without loss."""

from __future__ import annotations

import signal
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from service.storage.schema import head

from .program import roofline, serving

SECRET = "hunter2"  # noqa: S105 - a password that no output may hold
QUESTION = b'{"op":{"kind":"dot","n":1024,"dtype":"bf16"},"target":{"chip":"nvidia-h100-sxm"}}'
HEAD = (
    f"POST /v1/evaluate HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(QUESTION)}\r\n\r\n"
).encode()


def test_a_service_says_where_it_is_ends_without_loss_and_goes_on_with_what_it_kept(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    with serving("serve", "--port", "0", "--data", str(data)) as served:
        assert served.line == f"roofline: serving {served.base}, analyses in SQLite ({data}/analyses.sqlite3)\n"
        assert served.client.get("/readyz").status_code == 200
        saved = served.client.post("/v1/analyses", content=QUESTION, headers={"content-type": "application/json"})
        assert saved.status_code == 201
        with socket.create_connection(served.address, timeout=20) as caller:
            caller.sendall(HEAD + QUESTION[:10])
            served.client.get("/livez")  # answered after the half request was read
            served.process.send_signal(signal.SIGTERM)
            refuses_new_callers(served.address)
            caller.sendall(QUESTION[10:])
            answer = b"".join(iter(lambda: caller.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        ended = served.ended()
    assert (ended.status, ended.output, ended.words) == (0, b"", served.line)
    with serving("--port", "0", "--data", str(data)) as served:  # options alone are those of serve
        assert served.client.get(saved.headers["location"]).content == saved.content
        served.process.send_signal(signal.SIGINT)
        assert served.ended().status == 130


def refuses_new_callers(address: tuple[str, int]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            socket.create_connection(address, timeout=1).close()
        except ConnectionRefusedError:
            return
        time.sleep(0.02)
    pytest.fail("still accepts callers")


def test_a_taken_port_is_one_line(api: httpx.Client, tmp_path: Path) -> None:
    port = str(api.base_url.port)
    ended = roofline("serve", "--port", port, "--data", str(tmp_path / "data"))
    assert (ended.status, ended.output) == (2, b"")
    assert ended.words == f"roofline: port {port} of 127.0.0.1 is taken: end what listens there, or choose another one with --port\n"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--host", "0.0.0.0"),
            "0.0.0.0 can be reached from other machines, so callers need a key, and there is none: make one with `roofline keys create`",
        ),
        (("--host", "::"), ":: can be reached from other machines"),
        (("--host", "192.0.2.1", "--allow-unauthenticated"), "this machine has no address 192.0.2.1"),
        (("--port", "65536"), "--port is '65536': allowed is a whole number from 0 to 65535."),
        (("--data", "/dev/null/data"), "The data folder lies below something that is not a folder."),
        (("--database-url", f"mysql://ann:{SECRET}@db/x"), "--database-url is not acceptable"),
        ((f"postgresql://ann:{SECRET} x')@db/x",), "An address stands where none is expected"),
    ],
)
def test_what_keeps_a_service_from_starting_is_one_line(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    options = () if "--data" in arguments else ("--data", str(tmp_path))
    ended = roofline("serve", "--port", "0", *options, *arguments)
    assert (ended.status, ended.output) == (2, b"")
    assert ended.words.startswith(f"roofline: {sentence}")
    assert ended.words.count("\n") == 1
    assert SECRET not in ended.words


def test_the_address_of_a_database_in_the_environment_is_not_repeated() -> None:
    ended = roofline("migrate", variables={"ROOFLINE_DATABASE_URL": f"postgresql://ann:{SECRET}@127.0.0.1:1/x"})
    assert (ended.status, ended.output, ended.words) == (2, b"", "roofline: The database cannot be reached.\n")


def test_migrate_says_what_it_did_and_refuses_the_schema_of_a_later_version(tmp_path: Path) -> None:
    first, second = (roofline("migrate", "--data", str(tmp_path)) for _ in range(2))
    path = tmp_path / "analyses.sqlite3"
    assert (first.status, first.words) == (0, f"roofline: SQLite ({path}) now has schema {head()}, the one of this version\n")
    assert (second.status, second.words) == (0, f"roofline: SQLite ({path}) has schema {head()}, the one of this version\n")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE roofline_schema SET version_num = '9999'")
    ended = roofline("serve", "--port", "0", "--data", str(tmp_path))
    assert ended.status == 2
    assert ended.words == "roofline: The database has the schema of a newer version; this version does not open it.\n"


def test_postgresql_is_made_ready_and_its_password_is_never_said(empty_postgres_url: str) -> None:
    with serving("serve", "--port", "0", "--database-url", empty_postgres_url) as served:
        assert served.line == f"roofline: serving {served.base}, analyses in PostgreSQL\n"
        assert served.client.get("/readyz").status_code == 200
        ended = served.stop()
    assert (ended.status, ended.words) == (0, served.line)
