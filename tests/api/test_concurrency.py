"""Answers do not depend on what else is asked at the same time: the engine keeps nothing of a request."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import orjson
import pytest

from service.catalogue import Catalogue

THREADS = 16
EACH = 200

Request = tuple[str, str, bytes]


def questions(catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    """Mixed questions: kinds, formats, chips, lists of ops, columns beyond what is computed inline, and refusals."""
    chips = [chip.id for chip in catalogue.chips if "bf16" in chip.numbers().get("peak_flops_per_s", {})]
    dice = random.Random(3)

    def size() -> int:
        return dice.randint(1, 20_000)

    for _ in range(12):
        target = {"chip": dice.choice(chips)}
        matmul = {"kind": "matmul", "m": size(), "k": size(), "n": size(), "dtype": "bf16"}
        yield {"op": matmul, "target": target, "options": {"overlap": dice.random(), "explain": True}}
        yield {"op": {**matmul, "b_dtype": "int8", "batch": size()}, "target": target}
        yield {
            "op": {"kind": "einsum", "equation": "bd,df->bf", "dims": {"b": size(), "d": size(), "f": size()}, "dtype": "bf16"},
            "target": target,
        }
        yield {"op": {"kind": "dot", "n": size(), "dtype": "fp32"}, "target": target}
        yield {"ops": [{**matmul, "count": size()}, {"kind": "elementwise", "n": size(), "dtype": "fp32"}], "target": target}
        yield {"op": {**matmul, "m": [size() for _ in range(300)]}, "target": target}
        yield {"op": {**matmul, "m": 0}, "target": {"chip": "no-such-chip"}}
    yield {"op": {**matmul, "m": list(range(1, 6_001))}, "target": target}


@pytest.fixture(scope="module")
def requests(catalogue: Catalogue) -> list[Request]:
    paths = ("/v1/chips?limit=5", "/v1/chips/nvidia-h100-sxm", "/v1/ops", "/v1/meta", "/v1/chips/none", "/problems/missing")
    return [
        *(("POST", "/v1/evaluate", orjson.dumps(question)) for question in questions(catalogue)),
        *(("GET", path, b"") for path in paths),
    ]


def answered(connection: HTTPConnection, request: Request) -> tuple[int, bytes]:
    method, path, body = request
    headers = {"Content-Type": "application/json", "X-Request-Id": "same"} if body else {"X-Request-Id": "same"}
    connection.request(method, path, body or None, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.mark.timeout(300)
def test_16_threads_get_the_bytes_that_a_single_one_gets(port: int, requests: list[Request]) -> None:
    with closing(HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        serial = {request: answered(connection, request) for request in requests}
    assert {status for status, _ in serial.values()} == {200, 404, 422}

    def work(seed: int) -> list[tuple[Request, tuple[int, bytes]]]:
        dice = random.Random(seed)
        with closing(HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
            return [(request, answered(connection, request)) for request in dice.choices(requests, k=EACH)]

    with ThreadPoolExecutor(THREADS) as pool:
        for results in pool.map(work, range(THREADS)):
            assert len(results) == EACH
            for request, result in results:
                assert result == serial[request]
