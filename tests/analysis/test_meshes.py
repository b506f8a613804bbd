"""Meshes of questions: axes in place, links of the chip, axes of a system; what is filled in, said and refused."""

from __future__ import annotations

from typing import Any

import pytest

from service.analysis.targets import Target, resolve
from service.catalogue import Catalogue
from service.engine.mesh import Axis
from service.schemas.reading import validate
from service.schemas.target import TargetModel

from .asking import CHIP, Document, ask, refused

H100 = "nvidia-h100-sxm"
V5E = "google-tpu-v5e"
V5P = "google-tpu-v5p"
RING: Document = {"name": "x", "size": 16, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10, "latency_s": 1e-6}


def meshed(catalogue: Catalogue, mesh: Any, chip: Any = CHIP) -> Target:
    return resolve(validate(TargetModel, {"chip": chip, "mesh": mesh}), catalogue)


def axes(catalogue: Catalogue, mesh: Any, chip: Any = CHIP) -> tuple[Axis, ...]:
    return meshed(catalogue, mesh, chip).wired.mesh.axes


def topologies(catalogue: Catalogue, mesh: Any, chip: Any) -> list[str]:
    return [axis.topology for axis in axes(catalogue, mesh, chip)]


def named(**sizes: int) -> list[Document]:
    return [{"name": name, "size": size} for name, size in sizes.items()]


def test_axes_in_place_are_taken_as_written(catalogue: Catalogue) -> None:
    """A ring of 4 on a chip whose own axes close only at 16 is a ring of 4."""
    switch = {"name": "node", "size": 4, "topology": "switch", "bandwidth_bytes_per_s": 50_000_000_000}
    target = meshed(catalogue, [{**RING, "size": 4}, switch], V5E)
    assert target.wired.mesh.axes == (Axis("x", 4, "ring", 4.5e10, 1e-6), Axis("node", 4, "switch", 5e10))
    assert target.document["mesh"] == [{**RING, "size": 4}, {**switch, "latency_s": 0, "in_network_reduction": False}]
    assert target.assumed[1:] == (
        {"pointer": "/target/mesh/1/latency_s", "value": 0},
        {"pointer": "/target/mesh/1/in_network_reduction", "value": False},
    )
    assert target.wired.remarks == ()


def test_a_name_and_a_size_are_a_link_of_the_chip(catalogue: Catalogue) -> None:
    """H100: 450 GB/s of NVLink in a node of 8, 400 Gbit/s out of it."""
    target = meshed(catalogue, named(gpu=8, node=4), H100)
    assert target.wired.mesh.axes == (Axis("gpu", 8, "switch", 4.5e11), Axis("node", 4, "switch", 5e10))
    filled = {each["pointer"]: each["value"] for each in target.assumed}
    assert filled["/target/mesh/0/topology"] == "switch"
    assert filled["/target/mesh/1/bandwidth_bytes_per_s"] == 5e10
    said = [(remark.axis, remark.kind) for remark in target.wired.remarks]
    assert said == [("gpu", None), ("gpu", "all_reduce"), ("node", None)]


def test_a_base_lends_its_links(catalogue: Catalogue) -> None:
    assert axes(catalogue, named(gpu=8), {"base": H100, "hbm": {"bandwidth_bytes_per_s": 4e12}}) == axes(catalogue, named(gpu=8), H100)


def test_what_is_given_beside_a_name_counts(catalogue: Catalogue) -> None:
    link = {"name": "gpu", "size": 8, "in_network_reduction": True, "latency_s": 2e-6}
    assert axes(catalogue, [link], H100) == (Axis("gpu", 8, "switch", 4.5e11, 2e-6, in_network_reduction=True),)
    assert meshed(catalogue, [link], H100).wired.remarks == ()


def test_a_pair_has_the_share_of_a_chip(catalogue: Catalogue) -> None:
    """MI300X: 448 GB/s over seven links."""
    assert axes(catalogue, named(gpu=4), "amd-mi300x") == (Axis("gpu", 4, "fully_connected", 6.4e10),)


@pytest.mark.parametrize(
    ("chip", "sizes", "expected"),
    [
        (V5E, {"x": 16, "y": 16}, ["ring", "ring"]),
        (V5E, {"x": 16, "y": 4}, ["ring", "line"]),
        (V5E, {"x": 8}, ["line"]),
        ("google-tpu-v6e", {"y": 16}, ["ring"]),
        (V5P, {"x": 4, "y": 4, "z": 8}, ["ring", "ring", "ring"]),
        (V5P, {"x": 2, "y": 2, "z": 4}, ["line", "line", "line"]),
        (V5P, {"x": 8, "y": 8}, ["line", "line"]),
        ("google-tpu-v4", {"x": 4, "y": 4, "z": 4}, ["ring", "ring", "ring"]),
        ("google-tpu-v7", {"x": 4, "y": 4, "z": 6}, ["line", "line", "line"]),
        ("google-tpu-v3", {"x": 32, "y": 16}, ["ring", "line"]),
        ("aws-trainium2", {"x": 4, "y": 2}, ["ring", "line"]),
        ("aws-inferentia2", {"gpu": 12}, ["ring"]),
        ("aws-inferentia2", {"x": 6}, ["line"]),
    ],
)
def test_an_axis_of_a_torus_closes_at_some_sizes(catalogue: Catalogue, chip: str, sizes: dict[str, int], expected: list[str]) -> None:
    """v5e and v6e at 16; v4, v5p and v7 in slices of full cubes of 4; v3 and Trainium on the whole axis; Inferentia2 at 12."""
    assert topologies(catalogue, named(**sizes), chip) == expected
    lines = [remark.axis for remark in meshed(catalogue, named(**sizes), chip).wired.remarks if "no wraparound" in remark.text]
    assert lines == [name for name, topology in zip(sizes, expected, strict=True) if topology == "line"]


def test_a_system_gives_its_axes_innermost_first(catalogue: Catalogue) -> None:
    target = meshed(catalogue, {"cluster": "hgx-h100-8", "sizes": {"node": 4, "gpu": 8}}, H100)
    assert target.wired.mesh.axes == (Axis("gpu", 8, "switch", 4.5e11), Axis("node", 4, "switch", 5e10))
    by_pointer = {each["pointer"]: each["value"] for each in target.assumed}
    assert by_pointer["/target/mesh/cluster"] == "hgx-h100-8@1"
    assert [by_pointer["/target/mesh/0"], by_pointer["/target/mesh/1"]] == target.document["mesh"]


def test_wraparound_holds_for_systems_too(catalogue: Catalogue) -> None:
    sizes = {"x": 16, "y": 8}
    assert topologies(catalogue, {"cluster": "tpu-v5e-pod", "sizes": sizes}, V5E) == ["ring", "line"]
    assert topologies(catalogue, {"cluster": "trn2-ultraserver-64", "sizes": {"z": 4, "x": 2}}, "aws-trainium2") == ["line", "ring"]


def test_nodes_are_bounded_only_where_a_system_says_so(catalogue: Catalogue) -> None:
    for mesh in (named(gpu=8, node=10_000), {"cluster": "hgx-h100-8", "sizes": {"gpu": 8, "node": 10_000}}):
        assert meshed(catalogue, mesh, H100).wired.mesh.devices == 80_000


def test_the_mesh_is_part_of_the_digest(catalogue: Catalogue) -> None:
    by_name, by_system = named(gpu=8, node=4), {"cluster": "hgx-h100-8", "sizes": {"gpu": 8, "node": 4}}
    in_place = meshed(catalogue, by_name, H100).document["mesh"]
    assert len({meshed(catalogue, mesh, H100).digest for mesh in (by_name, by_system, in_place)}) == 1
    changes: list[Document] = [{"size": 8}, {"topology": "line"}, {"bandwidth_bytes_per_s": 5e10}, {"latency_s": 0}, {"name": "y"}]
    digests = {meshed(catalogue, [{**RING, **change}]).digest for change in ({}, *changes)}
    bare = resolve(validate(TargetModel, {"chip": CHIP}), catalogue).digest
    assert len(digests | {bare}) == 2 + len(changes)


IN_PLACE = {"topology": "ring", "bandwidth_bytes_per_s": 1e9}


@pytest.mark.parametrize(
    ("chip", "mesh", "expected"),
    [
        (H100, named(gpu=9), [("/target/mesh/0/size", "out-of-range")]),
        (V5E, named(x=16, y=17), [("/target/mesh/1/size", "out-of-range")]),
        ("google-tpu-v4", named(x=16, y=16, z=20), [("/target/mesh/2/size", "out-of-range")]),
        (H100, named(node=2, gpu=8), [("/target/mesh/1/name", "invalid-request")]),
        (H100, named(gpus=8), [("/target/mesh/0/name", "unknown-axis")]),
        (V5E, named(gpu=8), [("/target/mesh/0/name", "unknown-axis")]),
        ("amd-mi300x", named(node=2), [("/target/mesh/0/name", "unknown-axis")]),
        ("nvidia-l4", named(gpu=2), [("/target/mesh/0/name", "unknown-axis")]),
        (CHIP, named(gpu=2), [("/target/mesh/0/name", "unknown-axis")]),
        ("nvidia-v100-sxm2", named(gpu=8), [("/target/mesh/0/topology", "missing")]),
        ("amd-mi300a", named(gpu=4), [("/target/mesh/0/bandwidth_bytes_per_s", "missing")]),
        ("aws-inferentia2", named(gpu=2, x=2), [("/target/mesh/1/name", "axis-repeated")]),
        (H100, [*named(gpu=2), {"name": "gpu", "size": 2, **IN_PLACE}], [("/target/mesh/1/name", "axis-repeated")]),
        (
            "amd-mi300x",
            [{"name": "gpu", "size": 2, "in_network_reduction": True}],
            [("/target/mesh/0/in_network_reduction", "invalid-request")],
        ),
        (CHIP, [{"name": "x", "size": 2, **IN_PLACE, "in_network_reduction": True}], [("/mesh/0/in_network_reduction", "invalid-request")]),
        (CHIP, [{"name": "x", "size": 0, **IN_PLACE}], [("/mesh/0/size", "out-of-range")]),
        (CHIP, [{"name": "x", "size": 2, "topology": "ring"}], [("/mesh/0/bandwidth_bytes_per_s", "missing")]),
        (CHIP, [{"name": "x", "size": 2, "bandwidth_bytes_per_s": 1e9}], [("/mesh/0/topology", "missing")]),
        (CHIP, [{"name": "x", "size": 2, **IN_PLACE, "topology": "mesh"}], [("/mesh/0/topology", "out-of-range")]),
        (CHIP, [{"name": "x", "size": 2, **IN_PLACE, "latency_s": 1001}], [("/mesh/0/latency_s", "out-of-range")]),
        (CHIP, [], [("/mesh", "out-of-range")]),
        (CHIP, "x", [("/mesh", "wrong-type")]),
        (H100, {"cluster": "hgx-h100", "sizes": {"gpu": 8}}, [("/target/mesh/cluster", "unknown-cluster")]),
        (H100, {"cluster": "hgx-h100-8@9", "sizes": {"gpu": 8}}, [("/target/mesh/cluster", "unknown-revision")]),
        (H100, {"cluster": "hgx-h200-8", "sizes": {"gpu": 8}}, [("/target/mesh/cluster", "invalid-request")]),
        (CHIP, {"cluster": "hgx-h100-8", "sizes": {"gpu": 8}}, [("/target/mesh/cluster", "invalid-request")]),
        (H100, {"cluster": "hgx-h100-8", "sizes": {"gpu": 9}}, [("/target/mesh/sizes/gpu", "out-of-range")]),
        (H100, {"cluster": "hgx-h100-8", "sizes": {"q": 9}}, [("/target/mesh/sizes/q", "unknown-axis")]),
        (H100, {"cluster": "hgx-h100-8", "sizes": {}}, [("/mesh/sizes", "out-of-range")]),
        ("google-tpu-v7", {"cluster": "tpu-v7-pod", "sizes": {"x": 100, "y": 100}}, [("/target/mesh/sizes/y", "out-of-range")]),
        ("amd-mi250x-gcd", {"cluster": "mi250x-node", "sizes": {"gpu": 8}}, [("/target/mesh/sizes/gpu", "missing")]),
    ],
)
def test_what_cannot_be_is_refused_with_the_place(catalogue: Catalogue, chip: Any, mesh: Any, expected: list[tuple[str, str]]) -> None:
    assert [(fault.pointer, fault.code) for fault in refused(lambda: meshed(catalogue, mesh, chip))] == expected


def test_refusals_say_what_there_is(catalogue: Catalogue) -> None:
    suggestions = [
        (named(gpus=8), ("gpu",)),
        (named(q=8), ("gpu", "node")),
        ({"cluster": "hgx-h200-8", "sizes": {"gpu": 8}}, ("hgx-h100-8",)),
        ({"cluster": "hgx-h100-8", "sizes": {"nod": 8}}, ("node",)),
    ]
    for mesh, expected in suggestions:
        (fault,) = refused(lambda mesh=mesh: meshed(catalogue, mesh, H100))  # type: ignore[misc]
        assert fault.suggestions == expected


def test_a_switch_is_said_to_reduce_where_no_source_says_so(catalogue: Catalogue) -> None:
    mesh = [{"name": "gpu", "size": 8, "in_network_reduction": True}]
    told = {chip: [remark.text for remark in meshed(catalogue, mesh, chip).wired.remarks] for chip in ("nvidia-a100-sxm-80gb", H100)}
    assert [any("taken as given" in text for text in texts) for texts in told.values()] == [True, False]


def test_a_chip_without_known_links_says_how_to_give_one(catalogue: Catalogue) -> None:
    op: Document = {"kind": "all_gather", "bytes": 1024, "axes": ["gpu"]}
    axis: Document = {"name": "gpu", "size": 2}
    chip = "nvidia-rtx-pro-6000-blackwell"
    (fault,) = refused(lambda: ask(catalogue, op=op, target={"chip": chip, "mesh": [axis]}))
    assert (fault.pointer, fault.code) == ("/target/mesh/0/name", "unknown-axis")
    assert fault.detail.endswith("is known. Give the axis in place, with topology and bandwidth_bytes_per_s.")
    in_place = {**axis, "topology": "switch", "bandwidth_bytes_per_s": 6.4e10}
    assert ask(catalogue, op=op, target={"chip": chip, "mesh": [in_place]})["result"]["bound"] == "network"
