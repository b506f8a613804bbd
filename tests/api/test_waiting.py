"""Questions that arrive at once: each gets its own answer or refusal, whatever waits beside it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from fastapi import FastAPI

from service.api.waiting import MOST, Waiting
from service.catalogue import Catalogue
from service.schemas.evaluate import Question
from service.schemas.reading import validate

from .conftest import BASE, Client

MATMUL = {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}
H100 = {"chip": "nvidia-h100-sxm"}


def bodies() -> list[dict[str, Any]]:
    """More than are answered at a time, with faults among them."""
    found: list[dict[str, Any]] = [{"op": {**MATMUL, "m": m}, "target": H100} for m in range(1, MOST + 20)]
    found[3]["target"] = {"chip": "no-such-chip"}
    found[9]["op"]["dtype"] = "fp4_e2m1"
    found[17]["options"] = {"tile": {"m": 4096, "n": 4096, "k": 64}}
    found[23]["options"] = {"overlap": 0.5, "explain": True}
    found[MOST + 2]["op"]["m"] = 0
    return found


def test_questions_at_once_get_the_bytes_that_each_gets_alone(app: FastAPI, client: Client) -> None:
    headers = {"X-Request-Id": "same"}
    serial = [client.post("/v1/evaluate", json=body, headers=headers) for body in bodies()]

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=BASE, timeout=60) as caller:
            return await asyncio.gather(*(caller.post("/v1/evaluate", json=body, headers=headers) for body in bodies()))

    at_once = asyncio.run(ask())
    assert [(each.status_code, each.content) for each in at_once] == [(each.status_code, each.content) for each in serial]
    assert [each.status_code for each in serial].count(422) >= 3


def test_a_caller_that_leaves_takes_nobody_along(catalogue: Catalogue) -> None:
    waiting = Waiting(lambda: catalogue)
    asked = [validate(Question, body) for body in ({"op": {**MATMUL, "m": m}, "target": H100} for m in (1, 2, 3))]

    async def ask() -> list[object]:
        tasks = [asyncio.create_task(waiting.answer(question)) for question in asked]
        await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, left, last = asyncio.run(ask())
    assert isinstance(left, asyncio.CancelledError)
    assert [json.loads(each)["op"]["m"] for each in (first, last) if isinstance(each, bytes)] == [1, 3]
