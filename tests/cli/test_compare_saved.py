"""`roofline compare ID ID…`: the bytes of the API from the service's database, of either kind; on a terminal what changed and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from service.api.app import create_app
from service.catalogue import load
from service.settings import Settings
from service.storage import Database

from ..api.conftest import Client
from .program import on_terminal, plain, roofline

MATMUL = {"kind": "matmul", "m": 64, "k": 4096, "n": 4096, "dtype": "bf16"}
H100 = {"chip": "nvidia-h100-sxm"}
RING = {"name": "x", "size": 8, "topology": "ring", "bandwidth_bytes_per_s": 1e9}
SPLIT = {"a": [None, "x"], "b": ["x", None], "out": [None, None]}
QUESTIONS: list[dict[str, Any]] = [
    {"op": MATMUL, "target": H100},
    {"op": MATMUL, "target": {**H100, "mesh": [RING]}, "sharding": SPLIT},
    {"op": {**MATMUL, "m": 4096}, "target": H100},
]


@pytest.fixture
def client(database: Database) -> Iterator[Client]:
    client = Client(create_app(Settings.from_environment({"ROOFLINE_LOG_LEVEL": "warning"}), catalogue=load(), database=database))
    yield client
    client.close()


def test_saved_analyses_are_compared_in_a_pipe_and_on_a_terminal(
    client: Client, database: Database, request: pytest.FixtureRequest
) -> None:
    is_file = database.path is not None
    where = (
        {"ROOFLINE_DATA": str(database.path.parent)}
        if database.path
        else {"ROOFLINE_DATABASE_URL": request.getfixturevalue("postgres_url")}
    )
    names = [client.post("/v1/analyses", json=question).json()["id"] for question in QUESTIONS]
    answer = client.post("/v1/comparisons", json={"base": names[0], "others": names[1:]})
    ended = roofline("compare", *names, variables=where)
    assert (ended.status, ended.output, ended.words) == (0, answer.content, "")
    if not is_file:
        return
    shown = plain(on_terminal("compare", *names, variables=where))
    assert shown.startswith(f"2 saved analyses against {names[0]}\n")
    assert "  1  nvidia-h100-sxm@1  matmul" in shown
    assert re.search(r"^  1: the least time [0-9.]+× by mesh and sharding\.$", shown, re.MULTILINE)
    assert "Where the bottleneck moved\n  1: hbm → network\n  2: hbm → compute\n  2: hbm: hbm → compute\n" in shown
    assert "  2: /op/m: 64 → 4096\n" in shown
    assert "Not like for like\n  2: Other work: m.\n" in shown
    unlike = roofline("compare", *names, "--strict", "--json", variables=where)
    (fault,) = json.loads(unlike.words)["errors"]
    assert (unlike.status, fault["pointer"]) == (2, "/others/1")
    unknown = roofline("compare", names[0], "an_x", variables=where)
    assert (unknown.status, json.loads(unknown.words)["code"]) == (2, "unknown-analysis")


def test_a_database_is_not_asked_about_cases() -> None:
    ended = roofline("compare", "cases.json", "--strict")
    assert (ended.status, ended.output) == (2, b"")
    assert "name two ids" in ended.words
