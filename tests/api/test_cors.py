"""Pages of other origins: those that the settings name may ask and read, no others, and nothing is said to all."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import Client
from .holders import QUESTION, bearing, issued, reached
from .test_every_route import problem

PAGE = "https://tools.example.org"
OTHER = "https://tools.example.org:8443"
ASKING = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type"}


@pytest.fixture(scope="module")
def guarded(settings: Settings, catalogue: Catalogue, shared_database: Database) -> Iterator[Client]:
    with reached(settings, catalogue, shared_database, allowed_origins=(PAGE, "http://localhost:3000")) as client:
        yield client


def said(answer: httpx.Response) -> dict[str, str]:
    """What an answer says to browsers about pages of other origins."""
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


SHOWN = {
    "access-control-allow-origin": PAGE,
    "access-control-expose-headers": (
        "content-disposition, etag, link, location, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id"
    ),
}


def test_a_page_asks_first_and_is_told_what_it_may(guarded: Client) -> None:
    answer = guarded.request("OPTIONS", "/v1/analyses", headers={"origin": PAGE, **ASKING})
    assert (answer.status_code, answer.content, answer.headers["vary"]) == (204, b"", "Origin")
    assert said(answer) == {
        **SHOWN,
        "access-control-allow-methods": "GET, HEAD, OPTIONS, POST",
        "access-control-allow-headers": "authorization, content-type, if-match, if-none-match, idempotency-key, x-request-id",
        "access-control-max-age": "600",
    }


def test_a_page_reads_answers_and_refusals(guarded: Client, shared_database: Database) -> None:
    key = bearing(issued(shared_database, "evaluate").token)
    answered = guarded.post("/v1/evaluate", json=QUESTION, headers={"origin": PAGE, **key})
    refused = guarded.post("/v1/evaluate", json=QUESTION, headers={"origin": PAGE})
    absent = guarded.get("/none", headers={"origin": PAGE})
    assert [answer.status_code for answer in (answered, refused, absent)] == [200, 401, 404]
    for answer in (answered, refused, absent):
        assert (said(answer), answer.headers["vary"]) == (SHOWN, "Origin")


def test_answers_that_have_several_forms_vary_by_both(guarded: Client, shared_database: Database) -> None:
    key = bearing(issued(shared_database, "read").token)
    answer = guarded.get("/v1/chips", headers={"origin": PAGE, **key})
    assert answer.headers.get_list("vary") == ["Accept", "Origin"]


@pytest.mark.parametrize("origin", [OTHER, "http://tools.example.org", "https://evil.example.org", "null", "*"])
@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST"])
def test_other_pages_are_refused_and_told_nothing(guarded: Client, origin: str, method: str) -> None:
    answer = guarded.request(method, "/v1/analyses", headers={"origin": origin, **ASKING})
    problem(answer, 403, "origin-not-allowed")
    assert (said(answer), answer.headers["vary"]) == ({}, "Origin")


def test_who_is_no_page_is_told_only_that_pages_would_be(guarded: Client) -> None:
    answer = guarded.get("/livez")
    assert (said(answer), answer.headers["vary"]) == ({}, "Origin")
    assert said(guarded.request("OPTIONS", "/livez", headers=ASKING)) == {}


def test_the_services_own_pages_need_none_of_it(guarded: Client) -> None:
    assert said(guarded.get("/livez", headers={"origin": "http://127.0.0.1:8000"})) == {}


def test_without_the_setting_nothing_is_said(client: Client) -> None:
    answer = client.get("/livez")
    assert (said(answer), "vary" in answer.headers) == ({}, False)
    assert said(client.get("/livez", headers={"origin": PAGE})) == {}
