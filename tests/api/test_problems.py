"""Problem documents as a whole, the list of all codes, and what leaves the process when it fails."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from starlette.responses import Response

from service import errors
from service.api.answers import answer, written
from service.api.app import create_app
from service.api.call import Call
from service.api.codes import CODES
from service.api.routing import StrictRoute
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import Client

QUESTION = {"op": {"kind": "matmul", "m": 1, "k": 1, "n": 1, "dtype": "bf16"}, "target": {"chip": "nvidia-h100-sx"}}
IDS = {"x-request-id": "ours"}


async def fail(call: Call) -> Response:
    """Fails as only a fault of ours can."""
    raise KeyError("a secret of the process")


async def say_nan(call: Call) -> Response:
    """Answers with what JSON does not have."""
    return answer(written({"time_s": float("nan")}))


async def speak_unknown(call: Call) -> Response:
    """Refuses with a code that is not in the list."""
    raise errors.ServiceError("An unlisted refusal.", code="no-such-code")


@pytest.fixture
def failing(settings: Settings, catalogue: Catalogue, shared_database: Database) -> Iterator[Client]:
    app: FastAPI = create_app(settings, catalogue=catalogue, database=shared_database)
    app.router.routes.extend(
        StrictRoute(f"/{endpoint.__name__}", endpoint, need="public", methods=["GET"]) for endpoint in (fail, say_nan, speak_unknown)
    )
    client = Client(app)
    yield client
    client.close()


def test_a_refusal_says_what_is_wrong_where_and_what_may_be_meant(client: Client) -> None:
    refused = client.post("/v1/evaluate", json=QUESTION, headers=IDS)
    suggestions = refused.json()["errors"][0].pop("suggestions")
    assert "nvidia-h100-sxm" in suggestions
    assert refused.json() | {"errors": [error | {"suggestions": []} for error in refused.json()["errors"]]} == {
        "type": "/problems/unknown-chip",
        "title": "The request is not acceptable",
        "status": 422,
        "detail": "1 problem.",
        "code": "unknown-chip",
        "request_id": "ours",
        "errors": [{"pointer": "/target/chip", "code": "unknown-chip", "detail": "No chip has this id.", "suggestions": []}],
    }


def test_several_kinds_of_faults_are_an_invalid_request(client: Client) -> None:
    document = {"op": {"kind": "matmul", "m": 0, "k": 1, "n": 1, "dtype": "bf16"}, "target": {"chp": 1, "chip": "nvidia-h100-sxm"}}
    assert client.post("/v1/evaluate", json=document, headers=IDS).json() == {
        "type": "/problems/invalid-request",
        "title": "The request is not acceptable",
        "status": 422,
        "detail": "2 problems.",
        "code": "invalid-request",
        "request_id": "ours",
        "errors": [
            {"pointer": "/op/m", "code": "out-of-range", "detail": "The number must be at least 1.", "suggestions": []},
            {"pointer": "/target/chp", "code": "unknown-member", "detail": "There is no such member here.", "suggestions": ["chip"]},
        ],
    }


def test_a_name_in_a_path_that_does_not_exist_is_a_404_with_suggestions(client: Client) -> None:
    problem = client.get("/problems/unknown-ship", headers=IDS).json()
    assert problem.pop("suggestions")[0] == "unknown-chip"
    assert problem == {
        "type": "/problems/not-found",
        "title": "There is nothing here",
        "status": 404,
        "detail": "There is no kind of problem of this name.",
        "code": "not-found",
        "request_id": "ours",
    }


@pytest.mark.parametrize("path", ["/fail", "/say_nan", "/speak_unknown"])
def test_a_failure_is_a_500_that_tells_nothing_and_is_logged_under_its_id(
    failing: Client, capfd: pytest.CaptureFixture[str], path: str
) -> None:
    failed = failing.get(path, headers=IDS)
    assert (failed.status_code, failed.headers["content-type"]) == (500, "application/problem+json")
    assert failed.json() == {
        "type": "/problems/internal",
        "title": "The service has failed",
        "status": 500,
        "detail": "The service has failed; its log has this request under its id.",
        "code": "internal",
        "request_id": "ours",
    }
    told, counted = map(json.loads, capfd.readouterr().err.splitlines())
    assert (told["event"], told["level"], told["request_id"]) == ("request failed", "error", "ours")
    assert told["exception"].startswith("Traceback")
    assert (counted["event"], counted["level"], counted["status"], counted["code"]) == ("request", "error", 500, "internal")


@pytest.mark.parametrize("code", CODES)
def test_each_code_has_an_address_that_explains_it(client: Client, code: str) -> None:
    explained = client.get(f"/problems/{code}")
    assert explained.status_code == 200
    assert explained.json() == {
        "type": f"/problems/{code}",
        "code": code,
        "status": CODES[code].status,
        "title": CODES[code].title,
        "meaning": CODES[code].meaning,
    }


def test_meta_lists_the_same_codes(client: Client) -> None:
    assert client.get("/v1/meta").json()["problems"] == [client.get(f"/problems/{code}").json() for code in CODES]


def test_every_branch_of_the_errors_has_a_code_with_its_status() -> None:
    branches = {branch for _, branch in inspect.getmembers(errors, inspect.isclass) if issubclass(branch, errors.ServiceError)}
    statuses = {branch.__name__: CODES[branch.code].status for branch in branches}
    assert statuses == {
        "ServiceError": 500,
        "InvalidInput": 422,
        "MalformedText": 400,
        "UnsupportedType": 415,
        "NotFound": 404,
        "MethodNotAllowed": 405,
        "NotAcceptable": 406,
        "Unauthenticated": 401,
        "Forbidden": 403,
        "ScopeMissing": 403,
        "Conflict": 409,
        "OverLimit": 413,
        "RateLimited": 429,
        "Unavailable": 503,
        "Internal": 500,
    }


def test_the_list_of_codes_is_the_contract() -> None:
    by_status: dict[int, list[str]] = {}
    for code in CODES.values():
        by_status.setdefault(code.status, []).append(code.code)
    assert {status: sorted(codes) for status, codes in by_status.items()} == {
        400: ["malformed-http", "malformed-json", "not-utf8", "too-deep"],
        401: ["unauthenticated"],
        403: ["host-not-allowed", "origin-not-allowed", "read-only", "scope-missing"],
        404: ["not-found"],
        405: ["method-not-allowed"],
        406: ["not-acceptable"],
        408: ["request-timeout"],
        409: ["conflict"],
        412: ["precondition-failed"],
        413: ["body-too-large", "too-many-rows"],
        415: ["unsupported-media-type"],
        422: [
            "ambiguous-compute-dtype", "axis-repeated", "bad-sharding", "column-length", "idempotency-key-reused", "implausible-value",
            "invalid-request", "malformed-table", "missing", "not-divisible", "not-finite", "not-supported-yet", "out-of-range",
            "tile-does-not-fit", "too-large", "unknown-analysis", "unknown-axis", "unknown-chip",
            "unknown-cluster", "unknown-dtype", "unknown-member", "unknown-model",
            "unknown-op", "unknown-parameter", "unknown-revision", "unsupported-dtype", "use-batches", "wrong-type",
        ],
        428: ["precondition-required"],
        429: ["rate-limited"],
        431: ["header-too-large"],
        500: ["internal"],
        503: ["database-unavailable", "deadline-exceeded", "overloaded", "stopping"],
    }  # fmt: skip
