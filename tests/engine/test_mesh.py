"""Choosing axes of a mesh by name."""

from __future__ import annotations

import pytest

from service.engine.mesh import Mesh
from service.errors import InvalidInput

from .meshes import line, ring, switch

MESH = Mesh((ring(4), line(1, name="y"), switch(8, name="node")))


def refusal(mesh: Mesh, *names: str) -> list[tuple[str, str, tuple[str, ...]]]:
    with pytest.raises(InvalidInput) as refused:
        mesh.select(names, "/op/axes")
    return [(fault.pointer, fault.code, fault.suggestions) for fault in refused.value.faults]


def test_a_mesh_without_axes_is_one_chip() -> None:
    assert (Mesh().devices, MESH.devices) == (1, 32)


def test_axes_stand_innermost_first_and_those_of_one_chip_vanish() -> None:
    assert [axis.name for axis in MESH.select(["node", "y", "x"])] == ["x", "node"]


def test_every_unknown_axis_is_named_with_what_may_have_been_meant() -> None:
    assert refusal(MESH, "nod", "x", "q") == [
        ("/op/axes/0", "unknown-axis", ("node",)),
        ("/op/axes/2", "unknown-axis", ("x", "y", "node")),
    ]
    assert refusal(Mesh(), "x") == [("/op/axes/0", "unknown-axis", ())]


def test_an_axis_counts_once() -> None:
    assert refusal(MESH, "x", "node", "x") == [("/op/axes/2", "axis-repeated", ())]
