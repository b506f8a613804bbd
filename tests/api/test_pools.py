"""Work that is too much is refused at once, and whoever asks whether the service lives is answered meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import Response

from service.api.answers import answer
from service.api.app import create_app
from service.api.call import Call
from service.api.routing import StrictRoute
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import BASE

gate = threading.Event()


async def wait(call: Call) -> Response:
    """A large question that is answered when the gate opens."""
    await call.service.pools.compute(10**6, lambda: gate.wait(30))
    return answer(b"{}")


@pytest.fixture
def small(settings: Settings, catalogue: Catalogue, shared_database: Database) -> Iterator[FastAPI]:
    gate.clear()
    app = create_app(replace(settings, compute_threads=1, compute_queue=1), catalogue=catalogue, database=shared_database)
    app.router.routes.append(StrictRoute("/wait", wait, need="public", methods=["GET"]))
    yield app
    gate.set()


def test_a_full_pool_refuses_with_a_time_to_come_back_and_health_answers(small: FastAPI) -> None:
    async def story() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(small), base_url=BASE) as client:
            taken = [asyncio.create_task(client.get("/wait")) for _ in range(2)]  # one runs, one waits
            await asyncio.sleep(0.2)
            refused = await client.get("/wait", headers={"x-request-id": "ours"})
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert refused.json() == {
                "type": "/problems/overloaded",
                "title": "Not now",
                "status": 503,
                "detail": "The service has as much work as it can queue; try again shortly.",
                "code": "overloaded",
                "request_id": "ours",
            }
            assert [(await client.get(path)).status_code for path in ("/livez", "/readyz", "/v1/chips")] == [200, 200, 200]
            gate.set()
            assert [(await each).status_code for each in taken] == [200, 200]
            assert (await client.get("/wait")).status_code == 200

    asyncio.run(asyncio.wait_for(story(), 30))


def test_a_caller_that_gives_up_does_not_give_back_room_that_is_still_taken(small: FastAPI) -> None:
    async def story() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(small), base_url=BASE) as client:
            taken = [asyncio.create_task(client.get("/wait")) for _ in range(2)]
            await asyncio.sleep(0.2)
            taken[0].cancel()
            await asyncio.sleep(0.1)
            assert (await client.get("/wait")).status_code == 503
            gate.set()
            assert (await taken[1]).status_code == 200

    asyncio.run(asyncio.wait_for(story(), 30))
