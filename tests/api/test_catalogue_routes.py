"""Chips and ops over HTTP: pages, revisions, tags of content."""

from __future__ import annotations

import pytest

from service.catalogue import Catalogue
from service.engine.kinds import KINDS

from .conftest import Client

PAGED = [
    "/v1/chips",
    "/v1/chips/nvidia-h100-sxm/revisions",
    "/v1/clusters",
    "/v1/clusters/hgx-h100-8/revisions",
    "/v1/ops",
    "/v1/analyses",
]


@pytest.mark.parametrize("limit", [1, 7, 50, 200])
def test_the_pages_of_a_list_are_the_list(client: Client, catalogue: Catalogue, limit: int) -> None:
    items, cursor, pages = [], "", 0
    while True:
        page = client.get(f"/v1/chips?limit={limit}" + (f"&cursor={cursor}" if cursor else "")).json()
        assert page["limit"] == limit
        assert len(page["items"]) <= limit
        items += page["items"]
        pages += 1
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert items == [chip.summary() for chip in catalogue.chips]
    assert pages == -(-len(catalogue.chips) // limit)


def test_a_list_has_50_items_unless_asked_otherwise(client: Client) -> None:
    assert client.get("/v1/chips").json()["limit"] == 50


@pytest.mark.parametrize("path", PAGED)
@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        ("limit=0", "/query/limit", "out-of-range"),
        ("limit=201", "/query/limit", "out-of-range"),
        ("limit=9999999999999999999999", "/query/limit", "wrong-type"),
        ("limit=", "/query/limit", "wrong-type"),
        ("limit=+5", "/query/limit", "wrong-type"),
        ("limit=%205", "/query/limit", "wrong-type"),
        ("limit=1_0", "/query/limit", "wrong-type"),
        ("limit=05", "/query/limit", "wrong-type"),
        ("limit=5.0", "/query/limit", "wrong-type"),
        ("limit=٥", "/query/limit", "wrong-type"),
        ("limit=true", "/query/limit", "wrong-type"),
        ("limit=5&limit=5", "/query/limit", "invalid-request"),
        ("limti=5", "/query/limti", "unknown-parameter"),
        ("cursor=x", "/query/cursor", "out-of-range"),
        ("cursor=bnVsbA", "/query/cursor", "out-of-range"),
        ("cursor=%00", "/query/cursor", "out-of-range"),
        ("cursor=" + "x" * 2000, "/query/cursor", "out-of-range"),
    ],
)
def test_a_bad_parameter_is_refused_at_its_name(client: Client, path: str, query: str, pointer: str, code: str) -> None:
    answer = client.get(f"{path}?{query}")
    assert answer.status_code == 422
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [(pointer, code)]


def test_a_chip_says_all_that_is_known_of_it(client: Client, catalogue: Catalogue) -> None:
    chip = catalogue.chip("nvidia-h100-sxm")
    assert client.get("/v1/chips/nvidia-h100-sxm").json() == chip.document()
    assert client.get(f"/v1/chips/{chip.ref}").json() == chip.document()


def test_every_chip_can_be_read(client: Client, catalogue: Catalogue) -> None:
    assert {client.get(f"/v1/chips/{chip.id}").status_code for chip in catalogue.chips} == {200}


def test_revisions_say_why_they_were_made(client: Client, catalogue: Catalogue) -> None:
    revisions = client.get("/v1/chips/nvidia-h100-sxm/revisions").json()["items"]
    assert [(each["revision"], each["reason"]) for each in revisions] == [
        (chip.revision, chip.reason) for chip in catalogue.revisions("nvidia-h100-sxm")
    ]


def test_a_name_in_the_path_is_met_with_suggestions(client: Client) -> None:
    answer = client.get("/v1/chips/nvidia-h100")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert "nvidia-h100-sxm" in answer.json()["suggestions"]


SINGLE = [
    "/v1/chips/nvidia-h100-sxm",
    "/v1/clusters/hgx-h100-8",
    "/v1/ops/matmul",
    "/v1/meta",
    "/problems/missing",
    "/openapi.yaml",
    "/docs",
]


@pytest.mark.parametrize("path", SINGLE)
def test_a_resource_that_the_caller_has_is_not_sent_again(client: Client, path: str) -> None:
    first = client.get(path)
    tag = first.headers["etag"]
    assert tag.startswith('"')
    for condition in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        for method in ("GET", "HEAD"):
            again = client.request(method, path, headers={"if-none-match": condition})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert client.get(path, headers={"if-none-match": '"other"'}).status_code == 200
    assert client.get(path).headers["etag"] == tag


def test_ops_come_with_an_example_that_works_as_it_stands(client: Client) -> None:
    ops = client.get("/v1/ops").json()["items"]
    assert [op["kind"] for op in ops] == sorted(KINDS)
    for op in ops:
        assert client.get(f"/v1/ops/{op['kind']}").json() == op
        assert op["description"]
        assert op["formulas"]["source"]
        answered = client.post("/v1/evaluate", json=op["example"])
        assert (answered.status_code, answered.json()["op"]["kind"]) == (200, op["kind"])


def test_meta_says_versions_limits_and_formats(client: Client, catalogue: Catalogue) -> None:
    meta = client.get("/v1/meta").json()
    assert {name: meta[name] for name in ("service_version", "engine_version", "document_version", "catalogue_digest", "limits")} == {
        "service_version": "0.1.0",
        "engine_version": "0.1.0",
        "document_version": 4,
        "catalogue_digest": catalogue.digest,
        "limits": {
            "header_bytes": 32768,
            "body_bytes": 8388608,
            "json_depth": 32,
            "object_members": 10000,
            "list_limit": 200,
            "ops": 1000,
            "rows": 100000,
            "cases": 100,
            "compared": 50,
            "compared_ops": 2500,
            "compared_bytes": 64 * 2**20,
            "candidates": 256,
            "ranked_ops": 10_000,
            "ranked_layouts": 100_000,
            "chart_points": 2048,
            "table_bytes": 16 * 2**20,
            "table_rows": 100_000,
            "table_columns": 512,
            "table_cells": 2**21,
            "table_groups": 10_000,
            "cells": 1000,
            "keys": 1000,
            "exported_analyses": 100_000,
            "key_requests_per_minute": 30_000,
        },
    }
    formats = {each.pop("name"): each for each in meta["number_formats"]}
    assert formats["mxfp4"] == {"aliases": [], "bits": 4, "arithmetic": "fp4", "scale_group": 32, "scale_bits": 8}
    assert formats["fp8_e4m3"] == {
        "aliases": ["fp8", "float8_e4m3fn"],
        "bits": 8,
        "arithmetic": "fp8",
        "scale_group": None,
        "scale_bits": None,
    }
