"""Documents as rows: every number and word of a document stands in a cell that its way there names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from service.analysis.evaluate import answer
from service.analysis.sheets import rows
from service.analysis.units import unit
from service.catalogue import Catalogue, load
from service.schemas.evaluate import Question
from service.schemas.reading import validate
from service.tables.limits import LONGEST_TEXT

MESH = {"chip": "nvidia-h100-sxm", "mesh": [{"name": "x", "size": 8, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10}]}
SHARDED = {
    "op": {"kind": "matmul", "m": 512, "k": 8192, "n": 8192, "dtype": "bf16"},
    "target": MESH,
    "sharding": {"a": [None, "x"], "b": ["x", None], "out": [None, None]},
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


@pytest.fixture(scope="module")
def document(catalogue: Catalogue) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(answer(validate(Question, SHARDED), catalogue).text)
    return found


def leaves(value: Any) -> Iterator[Any]:
    """The numbers and words of a document, those in lists too."""
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(each)
    elif value is not None:
        yield value


def test_nothing_of_a_document_is_lost(document: dict[str, Any]) -> None:
    """What identifies an entry of a list is in the name of its columns, and the rest is in a cell, alone or in a JSON text."""
    cells = rows.row(document)
    told: list[Any] = []
    for value in cells.values():
        told += [value] if not (isinstance(value, str) and value[:1] in "[{") else list(leaves(orjson.loads(value)))
    steps = {step for name in cells for step in name.split(".")}
    assert all(leaf in told or leaf in steps for leaf in leaves(document))


def test_names_are_the_way_to_the_value(document: dict[str, Any]) -> None:
    cells, result = rows.row(document), document["result"]
    assert cells["result.layers.hbm.time_s"] == result["layers"]["hbm"]["time_s"]
    assert cells["target.mesh.x.bandwidth_bytes_per_s"] == 4.5e10
    (lever,) = (each for each in result["levers"] if each["change"] == "link_bandwidth_bytes_per_s")
    assert cells["result.levers.link_bandwidth_bytes_per_s.speedup"] == lever["speedup"]
    for threshold in result["thresholds"]:
        name = ".".join(threshold[key] for key in ("path", "variable", "axis") if key in threshold)
        assert cells[f"result.thresholds.{name}.exact"] == threshold["exact"]


def test_entries_that_nothing_tells_apart_stay_one_cell() -> None:
    twice = [{"name": "x", "size": 2}, {"name": "x", "size": 4}]
    assert rows.row({"axes": twice, "notes": ["a", "b"], "labels": {"a": "1"}, "empty": []}) == {
        "axes": '[{"name":"x","size":2},{"name":"x","size":4}]',
        "notes": '["a","b"]',
        "labels": '{"a":"1"}',
        "empty": None,
    }


def test_a_text_that_no_cell_holds_is_not_cut() -> None:
    assert rows.row({"notes": ["x" * (LONGEST_TEXT - 4)]})["notes"] == f'["{"x" * (LONGEST_TEXT - 4)}"]'
    assert rows.row({"notes": ["x" * (LONGEST_TEXT - 3)]})["notes"] == rows.TOO_LONG


def test_rows_of_different_shapes_share_a_header() -> None:
    table = rows.table([{"op.m": 1, "time": 2.0}, {"op.n": 3, "time": 4.0, "op.m": 5}])
    assert (table.header, table.columns) == (("op.m", "op.n", "time"), ([1, 5], [None, 3], [2.0, 4.0]))
    assert rows.table([], ["a"]).columns == ([],)


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("hbm.bandwidth_bytes_per_s", "B/s"),
        ("hbm.capacity_bytes", "B"),
        ("on_chip_bytes_per_core", "B"),
        ("vector_peak_flops_per_s.int8", "FLOP/s"),
        ("ridge_flops_per_byte.matrix.bf16", "FLOP/B"),
        ("result.bytes.total", "B"),
        ("op.bytes", "B"),
        ("result.flops", "FLOP"),
        ("result.levers.peak_flops_per_s.lower_s_after", "s"),
        ("factors.hbm_bandwidth_bytes_per_s.lower_s_before", "s"),
        ("target.mesh.bytes.latency_s", "s"),
        ("factors.dtype_bytes.factor", None),
        ("result.levers.b_bytes.helps", None),
        ("result.thresholds.hbm.m.exact", None),
        ("target.mesh.bytes.size", None),
        ("op.dims.s", None),
        ("ratios.bytes", None),
        ("cores", None),
    ],
)
def test_units_follow_from_names(name: str, symbol: str | None) -> None:
    assert unit(name) == symbol
