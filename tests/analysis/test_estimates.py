"""Estimates of collectives: what they stand on, what they never do, and how far from measured times they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.fit.rows import Rows, collectives
from service.catalogue import Catalogue
from service.engine.collectives import COLLECTIVES

from .asking import CHIP, Document, ask

H100 = "nvidia-h100-sxm"
SWITCH = {"name": "gpu", "size": 8, "topology": "switch"}
CLAIMED = {
    ("nvidia-a100-sxm-80gb", "all_gather"): (0.03, 0.11),
    ("nvidia-a100-sxm-80gb", "all_reduce"): (0.04, 0.11),
    ("nvidia-a100-sxm-80gb", "all_to_all"): (0.04, 0.08),
    ("nvidia-a100-sxm-80gb", "reduce_scatter"): (0.04, 0.17),
    ("nvidia-b200", "all_gather"): (0.03, 0.11),
    ("nvidia-b200", "all_reduce"): (0.04, 0.13),
    ("nvidia-b200", "all_to_all"): (0.04, 0.08),
    ("nvidia-b200", "reduce_scatter"): (0.04, 0.12),
    ("nvidia-h100-sxm", "all_gather"): (0.03, 0.08),
    ("nvidia-h100-sxm", "all_reduce"): (0.03, 0.09),
    ("nvidia-h100-sxm", "all_to_all"): (0.04, 0.09),
    ("nvidia-h100-sxm", "reduce_scatter"): (0.04, 0.09),
}
"""Median and 90th percentile of the error on the rows that were fitted."""


def exchange(catalogue: Catalogue, op: Document, mesh: Any, chip: Document | str = H100) -> Document:
    target = {"chip": chip, "mesh": mesh}
    return ask(catalogue, op={"axes": ["gpu"], **op}, target=target)


def basis(catalogue: Catalogue, kind: str, mesh: Any, chip: Document | str = H100, **op: Any) -> tuple[str | None, list[str]]:
    found = exchange(catalogue, {"kind": kind, "bytes": 1 << 20, **op}, mesh, chip)["result"]
    return found["time"]["estimate_basis"], [note for note in found["notes"] if note.startswith("estimate_s")]


def gpus(size: int, **node: int) -> list[Document]:
    return [{"name": "gpu", "size": size}, *({"name": name, "size": count} for name, count in node.items())]


@pytest.mark.parametrize(
    ("chip", "mesh", "kind", "stands_on"),
    [
        (H100, gpus(8), "all_reduce", ("chip", "nvidia-h100-sxm@1")),
        (H100, gpus(6), "all_gather", ("chip", "nvidia-h100-sxm@1")),
        (H100, {"cluster": "hgx-h100-8", "sizes": {"gpu": 8}}, "all_to_all", ("chip", "nvidia-h100-sxm@1")),
        (H100, [{**SWITCH, "bandwidth_bytes_per_s": 4.5e11}], "all_reduce", ("chip", "nvidia-h100-sxm@1")),
        (H100, [{**SWITCH, "bandwidth_bytes_per_s": 5e10}], "all_reduce", ("generic", "generic@1")),
        (H100, [{**SWITCH, "topology": "ring", "bandwidth_bytes_per_s": 4.5e11}], "all_reduce", ("generic", "generic@1")),
        (H100, gpus(8), "broadcast", ("generic", "generic@1")),
        ("nvidia-h200-sxm", gpus(8), "all_reduce", ("architecture", "hopper-nvlink@1")),
        ("nvidia-gb200", gpus(4), "all_reduce", ("chip", "nvidia-gb200@1")),
        ("nvidia-gb200", gpus(8), "all_reduce", ("architecture", "blackwell-nvlink@1")),
        ("nvidia-gb200", gpus(72), "all_reduce", ("generic", "generic@1")),
        ("nvidia-h100-pcie", gpus(2), "all_gather", ("generic", "generic@1")),
        (CHIP, [{**SWITCH, "bandwidth_bytes_per_s": 4.5e11}], "all_reduce", ("generic", "generic@1")),
    ],
)
def test_the_nearest_calibration_of_the_links_is_taken(
    catalogue: Catalogue, chip: Document | str, mesh: Any, kind: str, stands_on: tuple[str, str]
) -> None:
    """A calibration speaks of the chip's own link, and of no more chips than were measured."""
    found, notes = basis(catalogue, kind, mesh, chip)
    assert found == stands_on[0]
    assert [f"({stands_on[1]})" in note for note in notes] == [True]


def test_what_leaves_a_domain_is_generic_and_its_band_wide(catalogue: Catalogue) -> None:
    op = {"kind": "all_reduce", "bytes": 1 << 20, "axes": ["gpu", "node"]}
    found = exchange(catalogue, op, gpus(8, node=4))["result"]
    assert found["time"]["estimate_basis"] == "generic"
    assert found["time"]["estimate_p90_s"] > 5 * found["time"]["estimate_s"]
    assert "between domains" in found["notes"][-1]


def test_one_chip_has_nobody_to_exchange_with_and_no_estimate(catalogue: Catalogue) -> None:
    assert basis(catalogue, "all_reduce", gpus(1)) == (None, [])


@pytest.mark.parametrize("kind", sorted(COLLECTIVES))
@pytest.mark.parametrize("chip", [H100, "nvidia-h200-sxm", "google-tpu-v5e"])
def test_the_roofline_is_never_undercut(catalogue: Catalogue, kind: str, chip: str) -> None:
    mesh = (
        [{"name": "gpu", "size": 4, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10, "latency_s": 1e-3}] if "tpu" in chip else gpus(8)
    )
    sizes = [1, 4096, 1 << 20, 1 << 30, 1 << 40]
    time = exchange(catalogue, {"kind": kind, "bytes": sizes}, mesh, chip)["result"]["time"]
    rows = zip(time["lower_s"], time["estimate_p10_s"], time["estimate_s"], time["estimate_p90_s"], strict=True)
    assert all(0 < lower <= low <= typical <= high for lower, low, typical, high in rows)


def test_a_row_of_many_is_the_row_alone(catalogue: Catalogue) -> None:
    together = exchange(catalogue, {"kind": "all_gather", "bytes": [4096, 1 << 20]}, gpus(8))["result"]["time"]
    alone = exchange(catalogue, {"kind": "all_gather", "bytes": 1 << 20}, gpus(8))["result"]["time"]
    assert [together[name][1] for name in ("estimate_s", "estimate_p10_s", "estimate_p90_s")] == [
        alone[name] for name in ("estimate_s", "estimate_p10_s", "estimate_p90_s")
    ]


def test_the_target_says_which_calibrations_it_stands_on(catalogue: Catalogue) -> None:
    """The same link in place on a chip in place is another target: it has no calibration of its own."""
    op = {"kind": "all_gather", "bytes": 4096}
    mesh = [{**SWITCH, "bandwidth_bytes_per_s": 4.5e11}]
    numbers = catalogue.chip(H100).numbers()
    assert exchange(catalogue, op, mesh)["target_digest"] != exchange(catalogue, op, mesh, {**numbers})["target_digest"]


def timed(catalogue: Catalogue, rows: Rows) -> list[Document]:
    """The time of each group of rows of one chip, kind and size of group, with what was measured."""
    found = []
    for chip, kind, ranks in sorted(set(zip(rows.chip.tolist(), rows.kind.tolist(), rows.ranks.tolist(), strict=True))):
        mine = rows.where((rows.chip == chip) & (rows.kind == kind) & (rows.ranks == ranks))
        sizes = [int(size * (ranks if kind == "all_to_all" else 1)) for size in mine.bytes]
        time = exchange(catalogue, {"kind": kind, "bytes": sizes}, gpus(int(ranks)), chip)["result"]["time"]
        found.append({"chip": chip, "kind": kind, "measured_s": mine.measured_s, **time})
    return found


@pytest.fixture(scope="module")
def measured(catalogue: Catalogue) -> list[Document]:
    rows = collectives()
    return timed(catalogue, rows.where((rows.nodes == 1) & (rows.kind != "send")))


def joined(groups: list[Document], name: str) -> Any:
    return np.concatenate([np.asarray(each[name]) for each in groups])


@pytest.mark.parametrize(("chip", "kind"), CLAIMED)
def test_measured_times_are_met_as_claimed(measured: list[Document], chip: str, kind: str) -> None:
    mine = [each for each in measured if (each["chip"], each["kind"]) == (chip, kind)]
    error = np.abs(joined(mine, "estimate_s") / joined(mine, "measured_s") - 1)
    median, p90 = CLAIMED[chip, kind]
    assert np.median(error) <= median
    assert np.quantile(error, 0.9) <= p90


def test_four_measured_times_of_five_lie_in_the_band(measured: list[Document]) -> None:
    """Of those that were fitted a few more than of others; the band is at most four times as wide as the typical error."""
    times, typical = joined(measured, "measured_s"), joined(measured, "estimate_s")
    low, high = joined(measured, "estimate_p10_s"), joined(measured, "estimate_p90_s")
    assert 0.75 <= ((low <= times) & (times <= high)).mean() <= 0.85
    assert np.median((high - low) / typical) <= 4 * np.median(np.abs(typical / times - 1))
