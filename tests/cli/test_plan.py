"""The page of a sharded op: what the chips exchange, what would do instead, and where a degree of parallelism ends."""

from __future__ import annotations

import io
import re
from typing import Any

import orjson
import pytest
from rich.console import Console

from service.analysis.evaluate import answer
from service.catalogue import Catalogue, load
from service.cli.page import page
from service.schemas.evaluate import Question
from service.schemas.reading import validate

CHIP: dict[str, Any] = {"peak_flops_per_s": {"bf16": 1.97e14}, "hbm": {"bandwidth_bytes_per_s": 8.2e11}}
LINE: dict[str, Any] = {"name": "x", "size": 2, "topology": "line", "bandwidth_bytes_per_s": 4.5e10, "latency_s": 1e-6}
TWO_CHIPS = """\
Between the chips  2 of them
     step        of   over    volume     takes  bus rate
  1  all_reduce  out  x     33.55 MB  745.7 µs   45 GB/s
  Instead:
  plan                    collectives                                     at least
  repeat the work over x  all_gather of a over x; all_gather of b over x  3.169 ms
  Whole on one chip it takes at least 1.395 ms, limited by compute.
"""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


def shown(catalogue: Catalogue, question: dict[str, Any]) -> str:
    """The page of a question, as wide as it needs."""
    asked = {"target": {"chip": CHIP, "mesh": [LINE]}, "options": {"explain": "ops" not in question}, **question}
    found = orjson.loads(answer(validate(Question, asked), catalogue).text)
    written = io.StringIO()
    console = Console(file=written, width=200, no_color=True)
    for block in page(found):
        console.print(block)
    return "".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines())


def test_two_chips_that_split_a_product(catalogue: Catalogue) -> None:
    op = {"kind": "matmul", "m": 1024, "k": 8192, "n": 16_384, "dtype": "bf16"}
    found = shown(catalogue, {"op": op, "sharding": {"a": [None, "x"], "b": ["x", None], "out": [None, None]}})
    assert found.startswith("matmul m=1024 k=8192 n=16384 dtype=bf16  on a chip given in place, a mesh of x=2\n  Limited by network")
    assert TWO_CHIPS in found
    assert "Compute and network take equally long at k = 8,756 (by the textbook 8,756); here k = 8,192." in found
    assert "Compute and network take equally long at axis_size of x = 1.936 (by the textbook 1.871); here axis_size = 2." in found


def test_a_product_that_sends_nothing(catalogue: Catalogue) -> None:
    op = {"kind": "matmul", "m": 1024, "k": 8192, "n": 16_384, "dtype": "bf16"}
    found = shown(catalogue, {"op": op, "sharding": {"a": ["x", None], "b": [None, None], "out": ["x", None]}})
    assert "  Nothing is sent.\n" in found


def test_an_exchange_for_its_steps_alone(catalogue: Catalogue) -> None:
    found = shown(catalogue, {"op": {"kind": "all_gather", "bytes": 256, "axes": ["x"]}})
    assert found.startswith("all_gather bytes=256 axes=x  on")
    assert "1 µs for its steps" in found


def test_an_exchange_with_nobody(catalogue: Catalogue) -> None:
    mesh = [{**LINE, "size": 1}]
    found = shown(catalogue, {"op": {"kind": "send", "bytes": 256, "axes": ["x"]}, "target": {"chip": CHIP, "mesh": mesh}})
    assert "Nothing is done and nothing is sent: it takes no time." in found


def test_exchanges_in_columns_and_lists(catalogue: Catalogue) -> None:
    rows = shown(catalogue, {"op": {"kind": "all_gather", "bytes": [256, 2**30], "axes": ["x"]}})
    assert "  Limits of 2 rows: network 2.\n" in rows
    listed = shown(catalogue, {"ops": [{"kind": "all_gather", "bytes": 256, "axes": ["x"]}]})
    assert re.search(r"\n  all_gather +network +1 +1 µs +100\.0 % +–\n", listed)
