"""What holds for every route, whatever it does: methods, slashes, parameters, media types, doors, request ids."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI

from service.api.codes import CODES
from service.api.routes.all import all_routes
from service.api.routing import StrictRoute

from .conftest import Client

CLUSTER = {"ref": "hgx-h100-8", "id": "hgx-h100-8"}
NAMES = {
    "ref": "nvidia-h100-sxm",
    "id": "nvidia-h100-sxm",
    "kind": "matmul",
    "code": "unknown-chip",
    "metric": "time_s",
    "analysis_id": "an_x",
}


def named(route: StrictRoute) -> str:
    """The path of `route` with names that exist."""
    return route.path_format.format_map({**NAMES, **(CLUSTER if "/clusters" in route.path_format else {})})


ROUTES = [route for route in all_routes() if isinstance(route, StrictRoute)]
PATHS = sorted({named(route) for route in ROUTES})
READABLE = sorted({named(route) for route in ROUTES if "GET" in route.methods})
BODILESS = {"/v1/analyses/{id}/recompute"}
WRITABLE = sorted(
    {(method, named(route)) for route in ROUTES if route.path_format not in BODILESS for method in route.methods & {"POST", "PUT", "PATCH"}}
)


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, object]:
    """The problem document of `answer`, whose members are all as they must be."""
    body: dict[str, object] = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, body["status"], body["code"], body["type"]) == (status, status, code, f"/problems/{code}")
    assert body["title"] == CODES[code].title
    assert body["request_id"] == answer.headers["x-request-id"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    return body


def faults(answer: httpx.Response, code: str) -> Iterator[tuple[str, str]]:
    for fault in problem(answer, 422, code)["errors"]:  # type: ignore[attr-defined]
        yield fault["pointer"], fault["code"]


def test_every_route_is_one_of_ours(app: FastAPI) -> None:
    assert all(isinstance(route, StrictRoute) for route in app.router.routes)
    assert len(app.router.routes) == len(ROUTES)


@pytest.mark.parametrize("path", ["/v1%2Fchips", "/v1%2fchips", "/v1/chips%2Fnvidia-h100-sxm", "%2Fv1/chips", "/v1/chips%2F"])
def test_a_slash_that_is_escaped_parts_no_names(client: Client, path: str) -> None:
    problem(client.get(path), 404, "not-found")


@pytest.mark.parametrize("path", READABLE)
def test_head_is_get_without_the_body(client: Client, path: str) -> None:
    get, head = client.get(path), client.request("HEAD", path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    varies = get.status_code >= 400 or path == "/metrics"  # the problem holds the id, and counts change
    unequal = {"x-request-id"} | ({"content-length"} if varies else set())
    assert {name: value for name, value in head.headers.items() if name not in unequal} == {
        name: value for name, value in get.headers.items() if name not in unequal
    }


@pytest.mark.parametrize("path", PATHS)
def test_options_and_405_tell_the_methods(client: Client, path: str) -> None:
    allowed = {method for route in ROUTES if named(route) == path for method in route.methods} | {"OPTIONS"}
    allowed |= {"HEAD"} if "GET" in allowed else set()
    options = client.request("OPTIONS", path)
    assert (options.status_code, options.content, set(options.headers["allow"].split(", "))) == (204, b"", allowed)
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} - allowed:
        answer = client.request(method, path)
        problem(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == options.headers["allow"]


@pytest.mark.parametrize("path", PATHS)
def test_a_trailing_slash_is_another_address(client: Client, path: str) -> None:
    for method in ("GET", "POST", "OPTIONS", "HEAD"):
        assert client.request(method, path + "/").status_code == 404
    problem(client.get(path + "/"), 404, "not-found")


@pytest.mark.parametrize("path", READABLE)
def test_unknown_parameters_are_refused(client: Client, path: str) -> None:
    found = client.get(path, params={"zzz": "hostile", "yy/y": ""}).json()["errors"]
    assert [each["pointer"] for each in found if each["code"] == "unknown-parameter"] == ["/query/zzz", "/query/yy~1y"]


@pytest.mark.parametrize(("method", "path"), WRITABLE)
def test_unknown_parameters_are_refused_with_what_is_wrong_with_the_body(client: Client, method: str, path: str) -> None:
    of_body = client.request(method, path, json={}).json().get("errors", [])
    answer = client.request(method, path, params={"zzz": "hostile"}, json={})
    of_query, *others = answer.json()["errors"]
    assert answer.status_code == 422
    assert (of_query["pointer"], of_query["code"]) == ("/query/zzz", "unknown-parameter")
    assert others == of_body


@pytest.mark.parametrize("path", READABLE)
def test_a_query_that_is_not_utf8_is_refused(client: Client, path: str) -> None:
    problem(client.get(path + "?limit=%ff"), 400, "not-utf8")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("accept", ["font/ttf", "application/xml;q=0.9, image/*", "*/*;q=0", "nonsense", "*/*;q=x"])
def test_what_a_client_does_not_accept_is_not_sent(client: Client, path: str, accept: str) -> None:
    if accept == "application/xml;q=0.9, image/*" and client.get(path).headers["content-type"].startswith("image/"):
        accept = "application/xml;q=0.9"
    method = "GET" if path in READABLE else "POST"
    problem(client.request(method, path, headers={"accept": accept}), 406, "not-acceptable")


@pytest.mark.parametrize("path", READABLE)
@pytest.mark.parametrize("accept", ["", "*/*", "font/ttf;q=1, */*;q=0.001", "font/ttf;q=0, */*"])
def test_what_a_client_accepts_is_sent(client: Client, path: str, accept: str) -> None:
    assert client.get(path, headers={"accept": accept}).status_code == client.get(path).status_code != 406


@pytest.mark.parametrize(("method", "path"), WRITABLE)
@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": ""},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/jsonx"},
        {"content-type": "application/json; charset=latin-1"},
        {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)
def test_a_body_of_another_type_is_refused(client: Client, method: str, path: str, headers: dict[str, str]) -> None:
    problem(client.request(method, path, content=b"{}", headers=headers), 415, "unsupported-media-type")


@pytest.mark.parametrize(("method", "path"), WRITABLE)
@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'])
def test_json_in_utf8_is_read(client: Client, method: str, path: str, content_type: str) -> None:
    assert client.request(method, path, content=b"[]", headers={"content-type": content_type}).status_code == 422


@pytest.mark.parametrize("path", [*PATHS, "/no/such/path"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_foreign_pages_and_names_stay_out(client: Client, path: str, method: str) -> None:
    problem(client.request(method, path, headers={"origin": "https://example.org"}), 403, "origin-not-allowed")
    problem(client.request(method, path, headers={"origin": "null"}), 403, "origin-not-allowed")
    problem(client.request(method, path, headers={"host": "example.org"}), 403, "host-not-allowed")


@pytest.mark.parametrize("path", [*PATHS, "/no/such/path"])
def test_a_sane_request_id_comes_back(client: Client, path: str) -> None:
    assert client.get(path, headers={"x-request-id": "mine-1.2:3_4"}).headers["x-request-id"] == "mine-1.2:3_4"
    for hostile in ("", "a b", "x" * 129, "<script>"):
        assert client.get(path, headers={"x-request-id": hostile}).headers["x-request-id"] not in {"", hostile}


def test_request_ids_differ(client: Client) -> None:
    assert len({client.get("/livez").headers["x-request-id"] for _ in range(50)}) == 50


@pytest.mark.parametrize("path", ["/", "/v1", "/v2/chips", "/v1/chips//revisions", "//livez", "/docs/%2e%2e/app.py"])
def test_what_is_not_there_is_a_404(client: Client, path: str) -> None:
    assert problem(client.get(path), 404, "not-found")["detail"] == "There is nothing at this address."


UNKNOWN = ["no-such-name", "%00", "a%0ab", "%ff", "é", "%F0%9F%98%80", "x" * 5000, "'; DROP TABLE analyses; --", "example@", "example@99"]


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("route", sorted({route.path_format for route in ROUTES if route.param_convertors and "GET" in route.methods}))
def test_a_name_that_does_not_exist_is_a_404_without_an_echo(client: Client, route: str, name: str) -> None:
    path = route
    for variable in NAMES:
        path = path.replace("{" + variable + "}", name)
    answer = client.request("POST" if route in BODILESS else "GET", path)
    problem(answer, 404, "not-found")
    assert "DROP" not in answer.text
    assert "xxxx" not in answer.text
