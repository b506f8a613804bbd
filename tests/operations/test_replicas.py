"""Two services on one PostgreSQL database: whoever of them is asked, now or after an outage, the answer is the same."""

from __future__ import annotations

import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from ..postgres import PostgresServer
from .replicas import replicas
from .running import JSON, Service, until

WRITERS = 50


@pytest.fixture
def url(restartable_server: PostgresServer) -> Iterator[str]:
    """An empty database on a server that may be stopped."""
    url = restartable_server.create_database()
    yield url
    restartable_server.drop_database(url)


def question(n: int, **members: object) -> str:
    return json.dumps({"op": {"kind": "dot", "n": n, "dtype": "fp32"}, "target": {"chip": "nvidia-h100-sxm"}, **members})


def keep(service: Service, body: str, **headers: str) -> httpx.Response:
    sent = {**JSON, "connection": "close", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return service.client.post("/v1/analyses", content=body, headers=sent)


def alike(services: list[Service], path: str) -> httpx.Response:
    """What both say at `path`, to the byte, tag included."""
    one, other = (service.client.get(path).raise_for_status() for service in services)
    assert (one.content, one.headers.get("etag")) == (other.content, other.headers.get("etag"))
    return one


def at_once(number: int, ask: Callable[[int], httpx.Response]) -> list[httpx.Response]:
    """Answers to `number` callers who all begin when the last of them is ready."""
    ready = threading.Barrier(number)

    def called(caller: int) -> httpx.Response:
        ready.wait(30)
        return ask(caller)

    with ThreadPoolExecutor(number) as callers:
        return list(callers.map(called, range(number)))


@pytest.mark.timeout(120)
def test_replicas_answer_as_one_and_outlive_their_database(url: str, restartable_server: PostgresServer, tmp_path: Path) -> None:
    with replicas(tmp_path, url) as services:
        the_same_bytes(services)
        fifty_writers_of_one_question(services)
        one_effect_under_one_key(services)
        a_restart_under_load(services, restartable_server)


def the_same_bytes(services: list[Service]) -> None:
    for n, service in zip(range(1, 7), itertools.cycle(services)):
        made = keep(service, question(n, labels={"n": str(n)}))
        assert made.status_code == 201
        again = keep(services[n % 2], question(n))
        assert (again.status_code, again.content) == (200, made.content)
        assert alike(services, made.headers["location"]).content == made.content
    seen, path = [], "/v1/analyses?limit=4"
    for service in services:  # the first page from one, the second, by its cursor, from the other
        alike(services, path)
        page = service.client.get(path).json()
        seen += [item["labels"]["n"] for item in page["items"]]
        path = f"/v1/analyses?limit=4&cursor={page['next_cursor']}"
    assert seen == ["6", "5", "4", "3", "2", "1"]
    for path in ("/v1/chips", "/v1/meta", "/openapi.json"):
        alike(services, path)


def fifty_writers_of_one_question(services: list[Service]) -> None:
    """One of them makes it; what each of them labels is kept."""
    answers = at_once(WRITERS, lambda n: keep(services[n % 2], question(1000, labels={f"writer-{n}": "x"})))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: WRITERS - 1}
    (location,) = {answer.headers["location"] for answer in answers}
    assert len(alike(services, location).json()["labels"]) == WRITERS


def one_effect_under_one_key(services: list[Service]) -> None:
    """Twenty callers under one key get one answer, whichever replica has it; with another request the key is refused by both."""
    answers = at_once(20, lambda n: keep(services[n % 2], question(2000), idempotency_key='"of all"'))
    assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
    assert sorted(answer.headers.get("idempotency-replayed", "") for answer in answers) == ["", *["true"] * 19]
    refused = [keep(service, question(2001), idempotency_key='"of all"') for service in services]
    assert {(answer.status_code, answer.json()["code"]) for answer in refused} == {(422, "idempotency-key-reused")}


def a_restart_under_load(services: list[Service], server: PostgresServer) -> None:
    """Writers are refused with a time to come back, others are answered; what was acknowledged is there, under its key as well."""
    stop, kept, seen = threading.Event(), [], []

    def write(writer: int) -> None:
        for n in itertools.count(10_000 * (writer + 1)):
            if stop.is_set():
                return
            answer = keep(services[writer % 2], question(n), idempotency_key=f"n-{n}")
            seen.append(answer)
            if answer.is_success:
                kept.append((n, answer))

    with ThreadPoolExecutor(4) as writers:
        jobs = [writers.submit(write, writer) for writer in range(4)]
        try:
            until(lambda: len(kept) > 8, "some that are kept")
            server.stop()
            refused = len(seen)
            until(lambda: sum(answer.status_code == 503 for answer in seen[refused:]) > 8, "refusals")
            for service in services:
                assert service.client.post("/v1/evaluate", content=question(5), headers=JSON).status_code == 200
                assert service.client.get("/livez").status_code == 200
                assert service.client.get("/readyz").json()["code"] == "database-unavailable"
                assert "roofline_database_answers 0.0" in service.client.get("/metrics").text
            server.start()
            back = len(kept)
            until(lambda: len(kept) > back + 8, "some that are kept again")
        finally:
            stop.set()
        for job in jobs:
            job.result(60)

    for answer in seen:
        assert answer.status_code in {200, 201} or (answer.json()["code"], answer.headers["retry-after"]) == ("database-unavailable", "1")
    for service in services:
        assert service.client.get("/readyz").status_code == 200
        assert "roofline_database_answers 1.0" in service.client.get("/metrics").text
    for n, answer in kept:
        again = keep(services[n % 2], question(n), idempotency_key=f"n-{n}")
        assert (again.status_code, again.content, again.headers["idempotency-replayed"]) == (answer.status_code, answer.content, "true")
        assert services[(n + 1) % 2].client.get(answer.headers["location"]).content == answer.content
