"""How many requests a key may make: counted, told in every answer, refused beyond, and forgotten in the end."""

from __future__ import annotations

import re
import time

import pytest

from service.api.quota import Quota
from service.catalogue import Catalogue
from service.errors import RateLimited
from service.settings import Settings
from service.storage import Database

from .holders import CELL, QUESTION, bearing, issued, reached
from .test_every_route import problem


def test_a_key_hears_what_is_left_and_is_refused_beyond_its_share(settings: Settings, catalogue: Catalogue, database: Database) -> None:
    token, other = issued(database, "evaluate").token, issued(database, "evaluate").token
    with reached(settings, catalogue, database, key_requests_per_minute=3) as client:
        sent = [
            client.post("/v1/evaluate", json=QUESTION, headers=bearing(token)),
            client.get("/v1/chips", headers=bearing(token)),
            client.post("/v1/evaluate", json={}, headers=bearing(token)),
        ]
        assert [each.status_code for each in sent] == [200, 403, 422]  # a refusal is a request too
        for left, answer in zip((2, 1, 0), sent, strict=True):
            assert answer.headers["ratelimit-policy"] == '"key";q=3;w=60'
            told = re.fullmatch(r'"key";r=(\d+);t=(\d+)', answer.headers["ratelimit"])
            assert told is not None
            assert (int(told[1]), 1 <= int(told[2]) <= 60) == (left, True)
        refused = client.post("/v1/evaluate", json=QUESTION, headers=bearing(token))
        wait_s = int(refused.headers["retry-after"])
        assert 1 <= wait_s <= 60
        assert problem(refused, 429, "rate-limited")["detail"] == f"The key may make 3 requests in 60 s; go on in {wait_s} s."
        assert refused.headers["ratelimit"] == f'"key";r=0;t={wait_s}'
        told_as_text = client.get(f"{CELL}&on_error=text", headers=bearing(token))
        assert (told_as_text.status_code, told_as_text.text[:19]) == (200, "#ERR rate-limited: ")
        assert client.post("/v1/evaluate", json=QUESTION, headers=bearing(other)).status_code == 200
        assert client.get("/livez", headers=bearing(token)).status_code == 200


def test_the_share_is_told_as_data(settings: Settings, catalogue: Catalogue, shared_database: Database) -> None:
    with reached(settings, catalogue, shared_database, key_requests_per_minute=3, allow_unauthenticated=True) as client:
        limits = client.get("/v1/meta").json()["limits"]
    assert (limits["key_requests_per_minute"], limits["keys"]) == (3, 1000)


def test_counters_are_forgotten_with_their_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    quota, now = Quota(1), time.time()
    for number in range(100):
        quota.take(f"key_{number}", [])
    with pytest.raises(RateLimited):
        quota.take("key_0", [])
    storage = quota._limiter.storage
    assert len(storage.storage) == 100  # type: ignore[attr-defined]
    monkeypatch.setattr(time, "time", lambda: now + 61)
    quota.take("key_0", [])
    deadline = time.monotonic() + 20
    while len(storage.storage) > 1:  # type: ignore[attr-defined]
        assert time.monotonic() < deadline
        time.sleep(0.01)
