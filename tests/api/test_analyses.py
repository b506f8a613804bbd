"""Saved analyses over HTTP, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database, migrate, open_database

from .conftest import Client

MATMUL: dict[str, Any] = {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}
QUESTION: dict[str, Any] = {"op": MATMUL, "target": {"chip": "nvidia-h100-sxm"}}


@pytest.fixture
def client(settings: Settings, catalogue: Catalogue, database: Database) -> Iterator[Client]:
    client = Client(create_app(settings, catalogue=catalogue, database=database))
    yield client
    client.close()


def keep(client: Client, **members: Any) -> dict[str, Any]:
    answer = client.post("/v1/analyses", json={**QUESTION, **members})
    assert answer.status_code in {200, 201}
    kept: dict[str, Any] = answer.json()
    return kept


def test_a_question_is_kept_with_its_answer_and_read_back(client: Client) -> None:
    made = client.post("/v1/analyses", json={**QUESTION, "labels": {"team": "serving"}, "note": "größer? 😀"})
    assert made.status_code == 201
    assert made.headers["location"] == f"/v1/analyses/{made.json()['id']}"
    read = client.get(made.headers["location"])
    assert (read.status_code, read.content) == (200, made.content)
    body = read.json()
    assert list(body) == ["id", "created_at", "labels", "note", "question", "answer", "result"]
    assert (body["labels"], body["note"]) == ({"team": "serving"}, "größer? 😀")
    evaluated = client.post("/v1/evaluate", json=QUESTION)
    assert evaluated.content in read.content  # the answer is the text of evaluate, byte for byte
    assert body["answer"] == evaluated.json()
    assert body["result"] == body["answer"]["result"]
    assert body["question"] == {name: body["answer"][name] for name in ("op", "target", "options")}


def test_the_same_question_is_the_same_analysis_and_gains_absent_labels(client: Client) -> None:
    first = keep(client, labels={"a": "1"}, note="first")
    spelled_out = {**MATMUL, "batch": 1, "compute_dtype": "bf16"}
    again = client.post("/v1/analyses", json={"op": spelled_out, "target": {"chip": "nvidia-h100-sxm@1"}, "labels": {"a": "2", "b": "2"}})
    assert again.status_code == 200
    assert again.headers["location"] == f"/v1/analyses/{first['id']}"
    assert again.json() == {**first, "labels": {"a": "1", "b": "2"}}
    assert client.get(again.headers["location"]).json() == again.json()


def test_a_note_of_the_same_question_is_kept_where_there_is_none_and_the_answer_says_which_one_is(client: Client) -> None:
    op = {**MATMUL, "m": 77}
    first = keep(client, op=op)
    assert first["note"] is None
    assert keep(client, op=op, note="the first") == {**first, "note": "the first"}
    assert keep(client, op=op, note="the second") == {**first, "note": "the first"}
    assert keep(client, op=op) == {**first, "note": "the first"}


def test_it_has_a_tag_that_changes_with_its_labels(client: Client) -> None:
    path = f"/v1/analyses/{keep(client)['id']}"
    tag = client.get(path).headers["etag"]
    assert client.get(path, headers={"if-none-match": tag}).status_code == 304
    keep(client, labels={"new": "x"})
    assert client.get(path, headers={"if-none-match": tag}).status_code == 200


def test_lists_are_newest_first_and_pages_meet_every_analysis_once(client: Client) -> None:
    ids = [keep(client, op={**MATMUL, "m": m})["id"] for m in range(1, 8)]
    seen, url = [], "/v1/analyses?limit=3"
    while url:
        page = client.get(url).json()
        seen += [item["id"] for item in page["items"]]
        url = f"/v1/analyses?limit=3&cursor={page['next_cursor']}" if page["next_cursor"] else ""
    assert seen == ids[::-1]


def test_lists_can_be_narrowed(client: Client) -> None:
    compute = keep(client, labels={"team": "a:b"})["id"]
    memory = keep(client, op={**MATMUL, "m": 1})["id"]
    elsewhere = keep(client, target={"chip": "google-tpu-v5e"})["id"]
    dot = keep(client, op={"kind": "dot", "n": 5, "dtype": "fp32"})["id"]
    found = {
        query: {item["id"] for item in client.get(f"/v1/analyses?{query}").json()["items"]}
        for query in (
            "bound=compute", "bound=hbm", "kind=matmul", "kind=ops", "chip=google-tpu-v5e", "chip=nvidia-h100-sxm@1",
            "chip=apple-m1-max", "label=team:a:b", "label=team:a", "kind=matmul&bound=hbm&chip=nvidia-h100-sxm",
        )
    }  # fmt: skip
    assert found == {
        "bound=compute": {compute, elsewhere},
        "bound=hbm": {memory, dot},
        "kind=matmul": {compute, memory, elsewhere},
        "kind=ops": set(),
        "chip=google-tpu-v5e": {elsewhere},
        "chip=nvidia-h100-sxm@1": {compute, memory, dot},
        "chip=apple-m1-max": set(),
        "label=team:a:b": {compute},
        "label=team:a": set(),
        "kind=matmul&bound=hbm&chip=nvidia-h100-sxm": {memory},
    }
    assert [item["id"] for item in client.get("/v1/analyses?order_by=lower_s&limit=1").json()["items"]] == [dot]


def test_a_list_of_ops_is_kept_under_its_own_kind(client: Client) -> None:
    made = client.post("/v1/analyses", json={"ops": [MATMUL, {**MATMUL, "m": 1, "count": 3}], "target": QUESTION["target"]})
    assert made.status_code == 201
    (item,) = client.get("/v1/analyses?kind=ops").json()["items"]
    assert (item["id"], item["kind"], item["chip"], item["dtype"]) == (made.json()["id"], "ops", "nvidia-h100-sxm@1", "bf16")
    assert item["lower_s"] == made.json()["result"]["totals"]["time"]["lower_s"]


@pytest.mark.parametrize(
    ("members", "pointer", "code"),
    [
        ({"op": {**MATMUL, "m": [1, 2]}}, "/op/m", "use-batches"),
        ({"labels": {"a b": "x"}}, "/labels/a b", "out-of-range"),
        ({"labels": {"a": 1}}, "/labels/a", "wrong-type"),
        ({"labels": {"a": "x" * 256}}, "/labels/a", "out-of-range"),
        ({"labels": {f"k{index}": "" for index in range(65)}}, "/labels", "out-of-range"),
        ({"labels": []}, "/labels", "wrong-type"),
        ({"note": "x" * 4097}, "/note", "out-of-range"),
        ({"note": 5}, "/note", "wrong-type"),
        ({"lables": {}}, "/lables", "unknown-member"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is_kept(client: Client, members: dict[str, Any], pointer: str, code: str) -> None:
    refused = client.post("/v1/analyses", json={**QUESTION, **members})
    assert refused.status_code == 422
    assert [(error["pointer"], error["code"]) for error in refused.json()["errors"]] == [(pointer, code)]
    assert client.get("/v1/analyses").json() == {"items": [], "next_cursor": None, "limit": 50}


HOSTILE = [
    "'; DROP TABLE analyses; --",
    "<script>alert(1)</script>",
    "%s %d {0} ${x}",
    "=1+1",
    "\u202eabc",
    "\ufeff",
    "e\u0301",
    "日本語",
    "😀" * 10,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_as_it_was(client: Client, text: str) -> None:
    kept = keep(client, labels={"a": text}, note=text)
    assert (kept["labels"], kept["note"]) == ({"a": text}, text)
    assert client.get("/v1/analyses", params={"label": f"a:{text}"}).json()["items"][0]["id"] == kept["id"]


def test_both_databases_give_the_same_bytes(
    settings: Settings, catalogue: Catalogue, client: Client, database: Database, tmp_path: Path
) -> None:
    """The moment of creation apart, an analysis does not depend on where it is kept."""
    other = open_database(None, tmp_path / "other")
    migrate.ensure(other)
    second = Client(create_app(settings, catalogue=catalogue, database=other))
    bodies = []
    for each in (client, second):
        body = orjson.loads(each.post("/v1/analyses", json={**QUESTION, "labels": {"b": "é", "a": "😀"}}).content)
        body.pop("created_at")
        bodies.append(orjson.dumps(body))
    second.close()
    other.close()
    assert bodies[0] == bodies[1]


def test_without_a_database_pure_routes_answer_and_the_others_say_why(settings: Settings, catalogue: Catalogue) -> None:
    nowhere = open_database("postgresql://user:hunter2@127.0.0.1:1/none", None, wait_s=1)
    client = Client(create_app(settings, catalogue=catalogue, database=nowhere))
    assert client.post("/v1/evaluate", json=QUESTION).status_code == 200
    assert [client.get(path).status_code for path in ("/livez", "/v1/chips", "/v1/meta")] == [200, 200, 200]
    answers = [
        client.post("/v1/analyses", json=QUESTION),
        client.get("/v1/analyses"),
        client.get("/v1/analyses/an_x"),
        client.get("/readyz"),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (503, "database-unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        assert "hunter2" not in answer.text
    client.close()
    nowhere.close()
