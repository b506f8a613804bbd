"""The answers say in words what the replies show in numbers, also of the items that a page leaves out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from .conversation import fresh_service, read
from .pages import README, ROOT, Block, exchanges

QUESTIONS = ROOT / "docs" / "questions-and-answers.md"


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    with fresh_service() as client:
        yield client


def under(page: Path, heading: str) -> Block:
    """The request below a heading."""
    text = page.read_text(encoding="utf-8")
    start = text.index(f"# {heading}\n")
    return next(asked for asked, _ in exchanges(text) if asked.start > start)


def reply(service: httpx.Client, page: Path, heading: str) -> Any:
    asked = read(under(page, heading))
    answer = service.request(asked.method, asked.target, headers=asked.headers, content=asked.body)
    assert answer.status_code == 200
    return json.loads(answer.text)


def test_one_call_has_the_batch_of_every_chip_or_says_why_not(service: httpx.Client) -> None:
    found = reply(service, README, "Every chip in one call")
    catalogue = service.get("/v1/chips", params={"limit": 200}).json()["items"]
    asked = [each["target"]["chip"] for each in found["cases"]]
    assert sorted(asked + [each["chip"] for each in found["excluded"]]) == sorted(each["ref"] for each in catalogue)
    for each in found["cases"]:
        (threshold,) = each["result"]["thresholds"]
        assert (threshold["variable"], each["result"]["bound"]) == ("m", "hbm" if threshold["exact"] > 64 else "compute")
    assert all(each["errors"][0]["code"] == "unsupported-dtype" for each in found["excluded"])
    assert [threshold_of(each) for each in found["cases"][:3]] == [310, 17, 113]


def threshold_of(case: dict[str, Any]) -> int:
    """The first whole number of tokens with which arithmetic takes longer."""
    return int(case["result"]["thresholds"][0]["exact"]) + 1


def test_a_dot_product_is_bound_by_memory_on_every_chip(service: httpx.Client) -> None:
    found = reply(service, QUESTIONS, "Is there a chip on which a dot product is bound by compute?")
    assert {each["result"]["bound"] for each in found["cases"]} == {"hbm"}
    assert all("vector unit" in each["errors"][0]["detail"] for each in found["excluded"])


def test_the_formats_change_bytes_and_peak_as_told(service: httpx.Client) -> None:
    bf16, int8, weights8, weights4, fp8, unshared = reply(service, QUESTIONS, "Which format of numbers gives what?")["cases"]
    assert len({each["result"]["flops"] for each in (bf16, int8, weights8, weights4, fp8, unshared)}) == 1
    for eight in (int8, fp8):
        assert eight["ratios"]["bytes"] == 0.5
        assert eight["ratios"]["threshold"] == pytest.approx(1, rel=1e-3)
        assert eight["cancels"][0]["causes"] == ["dtype_bytes", "peak_flops_per_s"]
    assert [weights8["ratios"]["threshold"], weights4["ratios"]["threshold"]] == [0.5, 0.25]
    assert {each["cause"]: each["factor"] for each in weights8["factors"]}["peak_flops_per_s"] == 1
    assert round(unshared["ratios"]["bytes"]) == 63


def test_the_explanation_goes_in_the_order_of_thinking(service: httpx.Client) -> None:
    found = reply(service, QUESTIONS, "Where does the time of a layer go, and what should I look at first?")
    assert list(found["result"]["explain"]) == ["flops", "bytes", "intensity", "where", "overlap"]


def test_the_roof_is_a_slope_and_a_plateau(service: httpx.Client) -> None:
    chart = reply(service, QUESTIONS, "What does the roofline of a chip look like?")
    bandwidth, peak, *_ = (each["value"] for each in chart["ceilings"])
    series = chart["series"][0]
    assert series["y"] == [min(peak, bandwidth * x) for x in series["x"]]
