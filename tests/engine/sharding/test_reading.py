"""What specs are refused for, with every fault in document order."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from service.engine.arrays import column
from service.engine.mesh import Axis, Mesh
from service.engine.sharding import Sharding, read
from service.engine.sharding.reading import Spec
from service.errors import InvalidInput

ARRAYS = {"a": ("m", "k"), "b": ("k", "n"), "out": ("m", "n")}
MESH = Mesh((Axis("model", 4, "ring", 1e9), Axis("data", 3, "ring", 1e9), Axis("one", 1, "ring", 1e9)))
WHOLE: Spec = [None, None]


def taken(specs: Mapping[str, Spec], mesh: Mesh = MESH, **sizes: float | list[float]) -> Sharding:
    columns = {dim: column(sizes.get(dim, 24)) for dim in "mkn"}
    return read(specs, ARRAYS, columns, mesh)


def refused(specs: Mapping[str, Spec], mesh: Mesh = MESH, **sizes: float | list[float]) -> list[tuple[object, ...]]:
    with pytest.raises(InvalidInput) as caught:
        taken(specs, mesh, **sizes)
    return [(fault.pointer.removeprefix("/sharding"), fault.code, fault.suggestions) for fault in caught.value.faults]


def test_names_lists_and_nothing_are_layouts() -> None:
    read_ = taken({"a": [["model", "data"], []], "b": WHOLE, "out": ["data", None]})
    assert read_.operands[0].layout == {"m": ("model", "data"), "k": ()}
    assert read_.out.layout == {"m": ("data",), "n": ()}
    assert read_.devices == 12


def test_an_axis_of_one_chip_splits_nothing() -> None:
    assert taken({"a": ["one", None], "b": WHOLE, "out": WHOLE}, m=7).operands[0].split == ((), ())


def test_all_faults_come_in_document_order() -> None:
    specs: dict[str, Spec] = {"out": [None, "Data"], "out_unreduced": ["disk"], "a": [["data", "data"], "model"], "c": [None]}
    assert refused(specs, k=10) == [
        ("/out/1", "unknown-axis", ("data",)),
        ("/out_unreduced/0", "unknown-axis", ("model", "data", "one")),
        ("/a/0/1", "axis-repeated", ("model", "one")),
        ("/a/1", "not-divisible", ()),
        ("/c", "unknown-member", ("a", "b", "out", "out_unreduced")),
        ("/b", "missing", ()),
    ]


@pytest.mark.parametrize(
    ("specs", "fault"),
    [
        ({"a": ["model", "model"], "b": WHOLE, "out": WHOLE}, ("/a/1", "axis-repeated", ("data", "one"))),
        ({"a": WHOLE, "b": WHOLE}, ("/out", "missing", ())),
        ({"a": [None], "b": WHOLE, "out": WHOLE}, ("/a", "bad-sharding", ("[null, null]",))),
        ({"a": [None, None, None], "b": WHOLE, "out": WHOLE}, ("/a", "bad-sharding", ("[null, null]",))),
        ({"a": [None, "x"], "b": WHOLE, "out": WHOLE}, ("/a/1", "unknown-axis", ("model", "data", "one"))),
        (
            {"a": [None, "model"], "b": ["model", None], "out": [None, "model"], "out_unreduced": ["model"]},
            ("/out_unreduced/0", "axis-repeated", ()),
        ),
        (
            {"a": [None, "model"], "b": ["model", None], "out": WHOLE, "out_unreduced": ["model", "model"]},
            ("/out_unreduced/1", "axis-repeated", ()),
        ),
        ({"a": [None, "model"], "b": ["data", None], "out": WHOLE, "out_unreduced": ["model"]}, ("/out_unreduced/0", "bad-sharding", ())),
        (
            {"a": ["data", "model"], "b": ["model", None], "out": WHOLE, "out_unreduced": ["data"]},
            ("/out_unreduced/0", "bad-sharding", ("model",)),
        ),
    ],
)
def test_what_cannot_be(specs: dict[str, Spec], fault: tuple[object, ...]) -> None:
    assert refused(specs) == [fault]


def test_a_dim_that_its_axes_do_not_divide_is_named_with_them() -> None:
    with pytest.raises(InvalidInput) as caught:
        taken({"a": [["model", "data"], None], "b": WHOLE, "out": WHOLE}, m=[24, 36, 32])
    (fault,) = caught.value.faults
    assert (fault.pointer, fault.code, fault.suggestions) == ("/sharding/a/0", "not-divisible", ("model",))
    assert fault.detail == "m is no multiple of the size of model times the size of data in row 2; every chip must hold an equal block."


def test_without_a_mesh_there_is_no_axis() -> None:
    assert refused({"a": ["x", None], "b": WHOLE, "out": WHOLE}, mesh=Mesh()) == [("/a/0", "unknown-axis", ())]
