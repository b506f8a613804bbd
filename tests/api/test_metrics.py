"""What the service counts of itself: right numbers under a bounded number of names."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import Response

from service import __version__
from service.api.answers import answer
from service.api.app import create_app
from service.api.call import Call
from service.api.metrics import METHODS, OTHER
from service.api.routes.all import all_routes
from service.api.routing import StrictRoute
from service.catalogue import Catalogue
from service.engine import ENGINE_VERSION
from service.settings import Settings
from service.storage import Database, open_database

from .conftest import BASE, Client
from .counting import counts, value

QUESTION: dict[str, Any] = {"op": {"kind": "dot", "n": 1024, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sxm"}}


@pytest.fixture
def fresh(settings: Settings, catalogue: Catalogue, shared_database: Database) -> Iterator[Client]:
    """A service that has counted nothing yet."""
    client = Client(create_app(settings, catalogue=catalogue, database=shared_database))
    yield client
    client.close()


def test_requests_are_counted_by_method_route_and_status(fresh: Client) -> None:
    for _ in range(3):
        fresh.get("/v1/chips/nvidia-h100-sxm")
    fresh.get("/v1/chips/no-such-chip")
    fresh.request("HEAD", "/v1/chips")
    fresh.request("OPTIONS", "/v1/chips")
    fresh.post("/v1/chips")
    fresh.get("/livez", headers={"host": "example.org"})
    text = fresh.get("/metrics").text
    assert counts(text)["roofline_http_requests_total"] == {
        frozenset({("method", method), ("route", route), ("status", status)}): number
        for method, route, status, number in [
            ("GET", "/v1/chips/{ref}", "200", 3),
            ("GET", "/v1/chips/{ref}", "404", 1),
            ("HEAD", "/v1/chips", "200", 1),
            ("OPTIONS", "/v1/chips", "204", 1),
            ("POST", "/v1/chips", "405", 1),
            ("GET", OTHER, "403", 1),  # refused at the door, before any route
        ]
    }
    assert value(text, "roofline_http_request_duration_seconds_count", method="GET", route="/v1/chips/{ref}") == 4
    assert value(text, "roofline_http_request_duration_seconds_bucket", method="GET", route="/v1/chips/{ref}", le="+Inf") == 4
    assert 0 < value(text, "roofline_http_request_duration_seconds_sum", method="GET", route="/v1/chips/{ref}") < 60
    assert value(text, "roofline_http_requests_in_flight") == 1  # this very request


def test_whatever_callers_send_there_are_no_more_names_than_routes(fresh: Client) -> None:
    for at in range(200):
        fresh.request(f"M{at}", f"/v1/chips/x{at}")
        fresh.get(f"/no/such/{at}")
        fresh.get(f"/v1/chips/{at}%22%0a{{}}", params={f"p{at}": "1"}, headers={"x-request-id": f"r{at}"})
    series = counts(fresh.get("/metrics").text)
    labels = {name: {dict(each).get(name) for of in series.values() for each in of} - {None} for name in ("method", "route", "status")}
    assert labels["method"] <= METHODS | {OTHER}
    assert labels["route"] == {"/v1/chips/{ref}", OTHER}
    assert labels["route"] - {OTHER} <= {route.path_format for route in all_routes() if isinstance(route, StrictRoute)}
    assert labels["status"] <= {"404", "405", "422"}
    assert sum(map(len, series.values())) < 150


def test_bytes_of_bodies_are_counted_as_they_pass(fresh: Client) -> None:
    content = b'{"op": {"kind": "dot", "n": 1024, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sxm"}}'
    sent = fresh.post("/v1/evaluate", content=content, headers={"content-type": "application/json"})
    fresh.request("HEAD", "/openapi.json")
    text = fresh.get("/metrics").text
    assert value(text, "roofline_http_request_body_bytes_total", route="/v1/evaluate") == len(content)
    assert value(text, "roofline_http_response_body_bytes_total", route="/v1/evaluate") == len(sent.content)
    assert value(text, "roofline_http_response_body_bytes_total", route="/openapi.json") == 0


def test_rows_and_kept_analyses_are_counted(fresh: Client) -> None:
    op = QUESTION["op"]
    assert fresh.post("/v1/evaluate", json=QUESTION).status_code == 200
    assert fresh.post("/v1/evaluate", json={**QUESTION, "op": {**op, "n": [1, 2, 3, 4]}}).status_code == 200
    assert fresh.post("/v1/evaluate", json={**QUESTION, "op": {**op, "n": 0}}).status_code == 422
    first = {**QUESTION, "op": {**op, "n": 987_654_321}}
    assert [fresh.post("/v1/analyses", json=first).status_code for _ in range(3)] == [201, 200, 200]
    text = fresh.get("/metrics").text
    assert value(text, "roofline_rows_evaluated_total") == 1 + 4 + 3
    assert value(text, "roofline_analyses_saved_total", outcome="new") == 1
    assert value(text, "roofline_analyses_saved_total", outcome="known") == 2


def test_what_runs_is_told(fresh: Client, catalogue: Catalogue) -> None:
    text = fresh.get("/metrics").text
    labels = {"service_version": __version__, "engine_version": ENGINE_VERSION, "catalogue_digest": catalogue.digest}
    assert value(text, "roofline_build_info", **labels) == 1


def test_pools_tell_of_their_use(settings: Settings, catalogue: Catalogue, shared_database: Database) -> None:
    gate = threading.Event()

    async def wait(call: Call) -> Response:
        await call.service.pools.compute(10**6, lambda: gate.wait(30))
        return answer(b"{}")

    small = replace(settings, compute_threads=1, compute_queue=1)
    app = create_app(small, catalogue=catalogue, database=shared_database)
    app.router.routes.append(StrictRoute("/wait", wait, need="public", methods=["GET"]))

    async def story() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE) as client:

            async def use() -> tuple[float, ...]:
                text = (await client.get("/metrics")).text
                found = (
                    value(text, f"roofline_pool_{what}", pool="compute") for what in ("running", "waiting", "refused_total", "threads")
                )
                return (*found, value(text, "roofline_http_requests_in_flight"))

            taken = [asyncio.create_task(client.get("/wait")) for _ in range(2)]
            await _until(use, (1, 1, 0, 1, 3))
            assert (await client.get("/wait")).status_code == 503
            assert await use() == (1, 1, 1, 1, 3)
            gate.set()
            await asyncio.gather(*taken)
            await _until(use, (0, 0, 1, 1, 1))

    asyncio.run(asyncio.wait_for(story(), 30))


async def _until(look: Callable[[], Awaitable[object]], due: object) -> None:
    for _ in range(1000):
        if await look() == due:
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"never {due}")


def test_what_the_database_failed_is_counted_and_what_was_not_found_is_not(
    settings: Settings, catalogue: Catalogue, tmp_path: Path, failing_database: Callable[[Path], Database]
) -> None:
    with closing(failing_database(tmp_path)) as database:
        client = Client(create_app(settings, catalogue=catalogue, database=database))
        assert client.get("/readyz").status_code == 503
        assert client.get("/v1/analyses/an_x").status_code == 500  # a table that is missing is a fault of ours
        text = client.get("/metrics").text
        client.close()
    assert value(text, "roofline_database_errors_total", code="database-unavailable") == 1
    assert value(text, "roofline_database_errors_total", code="internal") == 1


@pytest.fixture
def failing_database() -> Callable[[Path], Database]:
    """A database without a schema."""
    return lambda folder: open_database(None, folder)


def test_a_name_that_is_not_there_is_no_failure_of_the_database(fresh: Client) -> None:
    assert fresh.get("/v1/analyses/an_x").status_code == 404
    assert "roofline_database_errors_total{" not in fresh.get("/metrics").text


@pytest.mark.parametrize(
    "accept", ["text/plain", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"]
)
def test_prometheus_gets_its_text_format(fresh: Client, accept: str) -> None:
    collected = fresh.get("/metrics", headers={"accept": accept})
    assert collected.status_code == 200
    assert collected.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "_created" not in collected.text


def test_two_services_in_one_process_count_for_themselves(fresh: Client, app: FastAPI) -> None:
    other = Client(app)
    other.get("/livez")
    other.close()
    assert "/livez" not in fresh.get("/metrics").text
