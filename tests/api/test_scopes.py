"""Every operation of `openapi.yaml` with every scope, and with keys that are none: who is let in, and what the others are told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
import yaml
from fastapi import FastAPI
from fastapi.routing import APIRoute

from service.api.routes import docs
from service.api.routes.all import all_routes
from service.api.routes.router import Routes
from service.api.routing import StrictRoute, refuse_undeclared
from service.catalogue import Catalogue
from service.schemas.scopes import SCOPES, Scope
from service.settings import Settings
from service.storage import Database, migrate, open_database

from .conftest import Client
from .holders import CHALLENGE, bearing, expired, issued, reached, revoked
from .test_every_route import NAMES, problem

CONTRACT: dict[str, Any] = yaml.safe_load((Path(__file__).parents[2] / "openapi.yaml").read_text())
OPERATIONS = {(method.upper(), path): described for path, methods in CONTRACT["paths"].items() for method, described in methods.items()}
PUBLIC = {"/livez", "/readyz", "/problems/{code}"}
UNKNOWN = "rlk_" + "a" * 16 + "_" + "a" * 52
NO_KEYS = {"garbage": "hunter2", "unknown": UNKNOWN, "empty": ""}


def needed(described: dict[str, Any]) -> Scope | None:
    """The scope that an operation needs."""
    scopes = {scope for way in described["security"] for named in way.values() for scope in named}
    assert len(scopes) <= 1
    return next(iter(scopes), None)


@pytest.fixture(scope="module")
def holders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, dict[str, str]]]:
    """A database and the secrets of its keys: one for each scope alone, one that has expired and one that was revoked with all."""
    database = open_database(None, Path(tmp_path_factory.mktemp("keys")))
    migrate.ensure(database)
    tokens: dict[str, str] = {scope: issued(database, scope).token for scope in SCOPES}
    yield database, {**tokens, "expired": expired(database, *SCOPES), "revoked": revoked(database, *SCOPES), **NO_KEYS}
    database.close()


@pytest.fixture(scope="module")
def guarded(settings: Settings, catalogue: Catalogue, holders: tuple[Database, dict[str, str]]) -> Iterator[Client]:
    with reached(settings, catalogue, holders[0]) as client:
        yield client


def asked(client: Client, method: str, path: str, headers: dict[str, str]) -> httpx.Response:
    """An operation with names that exist or do not, and without a body: what is let in changes nothing."""
    return client.request(method, path.format_map(NAMES), headers={"x-request-id": "matrix", **headers})


def refusal(status: int, code: str, title: str, detail: str) -> dict[str, Any]:
    return {"type": f"/problems/{code}", "title": title, "status": status, "detail": detail, "code": code, "request_id": "matrix"}


def test_every_operation_says_which_scope_it_needs() -> None:
    assert {path for (_, path), described in OPERATIONS.items() if described["security"] == []} == PUBLIC
    named = {needed(described) for described in OPERATIONS.values()} - {None}
    assert named <= set(get_args(Scope)) == set(SCOPES)
    assert {needed(described) for (_, path), described in OPERATIONS.items() if path.startswith("/v1/keys")} == {"admin"}
    for (_, path), described in OPERATIONS.items():
        ways = ["key", "cell_key"] if path.startswith("/v1/cell") else ["key"]
        assert path in PUBLIC or described["security"] == [*({way: [needed(described)]} for way in ways), {}]
        assert path in PUBLIC or {"401", "403", "429", "503"} <= set(described["responses"])


@pytest.mark.parametrize(("method", "path"), sorted(OPERATIONS))
def test_an_operation_lets_in_the_keys_with_its_scope_and_no_others(
    guarded: Client, holders: tuple[Database, dict[str, str]], method: str, path: str
) -> None:
    need = needed(OPERATIONS[method, path])
    allowed = {need, "evaluate"} if need == "cell" else {need}
    for holder, token in holders[1].items():
        answer = asked(guarded, method, path, bearing(token))
        if need is None or holder in allowed:
            assert answer.status_code not in {401, 403, 429, 503}
        elif holder in SCOPES:
            detail = f"This needs a key with the scope `{need}`."
            assert answer.json() == refusal(403, "scope-missing", "This is not allowed", detail)
            assert answer.headers["www-authenticate"] == f'{CHALLENGE}, error="insufficient_scope", scope="{need}"'
        else:
            detail = "This key is not in use: it is unknown, expired or revoked."
            assert answer.json() == refusal(401, "unauthenticated", "A key is needed", detail)
            assert answer.headers["www-authenticate"] == f'{CHALLENGE}, error="invalid_token"'
        assert ("ratelimit" in answer.headers) is (need is not None and holder in SCOPES)


@pytest.mark.parametrize(("method", "path"), sorted(OPERATIONS))
def test_an_operation_without_a_key(guarded: Client, client: Client, method: str, path: str) -> None:
    """Beyond this machine it is refused, on the loopback it is let in; who sends no key is told nothing of shares."""
    need = needed(OPERATIONS[method, path])
    answer = asked(guarded, method, path, {})
    if need is None:
        assert answer.status_code in {200, 404}
    else:
        detail = f"This needs a key with the scope `{need}`. Send it as `Authorization: Bearer …`."
        assert answer.json() == refusal(401, "unauthenticated", "A key is needed", detail)
        assert answer.headers["www-authenticate"] == CHALLENGE
    on_loopback = asked(client, method, path, {})
    assert on_loopback.status_code not in {401, 403, 429, 503}
    assert "ratelimit" not in {*answer.headers, *on_loopback.headers}


def test_what_is_not_in_the_contract_is_documentation_and_needs_no_key() -> None:
    hidden = {route.path: route.need for route in all_routes() if isinstance(route, StrictRoute) and not route.include_in_schema}
    assert set(hidden.values()) == {"public"}
    assert {path.split("/")[1].split(".")[0] for path in hidden} == {"docs", "openapi", "favicon"}


def test_a_route_without_a_scope_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="scope"):
        Routes("tag").get("/v1/open")  # type: ignore[call-arg]


def test_a_service_with_a_route_that_declares_no_scope_does_not_start(
    settings: Settings, catalogue: Catalogue, shared_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endpoint() -> None: ...

    undeclared = Routes("tag")
    undeclared.routes.append(APIRoute("/v1/open", endpoint))
    with pytest.raises(TypeError, match="These routes declare no scope: /v1/open"):
        refuse_undeclared([*all_routes(), *undeclared.routes])
    monkeypatch.setattr(docs, "routes", undeclared)
    with pytest.raises(TypeError, match="/v1/open"), reached(settings, catalogue, shared_database):
        pass


def test_every_route_of_a_service_declares_one(app: FastAPI) -> None:
    refuse_undeclared(app.router.routes)


def test_a_chart_shows_saved_analyses_only_to_who_may_read_them(guarded: Client, holders: tuple[Database, dict[str, str]]) -> None:
    question = {"analyses": ["an_x"]}
    refused = guarded.post("/v1/charts/roofline", json=question, headers=bearing(holders[1]["evaluate"]))
    assert problem(refused, 403, "scope-missing")["detail"] == "This needs a key with the scope `read`."
    both = issued(holders[0], "evaluate", "read").token
    problem(guarded.post("/v1/charts/roofline", json=question, headers=bearing(both)), 422, "unknown-analysis")
