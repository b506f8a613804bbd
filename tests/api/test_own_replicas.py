"""Several services on one database: what one of them keeps the others show within two seconds, and go on without the database."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database, Entry, EntryStore, migrate, open_database

from ..postgres import PostgresServer
from .conftest import served
from .hardware import CHIP, NEW, chip, value

VISIBLE_S = 2.0
SPARE_S = 2.0  # for a busy machine
PATH = "/v1/chips/next-one"
QUESTION = {"op": {"kind": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16"}, "target": {"chip": "next-one"}}


def client(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30)


def soon(is_so: Callable[[], bool]) -> bool:
    """Whether it comes true while changes may take to be seen."""
    deadline = time.monotonic() + VISIBLE_S + SPARE_S
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.05)
    return False


def again(database: Database) -> Database:
    """The same database, as another process opens it."""
    if database.path is not None:
        return open_database(None, database.path.parent)
    return open_database(database._writer.url.render_as_string(hide_password=False), None)


def test_a_replica_shows_what_another_one_keeps_changes_and_deletes(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    other = again(database)
    with (
        served(create_app(settings, catalogue=catalogue, database=database), "on") as first,
        served(create_app(settings, catalogue=catalogue, database=other), "on") as second,
        client(first) as here,
        client(second) as there,
    ):
        made = here.put(PATH, json=CHIP, headers=NEW)
        assert soon(lambda: there.get(PATH).status_code == 200)
        assert there.get(PATH).content == made.content
        change = {"base": "next-one", "hbm": {"bandwidth": value(4, "TB/s")}, "reason": "as built"}
        revised = there.put(PATH, json=change, headers={"if-match": made.headers["etag"]})
        assert here.put(PATH, json=change, headers={"if-match": made.headers["etag"]}).status_code == 412
        assert soon(lambda: here.get(PATH).content == revised.content)
        assert here.post("/v1/evaluate", json=QUESTION).content == there.post("/v1/evaluate", json=QUESTION).content
        assert here.delete(PATH, headers={"if-match": revised.headers["etag"]}).status_code == 204
        assert soon(lambda: there.get(PATH).status_code == 404)
    other.close()


def test_of_fifty_who_revise_one_chip_one_wins(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    with served(create_app(settings, catalogue=catalogue, database=database), "on") as port, client(port) as caller:
        for headers, outcome in ((NEW, 201), ({"if-match": ""}, 200)):
            sent = {"if-match": caller.get(PATH).headers["etag"]} if "if-match" in headers else headers

            def write(number: int, sent: dict[str, str] = sent) -> int:
                return caller.put(PATH, json=chip(name=f"Next One, {number}"), headers=sent).status_code

            with ThreadPoolExecutor(25) as pool:
                statuses = sorted(pool.map(write, range(50)))
            assert statuses == sorted([outcome] + [412] * 49)


def test_own_chips_are_there_after_a_restart_and_while_the_database_is_down(
    settings: Settings, catalogue: Catalogue, restartable_server: PostgresServer
) -> None:
    url = restartable_server.create_database()
    database = open_database(url, None)
    migrate.upgrade(database)
    with served(create_app(settings, catalogue=catalogue, database=database), "on") as port, client(port) as caller:
        assert caller.put(PATH, json=CHIP, headers=NEW).status_code == 201
    with served(create_app(settings, catalogue=catalogue, database=database), "on") as port, client(port) as caller:
        answer = caller.post("/v1/evaluate", json=QUESTION)
        assert answer.status_code == 200
        restartable_server.stop()
        try:
            down: dict[str, Any] = caller.put(PATH, json=CHIP, headers={"if-match": "*"}).json()
            assert down["code"] in {"database-unavailable", "deadline-exceeded"}
            assert caller.post("/v1/evaluate", json=QUESTION).content == answer.content
            assert caller.get(PATH).status_code == 200
        finally:
            restartable_server.start()
        assert soon(lambda: caller.put(PATH, json=chip(reason="back"), headers={"if-match": "*"}).status_code == 200)
        assert caller.get(PATH).json()["ref"] == "next-one@2"
    database.close()
    restartable_server.drop_database(url)


@pytest.mark.parametrize("document", ["", "{}", '{"entry": {"id": 1}, "sources": {}, "own": {}}'])
def test_an_entry_that_this_version_cannot_read_is_left_out(settings: Settings, catalogue: Catalogue, tmp_path: Any, document: str) -> None:
    database = open_database(None, tmp_path)
    migrate.ensure(database)
    app = create_app(settings, catalogue=catalogue, database=database)
    hardware = app.state.service.hardware
    written = Entry(kind="chip", id="of-tomorrow", revision=1, created_us=1, reason="x", document=document, digest="d")
    hardware.store.add("chip", "of-tomorrow", lambda _: written)
    hardware.refresh()
    assert hardware.unreadable == {("chip", "of-tomorrow", 1)}
    assert hardware.current is catalogue
    database.close()


def test_an_id_whose_last_revision_cannot_be_read_does_not_mean_the_one_before(
    settings: Settings, catalogue: Catalogue, tmp_path: Any
) -> None:
    database = open_database(None, tmp_path)
    migrate.ensure(database)
    with served(create_app(settings, catalogue=catalogue, database=database), "on") as port, client(port) as caller:
        assert caller.put(PATH, json=CHIP, headers=NEW).status_code == 201
        written = Entry(kind="chip", id="next-one", revision=2, created_us=1, reason="x", document='{"form": 2}', digest="d")
        EntryStore(database).add("chip", "next-one", lambda _: written)
        assert soon(lambda: caller.get(PATH).status_code == 404)
        assert caller.get(f"{PATH}@1").status_code == 200
        assert caller.put(PATH, json=CHIP, headers={"if-match": "*"}).status_code == 412
        assert caller.delete(PATH, headers={"if-match": "*"}).status_code == 412
    database.close()
