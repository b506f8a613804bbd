"""What a reader of the catalogue gets: values in SI, as stated, with their sources."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from service.catalogue import Catalogue, load
from service.catalogue.record import Record

from .conftest import Folder

SHEET = {"key": "sheet", "title": "Example data sheet", "publisher": "Example"}


def rate(value: int, stated: float, unit: str = "TFLOP/s", si_unit: str = "FLOP/s") -> dict[str, Any]:
    return {"value": value, "unit": si_unit, "stated": {"value": stated, "unit": unit}, "sources": [SHEET], "confidence": "high"}


def test_a_chip_is_told_whole(folder: Folder) -> None:
    chip = load(folder.root).chip("example-1")
    assert chip.document() == {
        "id": "example-1",
        "ref": "example-1@1",
        "digest": chip.digest,
        "origin": "shipped",
        "revision": 1,
        "reason": "first entry",
        "confidence": "high",
        "confidence_why": "A data sheet.",
        "name": "Example One",
        "vendor": "example",
        "kind": "gpu",
        "architecture": "First",
        "launch_year": 2024,
        "form_factor": "card",
        "peak_flops_per_s": {"bf16": rate(400_000_000_000_000, 400), "fp8": rate(800_000_000_000_000, 800)},
        "vector_peak_flops_per_s": {"fp32": rate(25_600_000_000_000, 25.6)},
        "hbm": {
            "type": "HBM3",
            "capacity_bytes": rate(80 * 2**30, 80, "GiB", "B"),
            "bandwidth_bytes_per_s": rate(2_000_000_000_000, 2.0, "TB/s", "B/s"),
        },
        "cores": {"name": "core", "count": rate(100, 100, "count", "count")},
        "matrix_unit": {"name": "matrix unit"},
        "on_chip": [
            {"name": "L2", "scope": "chip", "role": "l2", "capacity_bytes": rate(40 * 2**20, 40, "MiB", "B")},
            {
                "name": "scratchpad",
                "scope": "core",
                "role": "tile",
                "capacity_bytes": rate(256 * 1024, 256, "KiB", "B"),
                "usable_bytes": {**rate(228 * 1024, 228, "KiB", "B"), "note": "the rest is kept back"},
            },
        ],
        "alternatives": [],
        "ridge_flops_per_byte": {"matrix": {"bf16": 200.0, "fp8": 400.0}, "vector": {"fp32": 12.8}},
        "numbers": chip.numbers(),
    }


def test_a_summary_carries_the_roofline(folder: Folder) -> None:
    chip = load(folder.root).chip("example-1")
    summary = chip.summary()
    assert summary["id"] == "example-1"
    assert summary["hbm"] == {"bandwidth_bytes_per_s": 2_000_000_000_000, "capacity_bytes": 80 * 2**30}
    assert summary["ridge_flops_per_byte"]["matrix"]["bf16"] == 200


def cells(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "sources" in value:
            yield value
        for child in value.values():
            yield from cells(child)
    elif isinstance(value, list):
        for child in value:
            yield from cells(child)


def test_every_document_is_plain_json_and_every_value_has_a_source(catalogue: Catalogue) -> None:
    entries: list[Record[Any]] = [*catalogue.chips, *catalogue.clusters, *catalogue.nics, *catalogue.collective_constants]
    for entry in entries:
        document = entry.document()
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        found = list(cells(document))
        assert found
        for cell in found:
            assert all(source["title"] and source["publisher"] for source in cell["sources"])
            assert cell["confidence"] in {"high", "medium", "low"}


def test_a_value_keeps_its_own_confidence_note_and_derivation(catalogue: Catalogue) -> None:
    chip = catalogue.chip("nvidia-b300").document()
    int8 = chip["peak_flops_per_s"]["int8"]
    assert int8["derived"] == "half of the figure with sparsity"
    assert "307 TOP/s" in int8["note"]
    assert chip["confidence"] == "medium"
    assert int8["confidence"] == "medium"
    assert chip["clock"]["boost_hz"]["confidence"] == "low"


def test_an_alternative_is_told_in_si_with_the_reason_against_it(catalogue: Catalogue) -> None:
    alternatives = catalogue.chip("nvidia-h100-sxm").document()["alternatives"]
    assert {
        "field": "peak_flops_per_s.bf16",
        "value": 1_979_000_000_000_000,
        "unit": "FLOP/s",
        "where": "NVIDIA product page",
        "why_not_taken": "counts sparsity",
    } in alternatives
    assert [each["field"] for each in alternatives].count("hbm.bandwidth_bytes_per_s") == 2


def test_the_ridge_is_peak_over_bandwidth(catalogue: Catalogue) -> None:
    """H100 SXM in bf16: 989.4e12 / 3.35e12 = 295.3 FLOP/B."""
    ridge = catalogue.chip("nvidia-h100-sxm").ridge()
    assert math.isclose(ridge["matrix"]["bf16"], 295.343, rel_tol=1e-5)
    assert math.isclose(ridge["vector"]["fp32"], 66.9e12 / 3.35e12, rel_tol=1e-15)
    assert "matrix" not in catalogue.chip("nvidia-p100-pcie").ridge()


def test_a_system_lists_its_axes_with_rates_and_sources(catalogue: Catalogue) -> None:
    document = catalogue.cluster("tpu-v5e-pod").document()
    assert [axis["name"] for axis in document["axes"]] == ["x", "y", "node"]
    x = document["axes"][0]
    assert (x["topology"], x["size"]["value"], x["bandwidth_per_direction_bytes_per_s"]["value"]) == ("ring", 16, 45_000_000_000)
    assert x["latency_s"]["value"] == 1e-06
    switch = catalogue.cluster("hgx-h100-8").document()["axes"][0]
    assert switch["in_network_reduction"]["value"] is True
    assert switch["bandwidth_per_direction_bytes_per_s"]["value"] == 450_000_000_000


def test_planning_constants_are_tables_in_si(catalogue: Catalogue) -> None:
    nccl = next(entry for entry in catalogue.collective_constants if entry.id == "nccl").document()
    latency = nccl["tables"]["hardware-latency"]
    assert latency["unit"] == "s"
    assert latency["value"]["nvlink"]["ring"] == {"ll": 6e-07, "ll128": 1.9e-06, "simple": 3.4e-06}
    assert nccl["tables"]["ll-max-bandwidth"]["value"]["hopper"] == [141_000_000_000, 45_000_000_000, 35_000_000_000]
    assert nccl["tables"]["ll-max-bandwidth"]["columns"] == ["1 node", "2 nodes", "4 or more nodes"]
