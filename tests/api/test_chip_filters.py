"""Chips by vendor, kind, arithmetic, year and words: each filter against the same question in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from service.catalogue import Catalogue
from service.engine.dtypes import ALIASES, CLASSES, DTYPES

from .conftest import Client

Item = dict[str, Any]


def has_peak(item: Item, arithmetic: str) -> bool:
    return arithmetic in item.get("peak_flops_per_s", {}) or arithmetic in item.get("vector_peak_flops_per_s", {})


def says(item: Item, *words: str) -> bool:
    return all(any(word in str(item[name]).lower() for name in ("id", "name", "architecture")) for word in words)


FILTERS: dict[tuple[str, str], Callable[[Item], bool]] = {
    ("vendor", "amd"): lambda item: item["vendor"] == "amd",
    ("vendor", "nvidia"): lambda item: item["vendor"] == "nvidia",
    ("kind", "tpu"): lambda item: item["kind"] == "tpu",
    ("kind", "gpu"): lambda item: item["kind"] == "gpu",
    ("year", "2022"): lambda item: item["launch_year"] == 2022,
    ("dtype", "fp8"): lambda item: has_peak(item, "fp8"),
    ("dtype", "nvfp4"): lambda item: has_peak(item, "fp4"),
    ("dtype", "bfloat16"): lambda item: has_peak(item, "bf16"),
    ("text", "h100"): lambda item: says(item, "h100"),
    ("text", "HOPPER"): lambda item: says(item, "hopper"),
    ("text", "  nvl  Hopper "): lambda item: says(item, "nvl", "hopper"),
}


@pytest.fixture(scope="module")
def everything(client: Client) -> list[Item]:
    items: list[Item] = client.get("/v1/chips?limit=200").json()["items"]
    return items


def test_every_filter_and_every_two_of_them_give_what_plain_python_gives(client: Client, everything: list[Item]) -> None:
    found = 0
    for chosen in (*itertools.combinations(FILTERS, 1), *itertools.combinations(FILTERS, 2)):
        query = dict(chosen)
        if len(query) == len(chosen):
            expected = [item for item in everything if all(FILTERS[each](item) for each in chosen)]
            assert client.get("/v1/chips?limit=200&" + urlencode(query)).json() == {"items": expected, "next_cursor": None, "limit": 200}, (
                query
            )
            found += len(expected)
    assert found > 200


def test_every_format_is_understood(client: Client, everything: list[Item]) -> None:
    for name in (*CLASSES, *DTYPES, *ALIASES):
        arithmetic = name if name in CLASSES else DTYPES[ALIASES.get(name, name)].arithmetic
        items = client.get(f"/v1/chips?limit=200&dtype={name}").json()["items"]
        assert items == [item for item in everything if has_peak(item, arithmetic)], name


def test_every_item_has_the_ridge_of_each_peak(everything: list[Item]) -> None:
    for item in everything:
        for unit, peaks in {"matrix": "peak_flops_per_s", "vector": "vector_peak_flops_per_s"}.items():
            bandwidth = item["hbm"]["bandwidth_bytes_per_s"]
            assert item["ridge_flops_per_byte"].get(unit, {}) == {name: peak / bandwidth for name, peak in item.get(peaks, {}).items()}


@pytest.mark.parametrize("query", ["vendor=nvidia", "dtype=fp8&kind=gpu", "text=nvidia&year=2022"])
def test_pages_of_a_narrowed_list_are_that_list(client: Client, query: str) -> None:
    whole = client.get(f"/v1/chips?limit=200&{query}").json()["items"]
    items, cursor = [], ""
    while True:
        page = client.get(f"/v1/chips?limit=2&{query}{cursor}").json()
        items += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert items == whole


def test_a_cursor_belongs_to_one_list_and_its_filters(client: Client) -> None:
    cursors = {
        path: client.get(f"{path}{'&' if '?' in path else '?'}limit=1").json()["next_cursor"]
        for path in ("/v1/chips", "/v1/chips?vendor=nvidia", "/v1/chips?text=nvidia", "/v1/clusters", "/v1/ops")
    }
    assert all(cursors.values())
    for path, (origin, cursor) in itertools.product((*cursors, "/v1/chips/nvidia-h100-sxm/revisions"), cursors.items()):
        answer = client.get(f"{path}{'&' if '?' in path else '?'}cursor={cursor}")
        assert answer.status_code == (200 if path == origin else 422)
        if path != origin:
            assert [(each["pointer"], each["code"]) for each in answer.json()["errors"]] == [("/query/cursor", "out-of-range")]


@pytest.mark.parametrize(
    ("query", "pointer", "code", "suggestion"),
    [
        ({"vendor": "nvida"}, "/query/vendor", "out-of-range", "nvidia"),
        ({"vendor": "NVIDIA"}, "/query/vendor", "out-of-range", "nvidia"),
        ({"vendor": ""}, "/query/vendor", "out-of-range", None),
        ({"vendor": "'; DROP"}, "/query/vendor", "out-of-range", None),
        ({"kind": "gpus"}, "/query/kind", "out-of-range", "gpu"),
        ({"kind": "null"}, "/query/kind", "out-of-range", None),
        ({"dtype": "bf17"}, "/query/dtype", "unknown-dtype", "bf16"),
        ({"dtype": "nvfp5"}, "/query/dtype", "unknown-dtype", "nvfp4"),
        ({"dtype": ""}, "/query/dtype", "unknown-dtype", None),
        ({"year": "1999"}, "/query/year", "out-of-range", None),
        ({"year": "2022.0"}, "/query/year", "wrong-type", None),
        ({"year": "two"}, "/query/year", "wrong-type", None),
        ({"text": ""}, "/query/text", "out-of-range", None),
        ({"text": "  "}, "/query/text", "out-of-range", None),
        ({"text": "x" * 201}, "/query/text", "out-of-range", None),
        ({"text": "a\0"}, "/query/text", "out-of-range", None),
        ({"vender": "amd"}, "/query/vender", "unknown-parameter", "vendor"),
    ],
)
def test_what_no_chip_can_be_is_refused(client: Client, query: dict[str, str], pointer: str, code: str, suggestion: str | None) -> None:
    answer = client.get(f"/v1/chips?{urlencode(query)}")
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert (fault["pointer"], fault["code"], suggestion in (None, *fault["suggestions"])) == (pointer, code, True)
    assert "DROP" not in answer.text


@pytest.mark.parametrize("query", [{"text": "no such words"}, {"year": "2099"}, {"text": "%_'\"\\😀"}, {"vendor": "apple", "dtype": "fp4"}])
def test_what_no_chip_is_gives_an_empty_list(client: Client, query: dict[str, str]) -> None:
    assert client.get("/v1/chips", params=query).json() == {"items": [], "next_cursor": None, "limit": 50}


def test_the_vendors_that_a_refusal_names_are_those_of_the_catalogue(client: Client, catalogue: Catalogue) -> None:
    (fault,) = client.get("/v1/chips?vendor=x").json()["errors"]
    assert fault["detail"].endswith(f"There are {', '.join(sorted({chip.vendor for chip in catalogue.chips}))}.")
