"""`Idempotency-Key` over HTTP: the first answer again, byte for byte, and never two effects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import Client
from .counting import value
from .holders import bearing, issued, reached

OP = {"kind": "dot", "n": 77, "dtype": "fp32"}
QUESTION: dict[str, Any] = {"op": OP, "target": {"chip": "nvidia-h100-sxm"}, "labels": {"a": "1"}}
ON_A_FILE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
KEY = {"idempotency-key": '"8e03978e-40d5-43dd-bc93-6894a57f9324"'}


@pytest.fixture
def client(settings: Settings, catalogue: Catalogue, database: Database) -> Iterator[Client]:
    client = Client(create_app(settings, catalogue=catalogue, database=database))
    yield client
    client.close()


def keep(client: Client, headers: dict[str, str] | list[tuple[str, str]], **members: Any) -> httpx.Response:
    return client.post("/v1/analyses", json={**QUESTION, **members}, headers=headers)


def said(answer: httpx.Response) -> tuple[int, bytes, str, str]:
    return answer.status_code, answer.content, answer.headers["location"], answer.headers["etag"]


def test_the_first_answer_comes_again_whatever_has_become_of_the_analysis(
    client: Client, settings: Settings, catalogue: Catalogue, database: Database
) -> None:
    first = keep(client, KEY)
    assert first.status_code == 201
    assert "idempotency-replayed" not in first.headers
    path = first.headers["location"]
    assert client.request("PATCH", path, json={"labels": {"b": "2"}}, headers={"if-match": "*"}).status_code == 200
    changed = keep(client, KEY)
    assert client.request("DELETE", path).status_code == 204
    deleted = keep(client, KEY)
    restarted = Client(create_app(settings, catalogue=catalogue, database=database))
    after_a_restart = keep(restarted, KEY)
    restarted.close()
    for again in (changed, deleted, after_a_restart):
        assert said(again) == said(first)
        assert again.headers["idempotency-replayed"] == "true"
    assert client.get(path).status_code == 404  # nothing was made by any of them
    assert value(client.get("/metrics").text, "roofline_idempotent_replays_total") == 2
    assert value(client.get("/metrics").text, "roofline_analyses_saved_total", outcome="new") == 1
    assert keep(client, {}).status_code == 201


def test_the_answer_to_a_question_that_was_known_is_repeated_as_such(client: Client) -> None:
    keep(client, {})
    first = keep(client, KEY)
    assert first.status_code == 200
    assert said(keep(client, KEY)) == said(first)


def test_callers_with_keys_of_their_own_hear_nothing_of_each_other(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    ann, ben = (bearing(issued(database, "write", "read").token) for _ in range(2))
    with reached(settings, catalogue, database) as guarded:
        first = keep(guarded, {**KEY, **ann})
        other = keep(guarded, {**KEY, **ben}, labels={"b": "2"})
        assert (first.status_code, other.status_code) == (201, 200)
        assert "idempotency-replayed" not in other.headers
        assert other.json()["labels"] == {"a": "1", "b": "2"}
        for holder, answer, labels in ((ann, first, {"a": "1"}), (ben, other, {"b": "2"})):
            again = keep(guarded, {**KEY, **holder}, labels=labels)
            assert said(again) == said(answer)
            assert again.headers["idempotency-replayed"] == "true"


def test_another_request_under_the_same_key_is_refused(client: Client) -> None:
    keep(client, KEY)
    refused = keep(client, {**KEY, "x-request-id": "ours"}, labels={"a": "2"})
    assert refused.status_code == 422
    assert refused.json() == {
        "type": "/problems/idempotency-key-reused",
        "title": "The request is not acceptable",
        "status": 422,
        "detail": "1 problem.",
        "code": "idempotency-key-reused",
        "request_id": "ours",
        "errors": [
            {
                "pointer": "/header/idempotency-key",
                "code": "idempotency-key-reused",
                "detail": "This key came with another request; send a new one with a new request.",
                "suggestions": [],
            }
        ],
    }
    assert client.get("/v1/analyses").json()["items"][0]["labels"] == {"a": "1"}


@ON_A_FILE
def test_a_body_is_the_same_that_says_the_same(client: Client) -> None:
    """Members in another order, blanks, and letters that are escaped make no other request."""
    first = keep(client, KEY, note="größer")
    turned = json.dumps(dict(reversed({**QUESTION, "note": "größer"}.items())), indent=2)
    again = client.post("/v1/analyses", content=turned, headers={**KEY, "content-type": "application/json"})
    assert said(again) == said(first)


@ON_A_FILE
def test_what_was_refused_may_be_sent_again_under_its_key_when_it_is_mended(client: Client) -> None:
    assert keep(client, KEY, op={**OP, "n": 0}).status_code == 422
    assert keep(client, KEY).status_code == 201


@ON_A_FILE
def test_a_key_may_stand_in_quotation_marks_or_not(client: Client) -> None:
    first = keep(client, {"idempotency-key": "abc-1"})
    assert said(keep(client, {"idempotency-key": ' "abc-1" '})) == said(first)
    assert keep(client, {"idempotency-key": '"abc-2"'}).status_code == 200


@ON_A_FILE
def test_what_cannot_be_a_key_is_refused(client: Client) -> None:
    for key in ("", " ", '""', '"', 'a"b', '"a', "a b", "x" * 256, '"' + "x" * 256 + '"', "a\tb", "größer", "a\\b"):
        refused = client.request("POST", "/v1/analyses", json=QUESTION, headers=[("idempotency-key", key.encode())])
        assert [(fault["pointer"], fault["code"]) for fault in refused.json()["errors"]] == [("/header/idempotency-key", "out-of-range")]
    refused = keep(client, [("idempotency-key", "a"), ("idempotency-key", "b")])
    assert refused.json()["errors"][0]["pointer"] == "/header/idempotency-key"
    assert client.get("/v1/analyses").json()["items"] == []


@ON_A_FILE
def test_the_longest_key_serves(client: Client) -> None:
    first = keep(client, {"idempotency-key": '"' + "x" * 255 + '"'})
    assert said(keep(client, {"idempotency-key": "x" * 255})) == said(first)


@ON_A_FILE
def test_what_keeps_nothing_takes_no_notice_of_a_key(client: Client) -> None:
    question = {"op": OP, "target": QUESTION["target"]}
    one = client.post("/v1/evaluate", json=question, headers=KEY)
    other = client.post("/v1/evaluate", json={**question, "op": {**OP, "n": 78}}, headers=KEY)
    assert (one.status_code, other.status_code) == (200, 200)
    assert one.content != other.content
