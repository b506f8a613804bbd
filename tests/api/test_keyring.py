"""What a process knows of keys: two services on one database, a database that is gone, and what strangers can cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import event

from service.analysis import keys
from service.analysis.keys import OWNER
from service.analysis.moments import now_us
from service.api.app import create_app
from service.api.keyring import HOUR_US, LIFE_S, PAUSE_S, Keyring
from service.catalogue import Catalogue
from service.errors import Unavailable
from service.schemas.keys import NewSecret
from service.settings import Settings
from service.storage import Database, KeyStore, migrate, open_database

from ..postgres import PostgresServer
from .conftest import Client
from .holders import QUESTION, bearing, issued, reached
from .test_every_route import problem

SEEN_S = 2.0


@pytest.fixture
def replicas(settings: Settings, catalogue: Catalogue, database: Database) -> Iterator[tuple[Client, Client]]:
    """Two services on one database, of which each has a memory of its own."""
    with reached(settings, catalogue, database) as first, reached(settings, catalogue, database) as second:
        yield first, second


def status(client: Client, token: str) -> int:
    return client.post("/v1/evaluate", json=QUESTION, headers=bearing(token)).status_code


def seen_after(client: Client, token: str, wanted: int) -> float:
    """How long [s] it takes until a key is answered with a status."""
    began = time.monotonic()
    while status(client, token) != wanted:
        assert time.monotonic() < began + 20
        time.sleep(0.02)
    return time.monotonic() - began


def test_a_key_is_good_at_once_and_bad_soon_on_every_replica(replicas: tuple[Client, Client], database: Database) -> None:
    early, store = issued(database, "evaluate"), KeyStore(database)
    assert [status(each, early.token) for each in replicas] == [200, 200]  # from now on each has a memory to be out of date
    made = issued(database, "evaluate")
    assert [status(each, made.token) for each in replicas] == [200, 200]
    other = keys.rotate(made.key.id, NewSecret(), OWNER, store)
    assert [status(each, other.token) for each in replicas] == [200, 200]
    assert [status(each, made.token) for each in replicas] == [401, 401]
    keys.revoke(early.key.id, store)
    assert max(seen_after(each, early.token, 401) for each in replicas) < SEEN_S


def test_a_key_ends_in_its_last_moment_whatever_is_remembered(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    app = create_app(settings, catalogue=catalogue, database=database)
    key, token = (made := issued(database, "evaluate", lifetime_s=60)).key, made.token
    moments = iter((key.created_us, key.created_us, key.expires_us - 1, key.expires_us))  # the first is for reading

    async def ask() -> list[bool]:
        keyring = Keyring(KeyStore(database), app.state.service.pools, lambda: next(moments))
        return [await keyring.key(token) is not None for _ in range(3)]

    assert asyncio.run(ask()) == [True, True, False]
    app.state.service.pools.close()


class Reads:
    """Counts the statements that read keys."""

    def __init__(self, database: Database) -> None:
        self.count = 0
        event.listen(database._reader, "before_cursor_execute", self)

    def __call__(self, _connection: object, _cursor: object, statement: str, *_: Any) -> None:
        self.count += "FROM keys" in statement


def test_strangers_cost_no_more_than_a_look_now_and_then(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    app = create_app(settings, catalogue=catalogue, database=database)
    made, reads = issued(database, "evaluate"), Reads(database)
    strangers = ["rlk_" + f"{number:016}".translate(str.maketrans("0189", "abcd")) + "_" + "a" * 52 for number in range(500)]

    async def ask() -> list[object]:
        keyring = Keyring(KeyStore(database), app.state.service.pools)
        assert await keyring.key(made.token) is not None
        return await asyncio.gather(*map(keyring.key, strangers))

    began = time.monotonic()
    assert set(asyncio.run(ask())) == {None}
    assert reads.count <= 2 + (time.monotonic() - began) / PAUSE_S
    app.state.service.pools.close()


def test_a_key_that_is_used_all_the_time_is_read_once_a_second(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    made = issued(database, "evaluate")
    with reached(settings, catalogue, database) as client:
        reads, began = Reads(database), time.monotonic()
        for _ in range(50):
            assert status(client, made.token) == 200
        assert reads.count <= 1 + (time.monotonic() - began) / LIFE_S


def test_the_last_use_is_kept_to_the_hour_and_written_once(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    made, writes = issued(database, "evaluate"), []
    event.listen(database._writer, "before_cursor_execute", lambda *given: writes.append(given[2]))
    before = now_us() // HOUR_US * HOUR_US
    with reached(settings, catalogue, database) as client:
        deadline = time.monotonic() + 20
        while KeyStore(database).get(made.key.id).last_used_us is None:
            assert status(client, made.token) == 200
            assert time.monotonic() < deadline
        for _ in range(20):
            assert status(client, made.token) == 200
        used = KeyStore(database).get(made.key.id).last_used_us
    assert used in {before, before + HOUR_US}
    assert len([each for each in writes if each.startswith("UPDATE keys")]) <= 2  # two if the hour has just ended
    assert used is not None
    assert keys.document(KeyStore(database).get(made.key.id))["last_used_at"].endswith(":00:00.000000Z")


@pytest.fixture
def outage(settings: Settings, catalogue: Catalogue, restartable_server: PostgresServer) -> Iterator[tuple[FastAPI, Database]]:
    """A service that other machines reach, with a database on a server that may be stopped."""
    url = restartable_server.create_database()
    with closing(open_database(url, None)) as database:
        migrate.ensure(database)
        app = create_app(replace(settings, host="0.0.0.0"), catalogue=catalogue, database=database)
        yield app, database
        app.state.service.pools.close()
    restartable_server.drop_database(url)


def test_without_a_database_nobody_is_let_in_and_nobody_is_told_that_a_key_is_bad(
    outage: tuple[FastAPI, Database], restartable_server: PostgresServer
) -> None:
    app, database = outage
    token, client = issued(database, "evaluate").token, Client(app)
    assert status(client, token) == 200
    restartable_server.stop()
    try:
        assert seen_after(client, token, 503) < SEEN_S  # until then by what is remembered
        for sent in (token, "rlk_" + "a" * 16 + "_" + "a" * 52):
            answer = client.post("/v1/evaluate", json=QUESTION, headers=bearing(sent))
            assert int(answer.headers["retry-after"]) >= 1
            problem(answer, 503, "database-unavailable")
        problem(client.post("/v1/evaluate", json=QUESTION), 401, "unauthenticated")
        assert client.get("/livez").status_code == 200
    finally:
        restartable_server.start()
    assert seen_after(client, token, 200) < 20
    client.close()


def test_those_who_wait_for_a_database_that_says_nothing_wait_together(
    outage: tuple[FastAPI, Database], restartable_server: PostgresServer
) -> None:
    app, database = outage
    token = issued(database, "evaluate").token

    async def ask() -> list[object]:
        keyring = Keyring(KeyStore(database), app.state.service.pools)
        return await asyncio.gather(*(keyring.key(token) for _ in range(50)), return_exceptions=True)

    with restartable_server.frozen(), ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        refused = pool.submit(asyncio.run, ask()).result(timeout=30)
    assert all(isinstance(each, Unavailable) for each in refused)
    assert time.monotonic() - began < 10
