"""Labels and notes that change, and analyses that are deleted, over HTTP on both databases."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from threading import Barrier
from typing import Any

import httpx
import pytest

from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import Client, served

QUESTION: dict[str, Any] = {
    "op": {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"},
    "target": {"chip": "nvidia-h100-sxm"},
}
WRITERS = 50
ROUNDS = 3


@pytest.fixture
def client(settings: Settings, catalogue: Catalogue, database: Database) -> Iterator[Client]:
    client = Client(create_app(settings, catalogue=catalogue, database=database))
    yield client
    client.close()


def keep(client: Client, **members: Any) -> httpx.Response:
    answer = client.post("/v1/analyses", json={**QUESTION, **members})
    assert answer.status_code == 201
    return answer


def change(client: Client, made: httpx.Response, body: object, tag: str = "*") -> httpx.Response:
    headers = {"if-match": tag, "content-type": "application/json"}
    return client.request("PATCH", made.headers["location"], content=json.dumps(body), headers=headers)


def problem(answer: httpx.Response) -> tuple[int, str, list[tuple[str, str]]]:
    """Status, code and faults of a refusal."""
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["request_id"] == answer.headers["x-request-id"]
    return answer.status_code, body["code"], [(error["pointer"], error["code"]) for error in body.get("errors", ())]


def test_a_change_answers_the_whole_analysis_with_its_new_tag(client: Client) -> None:
    made = keep(client, labels={"team": "red", "draft": "yes"}, note="first")
    patch = {"labels": {"team": "blue", "draft": None, "run": "7", "absent": None}, "note": "second"}
    changed = change(client, made, patch, made.headers["etag"])
    assert (changed.status_code, changed.headers["content-type"]) == (200, "application/json")
    assert changed.json() == {**made.json(), "labels": {"run": "7", "team": "blue"}, "note": "second"}
    read = client.get(made.headers["location"])
    assert (read.content, read.headers["etag"]) == (changed.content, changed.headers["etag"])
    (item,) = client.get("/v1/analyses?label=team:blue").json()["items"]
    assert (item["labels"], item["note"]) == ({"run": "7", "team": "blue"}, "second")
    assert client.get("/v1/analyses?label=team:red").json()["items"] == []


MERGED: list[tuple[object, object, object]] = [
    ({}, {"a": "1", "b": "2"}, "n"),
    ({"labels": {}}, {"a": "1", "b": "2"}, "n"),
    ({"labels": None}, {}, "n"),
    ({"labels": {"a": None}}, {"b": "2"}, "n"),
    ({"labels": {"a": ""}}, {"a": "", "b": "2"}, "n"),
    ({"note": None}, {"a": "1", "b": "2"}, None),
    ({"note": ""}, {"a": "1", "b": "2"}, ""),
    ({"note": None, "labels": {"c": "3"}}, {"a": "1", "b": "2", "c": "3"}, None),
]


def test_an_absent_member_stays_and_null_removes(client: Client) -> None:
    before = {"a": "1", "b": "2"}
    made = keep(client, labels=before, note="n")
    for patch, labels, note in MERGED:
        changed = change(client, made, patch)
        assert (patch, changed.status_code, changed.json()) == (patch, 200, {**made.json(), "labels": labels, "note": note})
        assert change(client, made, {"labels": {"c": None, **before}, "note": "n"}).content == made.content


def test_a_tag_differs_exactly_when_the_content_does(client: Client) -> None:
    made = keep(client)
    seen = {made.content: made.headers["etag"]}
    for patch in ({"note": "a"}, {"note": "a"}, {}, {"labels": {"x": "1"}}, {"labels": {"x": "2"}}, {"labels": None, "note": None}):
        changed = change(client, made, patch)
        assert seen.setdefault(changed.content, changed.headers["etag"]) == changed.headers["etag"]
        read = client.get(made.headers["location"])
        assert (read.content, read.headers["etag"]) == (changed.content, changed.headers["etag"])
    assert len(set(seen.values())) == len(seen) == 4
    assert client.post("/v1/analyses", json=QUESTION).headers["etag"] == made.headers["etag"]


def test_an_analysis_that_the_caller_has_is_not_sent_again(client: Client) -> None:
    made = keep(client)
    path, tag = made.headers["location"], made.headers["etag"]
    for method, condition in itertools.product(("GET", "HEAD"), (tag, f'"x", {tag}', f"W/{tag}", "*")):
        again = client.request(method, path, headers={"if-none-match": condition})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert change(client, made, {"note": "new"}, tag).status_code == 200
    assert client.get(path, headers={"if-none-match": tag}).status_code == 200


def test_a_change_needs_a_condition_that_holds(client: Client) -> None:
    made = keep(client)
    path, tag = made.headers["location"], made.headers["etag"]
    assert problem(client.request("PATCH", path, json={"note": "x"})) == (428, "precondition-required", [])
    for stale in ('"stale"', f"W/{tag}", tag.strip('"'), "", f'"*", "{tag.strip(chr(34))[:-1]}"', "**"):
        assert problem(change(client, made, {"note": "x"}, stale)) == (412, "precondition-failed", [])
    assert client.get(path).content == made.content
    assert change(client, made, {"note": "x"}, f'"other", {tag}').status_code == 200
    assert problem(change(client, made, {"note": "y"}, tag)) == (412, "precondition-failed", [])
    assert client.get(path).json()["note"] == "x"


def test_an_analysis_is_deleted_and_the_same_question_makes_it_anew(client: Client) -> None:
    made = keep(client, labels={"team": "red"}, note="n")
    path = made.headers["location"]
    deleted = client.request("DELETE", path)
    assert (deleted.status_code, deleted.content, deleted.headers.get("content-type")) == (204, b"", None)
    for answer in (
        client.get(path),
        client.request("DELETE", path),
        client.request("DELETE", path, headers={"if-match": "*"}),
        change(client, made, {"note": "x"}),
    ):
        assert problem(answer) == (404, "not-found", [])
    assert client.get("/v1/analyses?label=team:red").json() == {"items": [], "next_cursor": None, "limit": 50}
    again = keep(client)
    assert (again.json()["id"], again.json()["labels"], again.json()["note"]) == (made.json()["id"], {}, None)
    assert again.json()["created_at"] > made.json()["created_at"]
    assert problem(change(client, made, {"note": "x"}, made.headers["etag"])) == (412, "precondition-failed", [])


def test_a_deletion_with_a_condition_spares_what_has_changed(client: Client) -> None:
    made = keep(client)
    path, tag = made.headers["location"], made.headers["etag"]
    newer = change(client, made, {"note": "x"}).headers["etag"]
    assert problem(client.request("DELETE", path, headers={"if-match": tag})) == (412, "precondition-failed", [])
    assert client.get(path).status_code == 200
    assert client.request("DELETE", path, headers={"if-match": newer}).status_code == 204


FULL = {f"k{number}": "v" for number in range(64)}


REFUSED: list[tuple[object, str, list[tuple[str, str]]]] = [
    ([], "wrong-type", [("", "wrong-type")]),
    (None, "wrong-type", [("", "wrong-type")]),
    ({"labels": []}, "wrong-type", [("/labels", "wrong-type")]),
    ({"labels": {"a": 1}}, "wrong-type", [("/labels/a", "wrong-type")]),
    ({"labels": {"a b": "x"}}, "out-of-range", [("/labels/a b", "out-of-range")]),
    ({"labels": {"a~/b c": None}}, "out-of-range", [("/labels/a~0~1b c", "out-of-range")]),
    ({"labels": {"": "x"}}, "out-of-range", [("/labels/", "out-of-range")]),
    ({"labels": {"k" * 64: "x"}}, "out-of-range", [("/labels/" + "k" * 64, "out-of-range")]),
    ({"labels": {"a": "x" * 256}}, "out-of-range", [("/labels/a", "out-of-range")]),
    ({"labels": {f"n{number}": None for number in range(129)}}, "out-of-range", [("/labels", "out-of-range")]),
    ({"labels": {"one-more": "x"}}, "out-of-range", [("/labels", "out-of-range")]),
    ({"note": "x" * 4097}, "out-of-range", [("/note", "out-of-range")]),
    ({"note": 5}, "wrong-type", [("/note", "wrong-type")]),
    ({"lables": {}}, "unknown-member", [("/lables", "unknown-member")]),
    ({"id": "an_x"}, "unknown-member", [("/id", "unknown-member")]),
    ({"note": 5, "labels": {"a": 1}}, "wrong-type", [("/note", "wrong-type"), ("/labels/a", "wrong-type")]),
]


def test_what_cannot_be_is_refused_and_nothing_changes(client: Client) -> None:
    made = keep(client, labels=FULL, note="n")
    for patch, code, faults in REFUSED:
        assert problem(change(client, made, patch)) == (422, code, faults)
    assert client.get(made.headers["location"]).content == made.content


def test_labels_are_counted_as_they_will_be(client: Client) -> None:
    made = keep(client, labels=FULL)
    others = {f"n{number}": "w" for number in range(64)}
    changed = change(client, made, {"labels": {**dict.fromkeys(FULL), **others}})
    assert (changed.status_code, changed.json()["labels"]) == (200, dict(sorted(others.items())))
    more = client.post("/v1/analyses", json={**QUESTION, "labels": {"one-more": "x"}})
    assert problem(more) == (422, "out-of-range", [("/labels", "out-of-range")])
    assert client.post("/v1/analyses", json={**QUESTION, "labels": {"n0": "kept"}}).content == changed.content


def test_of_50_who_change_one_version_exactly_one_does(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    app = create_app(settings, catalogue=catalogue, database=database)
    together = Barrier(WRITERS, timeout=60)
    with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as reader:
        path = reader.post("/v1/analyses", json=QUESTION).headers["location"]
        tags: dict[int, str] = {}

        def write(writer: int) -> list[tuple[int, str]]:
            outcomes = []
            with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                for round_ in range(ROUNDS):
                    if together.wait() == 0:
                        tags[round_] = reader.get(path).headers["etag"]
                    together.wait()
                    body = json.dumps({"note": f"{round_} by {writer}", "labels": {"winner": str(writer)}})
                    connection.request("PATCH", path, body, {"if-match": tags[round_], "content-type": "application/json"})
                    answer = connection.getresponse()
                    outcomes.append((answer.status, json.loads(answer.read()).get("note") or "-"))
            return outcomes

        with ThreadPoolExecutor(WRITERS) as pool:
            rounds = list(zip(*pool.map(write, range(WRITERS)), strict=True))
        for outcomes in rounds:
            assert sorted(status for status, _ in outcomes) == [200] + [412] * (WRITERS - 1)
        winner = next(writer for writer, (status, _) in enumerate(rounds[-1]) if status == 200)
        last = reader.get(path).json()
        assert (last["note"], last["labels"]) == (f"{ROUNDS - 1} by {winner}", {"winner": str(winner)})
        assert [item["id"] for item in reader.get("/v1/analyses", params={"label": f"winner:{winner}"}).json()["items"]] == [last["id"]]
    app.state.service.pools.close()


def test_what_is_recomputed_stands_beside_what_was_kept_and_changes_nothing(client: Client) -> None:
    made = keep(client, note="first")
    path, headers = made.headers["location"], {"content-type": "application/json"}
    again = client.post(f"{path}/recompute")
    assert (again.status_code, again.headers["content-type"]) == (200, "application/json")
    body = again.json()
    assert (body["id"], body["recomputed"]["id"], body["difference"]["attributed_to"]) == (made.json()["id"], made.json()["id"], [])
    assert body["stored"]["result"] == made.json()["result"]
    assert client.post(f"{path}/recompute", json={}).json()["stored"] == body["stored"]
    asked = client.post(f"{path}/recompute", json={"target": {"chip": "nvidia-b200"}})
    assert problem(asked) == (422, "unknown-member", [("/target", "unknown-member")])
    assert client.get(path).content == made.content
    assert client.request("DELETE", path, headers=headers).status_code == 204
    assert problem(client.post(f"{path}/recompute")) == (404, "not-found", [])
