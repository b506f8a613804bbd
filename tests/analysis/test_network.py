"""Collectives as questions: the network layer of their answers, alone, in columns and in lists."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.catalogue import Catalogue
from service.engine.collectives import COLLECTIVES

from .asking import CHIP, MATMUL, Document, ask, refused

MESH: list[Document] = [
    {"name": "x", "size": 4, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10, "latency_s": 1e-6},
    {"name": "gpu", "size": 8, "topology": "switch", "bandwidth_bytes_per_s": 4.5e11},
    {"name": "one", "size": 1, "topology": "line", "bandwidth_bytes_per_s": 1e9},
]
BARE: Document = {"chip": {}, "mesh": MESH}
"""A chip of which nothing is known but its links."""

KINDS = st.sampled_from(sorted(COLLECTIVES))


def asked(catalogue: Catalogue, op: Document, *, mesh: Any = MESH, chip: Any = CHIP, **question: Any) -> Document:
    found: Document = ask(catalogue, target={"chip": chip, "mesh": mesh}, op=op, **question)["result"]
    return found


def test_the_answer_to_a_collective(catalogue: Catalogue) -> None:
    """32 MiB around a ring of 4: three quarters over both links, 279.6 us; nothing on the chip itself."""
    seconds = 2**25 * 3 / 4 / 9e10
    found = asked(catalogue, {"kind": "all_gather", "bytes": 2**25, "axes": ["x"]}, chip={})
    entry = {
        "kind": "all_gather",
        "operand": None,
        "dim": None,
        "axes": ["x"],
        "bytes": 2**25,
        "wire_bytes": 3 * 2**23,
        "steps": 2,
        "time_s": seconds,
        "algbw_bytes_per_s": pytest.approx(4 / 3 * 9e10, rel=1e-12),
        "busbw_bytes_per_s": pytest.approx(9e10, rel=1e-12),
        "latency_bound": False,
        "forced": True,
    }
    assert found["layers"]["network"] == {
        "time_s": seconds,
        "collectives": [entry],
        "alternatives": [],
        "intensity_flops_per_byte": 0.0,
        "critical_intensity_flops_per_byte": None,
        "bound": "network",
    }
    assert found["layers"]["compute"] == {"time_s": 0.0, "unit": None, "dtype": None, "peak_flops_per_s": None}
    assert found["layers"]["hbm"] == {
        "time_s": 0.0,
        "bytes": 0,
        "bandwidth_bytes_per_s": None,
        "intensity_flops_per_byte": None,
        "critical_intensity_flops_per_byte": None,
        "bound": None,
    }
    assert (found["flops"], found["total_flops"], found["devices"], found["bytes"]) == (0, 0, 32, {"total": 0})
    assert (found["time"]["lower_s"], found["time"]["upper_s"], found["bound"], found["regime"]) == (
        seconds,
        seconds,
        "network",
        "communication-bound",
    )
    assert (found["attainable_flops_per_s"], found["utilization"], found["thresholds"]) == (0, 0, [])
    assert [(lever["change"], lever["helps"]) for lever in found["levers"]] == [
        ("peak_flops_per_s", False),
        ("hbm_bandwidth_bytes_per_s", False),
        ("link_bandwidth_bytes_per_s", True),
    ]
    assert found["levers"][-1]["speedup"] == 2


def test_few_bytes_are_bound_by_latency_and_wider_links_do_not_help(catalogue: Catalogue) -> None:
    found = asked(catalogue, {"kind": "all_reduce", "bytes": 256, "axes": ["x"]})
    assert found["time"]["lower_s"] == 4e-6
    assert found["layers"]["network"]["collectives"][0]["latency_bound"] is True
    assert found["levers"][-1]["helps"] is False


def test_asymptotic_collectives_leave_the_size_of_the_group_out(catalogue: Catalogue) -> None:
    op = {"kind": "all_gather", "bytes": 2**25, "axes": ["gpu"]}
    exact, near = (asked(catalogue, op, options={"collectives": form})["time"]["lower_s"] for form in ("exact", "asymptotic"))
    assert (exact, near) == (pytest.approx(2**25 * 7 / 8 / 4.5e11, rel=1e-12), 2**25 / 4.5e11)


def test_one_chip_exchanges_with_nobody(catalogue: Catalogue) -> None:
    found = asked(catalogue, {"kind": "all_reduce", "bytes": 2**20, "axes": ["one"]})
    network = found["layers"]["network"]
    assert (network["time_s"], network["bound"], found["bound"], found["regime"]) == (0, None, None, None)
    assert (found["attainable_flops_per_s"], found["utilization"]) == (None, None)
    assert [network["collectives"][0][name] for name in ("wire_bytes", "steps", "algbw_bytes_per_s")] == [0, 0, None]
    assert {lever["speedup"] for lever in found["levers"]} == {1}
    assert any("nobody to exchange with" in note for note in found["notes"])


def test_what_must_be_said_of_an_axis_is_said_where_it_takes_part(catalogue: Catalogue) -> None:
    mesh = [{"name": "x", "size": 8}, {"name": "y", "size": 16}]
    lines = [
        [note for note in asked(catalogue, op, mesh=mesh, chip="google-tpu-v5e")["notes"] if "no wraparound" in note]
        for op in ({"kind": "all_gather", "bytes": 2**20, "axes": ["x"]}, {"kind": "all_gather", "bytes": 2**20, "axes": ["y"]}, MATMUL)
    ]
    assert [len(found) for found in lines] == [1, 0, 0]


def test_a_switch_that_could_reduce_is_named_in_an_all_reduce(catalogue: Catalogue) -> None:
    mesh, could = [{"name": "gpu", "size": 8}], "in_network_reduction"
    notes = {
        kind: asked(catalogue, {"kind": kind, "bytes": 2**20, "axes": ["gpu"]}, mesh=mesh, chip="nvidia-h100-sxm")["notes"]
        for kind in ("all_reduce", "all_gather")
    }
    assert [any(could in note for note in found) for found in notes.values()] == [True, False]


def test_an_op_on_a_mesh_without_layouts_is_repeated(catalogue: Catalogue) -> None:
    alone, together = ask(catalogue, op=MATMUL)["result"], asked(catalogue, MATMUL)
    assert (together["devices"], together["total_flops"]) == (32, 32 * alone["flops"])
    assert together["time"] == alone["time"]
    link = together["levers"].pop(2)
    assert (link["change"], link["speedup"], link["helps"]) == ("link_bandwidth_bytes_per_s", 1, False)
    assert together["levers"] == alone["levers"]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=KINDS, volumes=st.lists(st.integers(1, 2**40), min_size=2, max_size=4), axis=st.sampled_from(["x", "gpu", "one"]))
def test_columns_hold_the_answers_to_their_rows(catalogue: Catalogue, kind: str, volumes: list[int], axis: str) -> None:
    together = asked(catalogue, {"kind": kind, "bytes": volumes, "axes": [axis]})
    for at, volume in enumerate(volumes):
        alone = asked(catalogue, {"kind": kind, "bytes": volume, "axes": [axis]})
        assert together["time"]["lower_s"][at] == alone["time"]["lower_s"]
        assert together["bound"][at] == alone["bound"]
        rows, row = together["layers"]["network"]["collectives"][0], alone["layers"]["network"]["collectives"][0]
        for name, value in row.items():
            held = rows[name] if name in {"kind", "operand", "dim", "axes"} or rows[name] is None else rows[name][at]
            assert held == value


def test_collectives_of_a_list_add_up(catalogue: Catalogue) -> None:
    ops = [
        {"kind": "all_reduce", "bytes": 2**20, "axes": ["x"], "count": 3},
        {**MATMUL, "count": 2},
        {"kind": "all_reduce", "bytes": 2**24, "axes": ["x"]},
        {"kind": "all_to_all", "bytes": 2**20, "axes": ["gpu"], "destinations": 2},
    ]
    found = ask(catalogue, target={"chip": CHIP, "mesh": MESH}, ops=ops)["result"]
    alone = [asked(catalogue, {name: value for name, value in op.items() if name != "count"}) for op in ops]
    assert [each["time"] for each in found["per_op"]] == [each["time"] for each in alone]
    counts = [op.get("count", 1) for op in ops]
    assert found["totals"]["time"]["lower_s"] == sum(count * each["time"]["lower_s"] for count, each in zip(counts, alone, strict=True))


def test_every_fault_of_the_axes_has_its_place(catalogue: Catalogue) -> None:
    op = {"kind": "all_gather", "bytes": 2**20, "axes": ["x", "y", "x"]}
    faults = refused(lambda: asked(catalogue, op))
    assert [(fault.pointer, fault.code) for fault in faults] == [("/op/axes/1", "unknown-axis"), ("/op/axes/2", "axis-repeated")]
    ops = [{**op, "axes": ["x"]}, op]
    faults = refused(lambda: ask(catalogue, target={"chip": CHIP, "mesh": MESH}, ops=ops))
    assert [fault.pointer for fault in faults] == ["/ops/1/axes/1", "/ops/1/axes/2"]


def test_the_working_shows_the_steps_of_the_network(catalogue: Catalogue) -> None:
    found = asked(catalogue, {"kind": "all_gather", "bytes": 2**25, "axes": ["x"]}, options={"explain": True})
    steps = found["explain"]
    assert [entry["value"] for entry in steps["bytes"]] == [0]
    (collective, total) = steps["where"]
    assert collective["formula"].startswith("t of all_gather over x")
    assert collective["value"] == total["value"] == found["layers"]["network"]["time_s"]
    assert steps["overlap"][0]["formula"] == "lower = max(t_math, t_hbm, t_network)"
