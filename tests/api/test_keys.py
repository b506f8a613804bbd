"""Keys over HTTP, on both databases: made, shown once, listed, rotated, revoked; and what they may make in their turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select

from service.catalogue import Catalogue
from service.schemas.keys import DAY_S
from service.settings import Settings
from service.storage import Database, KeyStore
from service.storage.tables import IDEMPOTENCY_KEYS

from .conftest import Client
from .holders import QUESTION, bearing, issued, reached
from .test_every_route import faults, problem

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture
def guarded(settings: Settings, catalogue: Catalogue, database: Database) -> Iterator[Client]:
    with reached(settings, catalogue, database) as client:
        yield client


@pytest.fixture
def admin(database: Database) -> dict[str, str]:
    return bearing(issued(database, "admin", "evaluate", lifetime_s=30 * DAY_S).token)


def test_the_life_of_a_key(guarded: Client, admin: dict[str, str]) -> None:
    made = guarded.post("/v1/keys", json={"name": "sheet", "scopes": ["cell", "evaluate"], "lifetime_s": 3600}, headers=admin)
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    document = made.json()
    secret = document.pop("secret")
    path = f"/v1/keys/{document['id']}"
    assert made.headers["location"] == path
    created, expires = document["created_at"], document["expires_at"]
    assert MOMENT.fullmatch(created)
    assert MOMENT.fullmatch(expires)
    never = {"revoked_at": None, "last_used_at": None}
    about = {"id": document["id"], "name": "sheet", "scopes": ["evaluate", "cell"]}
    assert document == {**about, "status": "active", "created_at": created, "issued_at": created, "expires_at": expires, **never}
    shown = guarded.get(path, headers=admin)
    assert (shown.json(), secret in shown.text) == (document, False)
    assert guarded.get(path, headers={**admin, "if-none-match": shown.headers["etag"]}).status_code == 304

    assert guarded.post("/v1/evaluate", json=QUESTION, headers=bearing(secret)).status_code == 200
    rotated = guarded.post(f"{path}/rotate", json={}, headers=admin)
    assert (rotated.status_code, rotated.headers["cache-control"]) == (200, "no-store")
    fresh = rotated.json()
    other = fresh.pop("secret")
    assert other != secret
    assert fresh["issued_at"] > created
    assert {**fresh, "issued_at": created, "expires_at": expires, "last_used_at": None} == document

    for _ in range(2):
        gone = guarded.request("DELETE", path, headers=admin)
        assert (gone.status_code, gone.content) == (204, b"")
    listed = guarded.get("/v1/keys", headers=admin).json()
    assert [(each["name"], each["status"]) for each in listed["items"]] == [("sheet", "revoked"), ("a program", "active")]
    assert listed["items"][0]["revoked_at"] is not None
    problem(guarded.post(f"{path}/rotate", json={}, headers=admin), 409, "conflict")


def test_an_answer_with_a_secret_is_kept_for_no_repetition(guarded: Client, admin: dict[str, str], database: Database) -> None:
    headers = {**admin, "idempotency-key": "once"}
    made = guarded.post("/v1/keys", json={"name": "x", "scopes": ["evaluate"]}, headers=headers)
    name = issued(database, "evaluate").key.id
    digest = KeyStore(database).get(name).digest
    for answer in (made, guarded.post(f"/v1/keys/{name}/rotate", json={}, headers=headers)):
        assert list(faults(answer, "invalid-request")) == [("/header/idempotency-key", "invalid-request")]
    assert KeyStore(database).get(name).digest == digest
    assert {each["name"] for each in guarded.get("/v1/keys", headers=admin).json()["items"]} == {"a program"}
    assert database.read(lambda connection: connection.execute(select(IDEMPOTENCY_KEYS)).all()) == []


def test_a_key_makes_no_key_that_can_do_more_or_lives_longer(guarded: Client, admin: dict[str, str], database: Database) -> None:
    stronger = guarded.post("/v1/keys", json={"name": "x", "scopes": ["read", "evaluate"]}, headers=admin)
    assert problem(stronger, 403, "scope-missing")["detail"] == "This needs a key with the scope `read`."
    longer = guarded.post("/v1/keys", json={"name": "x", "scopes": ["evaluate"], "lifetime_s": 31 * DAY_S}, headers=admin)
    assert list(faults(longer, "out-of-range")) == [("/lifetime_s", "out-of-range")]
    strong = issued(database, "write").key
    problem(guarded.post(f"/v1/keys/{strong.id}/rotate", json={}, headers=admin), 403, "scope-missing")
    assert guarded.post("/v1/keys", json={"name": "x", "scopes": ["admin", "cell"]}, headers=admin).status_code == 201


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": ""}, [("/name", "out-of-range")]),
        ({"name": "  "}, [("/name", "out-of-range")]),
        ({"name": "a\u0007"}, [("/name", "malformed-json")]),
        ({"name": "x" * 101}, [("/name", "out-of-range")]),
        ({"scopes": []}, [("/scopes", "out-of-range")]),
        ({"scopes": ["raed"]}, [("/scopes/0", "out-of-range")]),
        ({"scopes": "read"}, [("/scopes", "wrong-type")]),
        ({"lifetime_s": 0}, [("/lifetime_s", "out-of-range")]),
        ({"lifetime_s": 367 * DAY_S}, [("/lifetime_s", "out-of-range")]),
        ({"lifetime_s": 1.5}, [("/lifetime_s", "wrong-type")]),
        ({"expires": 1}, [("/expires", "unknown-member")]),
    ],
)
def test_a_key_that_cannot_be_meant_is_refused(client: Client, changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    answer = client.post("/v1/keys", json={"name": "x", "scopes": ["read"], **changes})
    if expected[0][1] == "malformed-json":
        problem(answer, 400, "malformed-json")
    else:
        assert list(faults(answer, expected[0][1])) == expected


def test_where_everyone_is_let_in_keys_are_still_made_by_keys_alone(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    """What everyone can do ends when the service is started otherwise, and a key would not."""
    with reached(settings, catalogue, database, allow_unauthenticated=True) as client:
        assert client.post("/v1/evaluate", json=QUESTION).status_code == 200
        problem(client.post("/v1/keys", json={"name": "x", "scopes": ["admin"]}), 401, "unauthenticated")
        problem(client.get("/v1/keys"), 401, "unauthenticated")
        assert client.get("/v1/keys", headers=bearing(issued(database, "admin").token)).status_code == 200
