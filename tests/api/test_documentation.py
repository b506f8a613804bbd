"""The contract is the committed one, is valid, describes what is answered; its page needs nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from openapi_spec_validator import validate

from service.api.app import create_app
from service.api.openapi import render
from service.api.routes.all import all_routes
from service.api.routing import StrictRoute
from service.catalogue import Catalogue
from service.engine.kinds import KINDS
from service.settings import Settings
from service.storage import migrate, open_database

from .conftest import Client

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "service" / "api" / "static"


@pytest.fixture(scope="module")
def contract(client: Client) -> dict[str, Any]:
    document: dict[str, Any] = client.get("/openapi.json").json()
    return document


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def check(document: dict[str, Any], schema: dict[str, Any], value: object) -> None:
    """Whether `value` is what `schema`, a part of the OpenAPI document, describes."""
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)


def test_the_committed_contract_is_the_generated_one() -> None:
    assert (ROOT / "openapi.yaml").read_text(encoding="utf-8") == render()


def test_it_is_served_in_both_spellings(client: Client, contract: dict[str, Any]) -> None:
    served = client.get("/openapi.yaml")
    assert (served.text, served.headers["content-type"]) == (render(), "application/yaml")
    assert yaml.safe_load(served.text) == contract


def test_it_is_valid_openapi(contract: dict[str, Any]) -> None:
    validate(contract)
    assert contract["openapi"].startswith("3.1")


def test_it_describes_every_route_but_itself_and_its_page(contract: dict[str, Any]) -> None:
    described = {(path, method.upper()) for path, method, _ in operations(contract)}
    routes = {(route.path_format, method) for route in all_routes() if isinstance(route, StrictRoute) for method in route.methods}
    undescribed = {path for path, _ in routes - described}
    assert not described - routes
    assert undescribed == {path for path in undescribed if path.startswith(("/docs", "/openapi.", "/favicon.ico"))}


def test_every_operation_names_itself_and_the_ways_it_refuses(contract: dict[str, Any]) -> None:
    identities = [operation["operationId"] for _, _, operation in operations(contract)]
    assert len(identities) == len(set(identities))
    for path, _, operation in operations(contract):
        expected = {"400", "403", "406", "408", "422", "431", "500"}
        expected |= {"404"} if "{" in path else set()
        expected |= {"413", "415", "503"} if "requestBody" in operation else set()
        expected |= {"413"} if path.startswith("/v1/charts") else set()  # a series has a limit also where it is asked for without a body
        expected |= {"413"} if path in {"/v1/cells.csv", "/v1/comparisons", "/v1/exports/analyses"} else set()
        expected |= {"409"} if path.endswith("/recompute") else set()
        expected |= {"503"} if path == "/readyz" else set()
        headers = {parameter["name"]: parameter["required"] for parameter in operation.get("parameters", ()) if parameter["in"] == "header"}
        expected |= {"401", "429", "503"} if operation["security"] else set()
        expected |= {"409"} if "requestBody" in operation and path.startswith("/v1/keys") else set()
        expected |= {"412"} if "If-Match" in headers else set()
        expected |= {"428"} if headers.get("If-Match") or {"If-Match", "If-None-Match"} <= headers.keys() else set()
        expected |= {"503"} if path.startswith(("/v1/chips", "/v1/clusters")) and operation["operationId"].startswith("delete") else set()
        assert {status for status in operation["responses"] if status >= "400"} == expected
        for status in expected:
            assert operation["responses"][status] == {"$ref": f"#/components/responses/Problem{status}"}


def test_a_tile_is_a_word_or_three_numbers(contract: dict[str, Any]) -> None:
    schemas = contract["components"]["schemas"]
    words, numbers = schemas["OptionsModel"]["properties"]["tile"]["oneOf"]
    assert words["enum"] == ["auto", "none"]
    assert schemas[numbers["$ref"].rpartition("/")[2]]["required"] == ["m", "n", "k"]


def test_every_single_resource_says_how_it_is_tagged(contract: dict[str, Any]) -> None:
    for path, methods in contract["paths"].items():
        tagged = [method for method, operation in methods.items() if "ETag" in operation["responses"].get("200", {}).get("headers", {})]
        headers = {parameter["name"] for parameter in methods.get("get", {}).get("parameters", ()) if parameter["in"] == "header"}
        is_single = path.endswith("}") or path.startswith(("/v1/meta", "/v1/batches/template", "/v1/cells"))
        assert ("get" in tagged, "If-None-Match" in headers, "304" in methods.get("get", {"responses": {}})["responses"]) == (
            is_single,
        ) * 3


def test_no_query_parameter_offers_null(contract: dict[str, Any]) -> None:
    for _, _, operation in operations(contract):
        assert not [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query" and "null" in str(each["schema"])]


@pytest.fixture
def apart(settings: Settings, catalogue: Catalogue, tmp_path: Path) -> Iterator[Client]:
    """A service of which others do not see what is added to its catalogue."""
    with closing(open_database(None, tmp_path)) as database:
        migrate.ensure(database)
        client = Client(create_app(settings, catalogue=catalogue, database=database))
        yield client
        client.close()


def test_examples_and_their_answers_are_what_their_schemas_say(apart: Client, contract: dict[str, Any]) -> None:
    count, kept = 0, apart.post("/v1/analyses", json={**QUESTIONS[2], "target": {"chip": "nvidia-h100-sxm"}}).json()["id"]
    key = apart.post("/v1/keys", json={"name": "example", "scopes": ["read"]}).json()["id"]
    for path, method, operation in operations(contract):
        if "requestBody" in operation:
            media = operation["requestBody"]["content"]["application/json"]
            for example in media["examples"].values():
                check(contract, media["schema"], example["value"])
                asked = {"base": kept, "others": [kept]} if path == "/v1/comparisons" else example["value"]
                condition = {"if-none-match": "*"} if method == "put" else {"if-match": "*"}
                address = path.format(id=key if "/keys/" in path else kept, ref=f"made-{count}")
                answer = apart.request(method.upper(), address, json=asked, headers=condition)
                check(contract, operation["responses"][str(answer.status_code)]["content"]["application/json"]["schema"], answer.json())
                count += 1
    assert count >= 8


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ("/v1/chips", "/v1/chips?limit=200"),
        ("/v1/chips/{ref}", "/v1/chips/nvidia-h100-sxm"),
        ("/v1/chips/{id}/revisions", "/v1/chips/nvidia-h100-sxm/revisions"),
        ("/v1/clusters", "/v1/clusters?limit=200"),
        ("/v1/clusters/{ref}", "/v1/clusters/hgx-h100-8"),
        ("/v1/clusters/{id}/revisions", "/v1/clusters/tpu-v5p-pod/revisions"),
        ("/v1/ops", "/v1/ops"),
        ("/v1/ops/{kind}", "/v1/ops/matmul"),
        ("/v1/meta", "/v1/meta"),
        ("/v1/analyses", "/v1/analyses"),
        ("/problems/{code}", "/problems/unknown-chip"),
        ("/livez", "/livez"),
        ("/readyz", "/readyz"),
    ],
)
def test_answers_are_what_their_schema_says(client: Client, contract: dict[str, Any], template: str, path: str) -> None:
    schema = contract["paths"][template]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema
    check(contract, schema, client.get(path).json())


QUESTIONS: list[dict[str, Any]] = [
    {"op": {"kind": "matmul", "m": [1, 512], "k": 8192, "n": 8192, "batch": [1, 2], "dtype": "bf16"}},
    {"op": {"kind": "matmul", "sequences": 8, "sequence_length": 128, "k": 8192, "n": 8192, "dtype": "int8"}, "options": {"explain": True}},
    {"ops": [{"kind": "matmul", "m": 1, "k": 2, "n": 3, "dtype": "bf16", "count": 4}, {"kind": "dot", "n": 5, "dtype": "fp32"}]},
    {
        "op": {"kind": "dot", "n": [1, 2, 3], "dtype": "fp32"},
        "target": {"chip": {"peak_flops_per_s": {"bf16": 1e14}, "hbm": {"bandwidth_bytes_per_s": 1e12}}},
    },
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_rooflines_are_what_their_schema_says(client: Client, contract: dict[str, Any], question: dict[str, Any]) -> None:
    operation = contract["paths"]["/v1/evaluate"]["post"]
    question = {"target": {"chip": "nvidia-h100-sxm"}, **question}
    check(contract, operation["requestBody"]["content"]["application/json"]["schema"], question)
    answer = client.post("/v1/evaluate", json=question)
    assert answer.status_code == 200
    check(contract, operation["responses"]["200"]["content"]["application/json"]["schema"], answer.json())


def test_a_saved_analysis_is_what_its_schema_says(client: Client, contract: dict[str, Any]) -> None:
    kept = client.post("/v1/analyses", json={**QUESTIONS[2], "target": {"chip": "nvidia-h100-sxm"}, "labels": {"for": "test"}})
    schema = contract["paths"]["/v1/analyses/{id}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    check(contract, schema, client.get(kept.headers["location"]).json())


def test_problems_are_what_their_schema_says(client: Client, contract: dict[str, Any]) -> None:
    for answer in (client.get("/v1/chips/none"), client.get("/v1/chips?limit=0"), client.post("/v1/evaluate", json={})):
        schema = contract["components"]["responses"][f"Problem{answer.status_code}"]["content"]["application/problem+json"]["schema"]
        check(contract, schema, answer.json())


def test_the_page_loads_only_what_the_service_has(client: Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    references = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert references
    for reference in references:
        assert reference.startswith("/")
        assert client.get(reference).status_code == 200
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|javascript:", page.text)


def test_its_policy_keeps_scripts_and_connections_to_the_service(client: Client) -> None:
    policy = dict(part.split(" ", 1) for part in client.get("/docs").headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["style-src"] == "'self' 'unsafe-inline'"
    assert policy["img-src"] == "'self' data:"
    assert not policy.keys() & {"script-src", "connect-src"}


def test_our_own_files_name_no_other_host() -> None:
    for file in ("docs.html", "docs.js", "docs.css"):
        assert "//" not in re.sub(r"^// .*$", "", (STATIC / file).read_text(), flags=re.MULTILINE)
    assert "url(" not in re.sub(r'url\("?data:', "", (STATIC / "swagger-ui" / "swagger-ui.css").read_text())
    assert "validatorUrl: null" in (STATIC / "docs.js").read_text()


def test_its_licence_comes_with_it() -> None:
    assert "Apache License" in (STATIC / "swagger-ui" / "LICENSE").read_text()
    assert "SmartBear" in (STATIC / "swagger-ui" / "NOTICE").read_text()


def test_limits_that_lists_have_are_stated(contract: dict[str, Any], client: Client) -> None:
    """As `/v1/meta` has them: what a client generates from the contract can hold them before it asks."""
    limits, schemas = client.get("/v1/meta").json()["limits"], contract["components"]["schemas"]
    (columns,) = (each for each in schemas["MatmulOp"]["properties"]["k"]["oneOf"] if each["type"] == "array")
    (ops,) = (each for each in schemas["Question"]["properties"]["ops"]["anyOf"] if each["type"] == "array")
    chart = schemas["ChartQuestion"]["properties"]
    assert columns["maxItems"] == limits["rows"]
    assert ops["maxItems"] == limits["ops"]
    assert schemas["Comparison"]["properties"]["cases"]["maxItems"] == limits["cases"]
    assert (chart["cases"]["maxItems"], chart["analyses"]["maxItems"]) == (limits["cases"], limits["cases"])
    assert chart["points"]["maximum"] == limits["chart_points"]
    assert schemas["SavedComparison"]["properties"]["others"]["maxItems"] == limits["compared"]


def test_headers_that_tell_where_and_when_are_stated(contract: dict[str, Any]) -> None:
    kept = contract["paths"]["/v1/analyses"]["post"]["responses"]
    assert all({"ETag", "Location"} <= set(kept[status]["headers"]) for status in ("200", "201"))
    assert "Retry-After" in contract["components"]["responses"]["Problem503"]["headers"]


def test_kinds_of_ops_are_listed(contract: dict[str, Any]) -> None:
    schemas = contract["components"]["schemas"]
    assert schemas["OpKind"]["enum"] == [*KINDS]
    assert schemas["SavedKind"]["enum"] == [*KINDS, "ops"]
    (path,) = (each for each in contract["paths"]["/v1/ops/{kind}"]["get"]["parameters"] if each["name"] == "kind")
    (query,) = (each for each in contract["paths"]["/v1/analyses"]["get"]["parameters"] if each["name"] == "kind")
    assert (path["schema"]["enum"], query["schema"]["$ref"]) == ([*KINDS], "#/components/schemas/SavedKind")
