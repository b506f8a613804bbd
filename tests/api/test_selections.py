"""Exports of saved analyses by filters, on both databases: complete, in order, in parts, and bounded."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from service.analysis import selection
from service.api.app import create_app
from service.catalogue import Catalogue
from service.settings import Settings
from service.storage import Database

from .conftest import Client

COUNT = 7
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.fixture
def client(settings: Settings, catalogue: Catalogue, database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """With seven analyses, which are read in parts of three, their documents two at a time."""
    monkeypatch.setattr(selection, "PART", 3)
    monkeypatch.setattr(selection, "DOCUMENTS", 2)
    client = Client(create_app(settings, catalogue=catalogue, database=database))
    for n in range(COUNT):
        body: dict[str, Any] = {"op": {"kind": "dot", "n": n + 1, "dtype": "fp32"}, "target": {"chip": "nvidia-h100-sxm"}}
        assert client.post("/v1/analyses", json={**body, "labels": {"odd": str(n % 2)}, "note": f"=1+{n}"}).status_code == 201
    yield client
    client.close()


def listed(client: Client, query: str = "") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"/v1/analyses?limit=200&{query}").json()["items"]
    return items


def test_documents_are_those_that_their_addresses_send(client: Client) -> None:
    whole = [client.get(f"/v1/analyses/{item['id']}").content for item in listed(client)]
    lines = client.get("/v1/exports/analyses?format=ndjson")
    assert (lines.headers["content-type"], lines.content) == ("application/x-ndjson", b"".join(each + b"\n" for each in whole))
    one = client.get("/v1/exports/analyses", headers={"accept": "application/json"})
    assert one.headers["content-disposition"] == 'attachment; filename="roofline-analyses.json"'
    assert one.json() == {"items": [json.loads(each) for each in whole]}


def test_rows_are_those_of_lists(client: Client) -> None:
    one_page = client.get("/v1/analyses?limit=200&format=csv")
    assert client.get("/v1/exports/analyses?format=csv").content == one_page.content
    assert client.get("/v1/exports/analyses", headers={"accept": "text/csv"}).content == one_page.content
    assert next(csv.DictReader(io.StringIO(one_page.text)))["note"] == f"'=1+{COUNT - 1}"
    with_commas = client.get("/v1/exports/analyses?format=csv&sep=semicolon&decimal=,&bom=present")
    assert with_commas.content == client.get("/v1/analyses?limit=200&format=csv&sep=semicolon&decimal=,&bom=present").content
    book = client.get("/v1/exports/analyses", headers={"accept": XLSX})
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(book.content)).get_sheet_by_name("table")
    header, *rows = sheet.to_python()
    assert [row[header.index("id")] for row in rows] == [item["id"] for item in listed(client)]
    assert [row[header.index("lower_s [s]")] for row in rows] == [item["lower_s"] for item in listed(client)]


@pytest.mark.parametrize("query", ["label=odd:1", "order_by=lower_s&kind=dot", "text=1", "created_before=2000-01-01", "bound=network"])
def test_a_selection_is_that_of_the_list(client: Client, query: str) -> None:
    expected = [item["id"] for item in listed(client, query)]
    assert [item["id"] for item in client.get(f"/v1/exports/analyses?{query}").json()["items"]] == expected
    assert [row["id"] for row in csv.DictReader(io.StringIO(client.get(f"/v1/exports/analyses?{query}&format=csv").text))] == expected
    assert len(client.get(f"/v1/exports/analyses?{query}&format=ndjson").content.splitlines()) == len(expected)


def test_an_export_is_bounded_and_says_how_to_part_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "MAX_EXPORTED", COUNT - 1)
    refused = client.get("/v1/exports/analyses")
    assert (refused.status_code, refused.json()["code"]) == (413, "too-many-rows")
    assert "created_after" in refused.json()["detail"]
    assert client.get("/v1/exports/analyses?label=odd:1").status_code == 200


@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        ("limit=5", "/query/limit", "unknown-parameter"),
        ("cursor=x", "/query/cursor", "unknown-parameter"),
        ("lable=a:b", "/query/lable", "unknown-parameter"),
        ("format=parquet", "/query/format", "out-of-range"),
        ("format=json&sep=tab", "/query/sep", "invalid-request"),
        ("chip=nvidia-h100-sx", "/query/chip", "unknown-chip"),
        ("text=a&label=b:c", "/query/text", "invalid-request"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_sent(client: Client, query: str, pointer: str, code: str) -> None:
    refused = client.get(f"/v1/exports/analyses?{query}")
    assert (refused.status_code, [(each["pointer"], each["code"]) for each in refused.json()["errors"]]) == (422, [(pointer, code)])
