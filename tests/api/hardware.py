"""Hardware that users of the service add in the tests: a chip that nobody sells yet, and how it is put."""

from __future__ import annotations

import copy
from typing import Any

import httpx

from .conftest import Client

SHEET = "next-one-data-sheet"
NEW = {"if-none-match": "*"}


def value(number: float | str, unit: str, **more: Any) -> dict[str, Any]:
    return {"value": number, "unit": unit, "source": SHEET, **more}


CHIP: dict[str, Any] = {
    "reason": "announced",
    "confidence": "low",
    "confidence_why": "An announcement, and nothing to hold it against.",
    "name": "Next One",
    "vendor": "example",
    "kind": "gpu",
    "architecture": "First",
    "launch_year": 2027,
    "form_factor": "card",
    "compute": {"bf16": value(400, "TFLOP/s"), "fp8": value(800, "TFLOP/s")},
    "vector": {"fp32": value(25.6, "TFLOP/s")},
    "hbm": {"type": "HBM4", "capacity": value(80, "GiB"), "bandwidth": value(2.0, "TB/s", confidence="medium")},
    "cores": {"name": "core", "count": value(100, "count")},
    "matrix_unit": {"name": "matrix unit"},
    "sources": {SHEET: {"title": "Next One, data sheet", "publisher": "Example", "read": "2026-11-02"}},
}


def chip(**changes: Any) -> dict[str, Any]:
    """The chip with members in the place of its own."""
    return {**copy.deepcopy(CHIP), **changes}


def put(client: Client, path: str, body: Any, **headers: str) -> httpx.Response:
    return client.request("PUT", path, json=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


def create(client: Client, path: str, body: Any) -> httpx.Response:
    """An entry that does not exist, which must succeed."""
    answer = client.request("PUT", path, json=body, headers=NEW)
    assert answer.status_code == 201, answer.text
    return answer
