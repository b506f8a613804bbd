"""Lists of saved analyses over HTTP: which filters there are, what they refuse, and that cursors belong to one list."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI

from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import Client

QUERIES = (
    "",
    "kind=dot",
    "bound=hbm",
    "chip=nvidia-h100-sxm",
    "chip=nvidia-h100-sxm@1",
    "label=team:red",
    "text=Reference",
    "created_after=2020-01-01",
    "created_before=2100-01-01T00:00:00Z",
    "order_by=created_at",
    "order_by=lower_s",
    "order_by=-lower_s",
)


@pytest.fixture(scope="module")
def sqlite_client(app: FastAPI) -> Iterator[Client]:
    client = Client(app)
    yield client
    client.close()


@pytest.fixture
def client(settings: Settings, catalogue: Catalogue, database: Database) -> Iterator[Client]:
    client = Client(create_app(settings, catalogue=catalogue, database=database))
    yield client
    client.close()


def fault(answer: httpx.Response) -> tuple[str, str, list[str]]:
    assert answer.status_code == 422
    (found,) = answer.json()["errors"]
    return found["pointer"], found["code"], found["suggestions"]


def test_a_cursor_continues_its_own_list_and_no_other(client: Client) -> None:
    for n in (5, 3, 4):
        body = {"op": {"kind": "dot", "n": n, "dtype": "fp32"}, "target": {"chip": "nvidia-h100-sxm"}, "labels": {"team": "red"}}
        body["note"] = "The reference."
        assert client.post("/v1/analyses", json=body).status_code == 201
    for query in QUERIES:
        whole = client.get(f"/v1/analyses?{query}").json()["items"]
        first = client.get(f"/v1/analyses?limit=1&{query}").json()
        rest = client.get(f"/v1/analyses?limit=2&cursor={first['next_cursor']}&{query}").json()
        assert (len(whole), first["items"] + rest["items"], rest["next_cursor"]) == (3, whole, None)
        for other in QUERIES:
            if other != query:
                refused = client.get(f"/v1/analyses?cursor={first['next_cursor']}&{other}")
                assert fault(refused)[:2] == ("/query/cursor", "out-of-range")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("kinds=dot", ("/query/kinds", "unknown-parameter", ["kind"])),
        ("lable=a:b", ("/query/lable", "unknown-parameter", ["label"])),
        ("order=lower_s", ("/query/order", "unknown-parameter", ["order_by"])),
        ("kind=matmull", ("/query/kind", "unknown-op", ["matmul"])),
        ("kind=", ("/query/kind", "unknown-op", [])),
        ("bound=memory", ("/query/bound", "out-of-range", [])),
        ("bound=HBM", ("/query/bound", "out-of-range", ["hbm"])),
        ("order_by=created", ("/query/order_by", "out-of-range", ["created_at", "-created_at"])),
        ("chip=nvidia-h100-sx", ("/query/chip", "unknown-chip", ["nvidia-h100-sxm"])),
        ("chip=nvidia-h100-sxm@2", ("/query/chip", "unknown-revision", ["nvidia-h100-sxm@1"])),
        ("chip=nvidia-h100-sxm@01", ("/query/chip", "unknown-revision", ["nvidia-h100-sxm@1"])),
        ("chip=nvidia-h100-sxm@", ("/query/chip", "unknown-revision", ["nvidia-h100-sxm@1"])),
        ("chip=", ("/query/chip", "out-of-range", [])),
        ("label=team", ("/query/label", "out-of-range", [])),
        ("label=:red", ("/query/label", "out-of-range", [])),
        ("label=a+b:red", ("/query/label", "out-of-range", [])),
        ("label=team:%0a", ("/query/label", "out-of-range", [])),
        ("label=a:b&label=c:d", ("/query/label", "invalid-request", [])),
        ("note=a", ("/query/note", "unknown-parameter", [])),
        ("text=two+words", ("/query/text", "out-of-range", [])),
        ("text=...", ("/query/text", "out-of-range", [])),
        ("text=", ("/query/text", "out-of-range", [])),
        ("text=a&label=b:c", ("/query/text", "invalid-request", [])),
        ("created_after=2026", ("/query/created_after", "out-of-range", [])),
        ("created_after=2026-02-30", ("/query/created_after", "out-of-range", [])),
        ("created_before=2026-01-01T00:00:00", ("/query/created_before", "out-of-range", [])),
        ("created_before=1767225600", ("/query/created_before", "out-of-range", [])),
        ("create_after=2026-01-01", ("/query/create_after", "unknown-parameter", ["created_after"])),
        ("created_after=2026-01-01&order_by=lower_s", ("/query/order_by", "invalid-request", ["-created_at", "created_at"])),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_may_be(sqlite_client: Client, query: str, expected: tuple[str, str, list[str]]) -> None:
    pointer, code, suggestions = fault(sqlite_client.get(f"/v1/analyses?{query}"))
    assert (pointer, code, suggestions[: len(expected[2])]) == expected
