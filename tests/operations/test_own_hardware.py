"""A chip that does not exist yet, from its announcement to its revision: asked, kept, asked again, listed and exported.

Once by one service on a file that asks for no key, once by two on PostgreSQL that do, each step at the other of the two.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ..api.hardware import CHIP, chip
from ..cli.program import roofline
from .replicas import replicas
from .running import running, until

MATMUL = {"kind": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16"}
QUESTION = {"op": MATMUL, "target": {"chip": "next-one"}, "labels": {"team": "hardware"}, "note": "before tape-out"}
FASTER = chip(reason="as built", hbm={**CHIP["hbm"], "bandwidth": {**CHIP["hbm"]["bandwidth"], "value": 4.0}})
PATH = "/v1/chips/next-one"


@contextmanager
def asked(place: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[list[httpx.Client]]:
    """Callers of the services, who send what the services ask for."""
    if place == "sqlite":
        with running(folder) as service:
            yield [service.client]
        return
    url = request.getfixturevalue("empty_postgres_url")
    scopes = [word for scope in ("read", "write", "catalogue") for word in ("--scope", scope)]
    made = roofline("keys", "create", "a person", *scopes, "--json", variables={"ROOFLINE_DATABASE_URL": url})
    with replicas(folder, url, ROOFLINE_HOST="0.0.0.0") as services:
        for each in services:
            each.client.headers["authorization"] = f"Bearer {json.loads(made.output)['secret']}"
        yield [each.client for each in services]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("place", ["sqlite", "postgresql"])
def test_one_number_of_a_chip_is_changed_and_a_kept_answer_says_what_came_of_it(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with asked(place, tmp_path, request) as callers:
        turns = itertools.cycle(callers)
        made = next(turns).put(PATH, json=CHIP, headers={"if-none-match": "*"})
        assert (made.status_code, made.json()["ref"]) == (201, "next-one@1")
        until(lambda: all(each.get(PATH).status_code == 200 for each in callers), "a chip that everyone knows")

        kept = next(turns).post("/v1/analyses", json=QUESTION)
        assert (kept.status_code, kept.json()["answer"]["target"]) == (201, {"chip": "next-one@1"})
        path = kept.headers["location"]
        unchanged = next(turns).post(f"{path}/recompute").raise_for_status().json()["difference"]
        assert (unchanged["attributed_to"], unchanged["times"]["lower_s"]["ratio"]) == ([], 1.0)

        revised = next(turns).put(PATH, json=FASTER, headers={"if-match": made.headers["etag"]})
        assert (revised.status_code, revised.json()["ref"]) == (200, "next-one@2")
        stale = next(turns).put(PATH, json=CHIP, headers={"if-match": made.headers["etag"]})
        assert (stale.status_code, stale.json()["code"]) == (412, "precondition-failed")
        until(lambda: all(each.get(PATH).json()["ref"] == "next-one@2" for each in callers), "a revision that everyone knows")
        assert changed(next(turns)) == {"hbm.bandwidth_bytes_per_s": (2e12, 4e12)}

        found = next(turns).post(f"{path}/recompute").raise_for_status().json()
        assert found["difference"]["attributed_to"] == ["chip_revision"]
        assert found["difference"]["chip_revision"] == {"from": "next-one@1", "to": "next-one@2"}
        before_s, after_s = (136_314_880 / bandwidth for bandwidth in (2e12, 4e12))  # bytes of X, W and Y over bytes per second
        assert found["difference"]["times"]["lower_s"] == {
            "before_s": before_s,
            "after_s": after_s,
            "ratio": 0.5,
            "by_engine": 1.0,
            "by_chip_revision": 0.5,
        }
        assert next(turns).get(path).content == kept.content  # a revision changes nothing that was kept

        again = next(turns).post("/v1/analyses", json=QUESTION)
        assert (again.status_code, again.json()["id"]) == (201, found["recomputed"]["id"])
        listed = next(turns).get("/v1/analyses", params={"label": "team:hardware", "order_by": "-lower_s"}).json()["items"]
        assert [(each["chip"], each["lower_s"]) for each in listed] == [("next-one@1", before_s), ("next-one@2", after_s)]
        assert [each["id"] for each in next(turns).get("/v1/analyses?chip=next-one@2").json()["items"]] == [again.json()["id"]]
        sheet = next(turns).get("/v1/exports/analyses", params={"chip": "next-one", "format": "csv", "order_by": "lower_s"}).text
        assert [row["chip"] for row in csv.DictReader(sheet.splitlines())] == ["next-one@2", "next-one@1"]


def changed(caller: httpx.Client) -> dict[str, tuple[Any, Any]]:
    """What the last revision of the chip states otherwise than the one before, its reason apart."""
    last = caller.get(f"{PATH}/revisions").raise_for_status().json()["items"][-1]
    return {each["field"]: (each["before"]["value"], each["after"]["value"]) for each in last["changes"]}
