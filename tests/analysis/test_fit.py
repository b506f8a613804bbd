"""What fits: the bytes of an answer against those of an evaluation, the verdict against the limit, the largest batch against the next."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.fit import fit
from service.catalogue import Catalogue
from service.errors import OverLimit
from service.schemas.fit import FitQuestion
from service.schemas.reading import validate

from .asking import ANY_CLASS, MATMUL, Document, ask, refused
from .test_sharding import FSDP, GRID, LAYOUTS, SPLIT, TWO

H100: Document = {"chip": "nvidia-h100-sxm"}
LAWS = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def chip(capacity: int) -> Document:
    return {**ANY_CLASS, "hbm": {"bandwidth_bytes_per_s": 2e12, "capacity_bytes": capacity}}


def fitted(catalogue: Catalogue, target: Document, **question: Any) -> Document:
    found: Document = orjson.loads(fit(validate(FitQuestion, {"target": target, **question}), catalogue))
    return found


def arrays(found: Document) -> Document:
    """Bytes of the arrays themselves."""
    return {part["array"]: part["bytes"] for part in found["parts"] if part["made_by"] is None}


FORMATS: list[Document] = [
    {"dtype": "bf16"},
    {"dtype": "int4", "out_dtype": "bf16", "b_scale": {"group_size": 100, "dtype": "fp16", "zero_point_dtype": "int4"}},
    {"dtype": "mxfp4", "out_dtype": "bf16"},
    {"a_dtype": "bf16", "b_dtype": "int8", "b_scale": {"block": [128, 128], "dtype": "fp32"}},
    {"dtype": "fp6", "a_scale": {"group_size": 33, "dtype": "fp8"}},
]
SIZE = st.integers(1, 5000)


@st.composite
def products(draw: st.DrawFn, sizes: st.SearchStrategy[int] = SIZE) -> Document:
    """A matmul, or an einsum that is one."""
    m, k, n = draw(sizes), draw(sizes), draw(sizes)
    formats = draw(st.sampled_from(FORMATS))
    if draw(st.booleans()):
        return {"kind": "einsum", "equation": "mk,kn->mn", "dims": {"m": m, "k": k, "n": n}, **formats}
    return {"kind": "matmul", "m": m, "k": k, "n": n, **formats}


@LAWS
@given(op=products(), capacity=st.integers(1, 10**8))
def test_one_chip_holds_the_bytes_of_its_evaluation(catalogue: Catalogue, op: Document, capacity: int) -> None:
    found = fitted(catalogue, {"chip": chip(capacity)}, op=op)
    moved = ask(catalogue, op=op, chip=chip(capacity))["result"]["bytes"]
    assert {**arrays(found), "total": found["bytes_total"]} == moved
    assert found["headroom_bytes"] == found["limit_bytes"] - found["bytes_total"] == capacity - moved["total"]
    assert found["fits"] == (found["headroom_bytes"] >= 0)
    assert found["largest"] in found["parts"]
    assert found["largest"]["bytes"] == max(part["bytes"] for part in found["parts"])


MULTIPLES = st.integers(1, 40).map(lambda count: 16 * count)


@LAWS
@given(op=products(MULTIPLES), sharding=st.sampled_from(LAYOUTS), plan=st.sampled_from(["rules", "cheapest"]))
def test_a_product_needs_no_more_than_is_held_for_it(catalogue: Catalogue, op: Document, sharding: Document, plan: str) -> None:
    """The last block of an operand, and the first of the result, are those of the product; of what is sliced the whole lies there."""
    target = {"chip": chip(10**9), "mesh": GRID}
    found = fitted(catalogue, target, op=op, sharding=sharding, options={"plan": plan})
    result = ask(catalogue, op=op, target=target, sharding=sharding, options={"plan": plan})["result"]
    last = {part["array"]: part["bytes"] for part in found["parts"]}
    for operand in ("a", "b"):
        assert last[operand] >= result["bytes"][operand]
    assert arrays(found)["out"] == result["bytes"]["out"]
    copies = [(part["made_by"], part["array"]) for part in found["parts"] if part["made_by"]]
    assert copies == [(each["kind"], each["operand"]) for each in result["layers"]["network"]["collectives"]]
    assert found["devices"] == result["devices"]


def enlarged(op: Document, size: int) -> Document:
    return {**op, "dims": {**op["dims"], "m": size}} if op["kind"] == "einsum" else {**op, "m": size}


@LAWS
@given(op=products(MULTIPLES), sharding=st.sampled_from([None, *LAYOUTS]), capacity=st.integers(1000, 10**7))
def test_the_largest_batch_fits_and_the_next_does_not(catalogue: Catalogue, op: Document, sharding: Document | None, capacity: int) -> None:
    target: Document = {"chip": chip(capacity), "mesh": GRID}
    members: Document = {} if sharding is None else {"sharding": sharding}
    found = fitted(catalogue, target, op=op, **members)
    step = 1 if sharding is None else 16
    largest = found["largest_batch"]
    assert found["batch_dim"] == "m"
    if largest is None:
        assert not fitted(catalogue, target, op=enlarged(op, step), **members)["fits"]
    else:
        assert fitted(catalogue, target, op=enlarged(op, largest), **members)["fits"]
        assert not fitted(catalogue, target, op=enlarged(op, (largest // step + 1) * step), **members)["fits"]


def test_the_plan_of_a_large_batch_is_that_of_its_size(catalogue: Catalogue) -> None:
    """Rows and columns over one axis: of few rows a is gathered, of many b, which then leaves more room."""
    clash = {"a": ["gpu", None], "b": [None, "gpu"], "out": [None, None]}
    target = {**H100, "mesh": [{"name": "gpu", "size": 8}]}
    few = fitted(catalogue, target, op=MATMUL, sharding=clash)
    assert [part["array"] for part in few["parts"] if part["made_by"]] == ["a", "out"]
    many = fitted(catalogue, target, op={**MATMUL, "m": few["largest_batch"]}, sharding=clash)
    assert [part["array"] for part in many["parts"] if part["made_by"]] == ["b", "out"]
    assert (many["fits"], many["largest_batch"]) == (True, few["largest_batch"])
    assert not fitted(catalogue, target, op={**MATMUL, "m": few["largest_batch"] + 8}, sharding=clash)["fits"]


def test_gathered_weights_lie_beside_their_pieces(catalogue: Catalogue) -> None:
    """FSDP over four chips: a quarter of b for good and all of it for the product."""
    target = {"chip": chip(10**9), "mesh": GRID[:1]}
    found = fitted(catalogue, target, op={"kind": "matmul", "m": 64, "k": 1024, "n": 512, "dtype": "bf16"}, sharding=FSDP)
    b = 1024 * 512 * 2
    assert [(part["array"], part["made_by"], part["bytes"]) for part in found["parts"]] == [
        ("a", None, 64 * 1024 * 2 // 4),
        ("b", None, b // 4),
        ("b", "all_gather", b),
        ("out", None, 64 * 512 * 2 // 4),
    ]
    assert found["largest"] == {"array": "b", "made_by": "all_gather", "bytes": b}


def test_what_is_sliced_lies_there_whole(catalogue: Catalogue) -> None:
    """A chip multiplies a quarter of b, and keeps all of it."""
    columns = {"a": [None, None], "b": [None, None], "out": [None, "x"]}
    target = {"chip": chip(10**9), "mesh": GRID[:1]}
    found = fitted(catalogue, target, op={"kind": "matmul", "m": 64, "k": 1024, "n": 512, "dtype": "bf16"}, sharding=columns)
    assert arrays(found) == {"a": 64 * 1024 * 2, "b": 1024 * 512 * 2, "out": 64 * 512 * 2 // 4}


def test_a_list_holds_every_execution(catalogue: Catalogue) -> None:
    """80 layers of 470 MB of weights are 37.6 GB; one of them with its rows is 508 MB."""
    ops = [{**MATMUL, "count": 80}, {"kind": "all_reduce", "bytes": 1000, "axes": ["gpu"], "count": 3}]
    found = fitted(catalogue, {**H100, "mesh": [{"name": "gpu", "size": 8}]}, ops=ops)
    a, b, out = 512 * 8192 * 2, 8192 * 28672 * 2, 512 * 28672 * 2
    assert [(part["op"], part["count"], part["array"], part["bytes"]) for part in found["parts"]] == [
        (0, 80, "a", 80 * a),
        (0, 80, "b", 80 * b),
        (0, 80, "out", 80 * out),
        (1, 3, "in", 3000),
        (1, 3, "out", 3000),
    ]
    assert found["bytes_total"] == 80 * (a + b + out) + 6000
    assert found["largest_op"] == {"op": 0, "bytes": a + b + out}
    assert (found["batch_dim"], found["largest_batch"], found["fits"]) == (None, None, True)


BATCHES: list[tuple[Document, str | None]] = [
    ({"kind": "softmax", "rows": 8, "cols": 100, "dtype": "bf16"}, "rows"),
    ({"kind": "matmul", "batch": 4, "m": 8, "k": 8, "n": 8, "dtype": "bf16"}, "batch"),
    ({"kind": "matmul", "sequences": 4, "sequence_length": 8, "k": 8, "n": 8, "dtype": "bf16"}, "sequences"),
    ({"kind": "einsum", "equation": "ij,jk->ki", "dims": {"i": 2, "j": 3, "k": 4}, "dtype": "bf16"}, "k"),
    ({"kind": "einsum", "equation": "i->", "dims": {"i": 2}, "dtype": "bf16"}, None),
    ({"kind": "all_gather", "bytes": 1000, "axes": ["x"]}, None),
]


@pytest.mark.parametrize(("op", "dim"), BATCHES, ids=lambda each: str(each.get("kind")) if isinstance(each, dict) else str(each))
def test_each_kind_grows_along_its_batch(catalogue: Catalogue, op: Document, dim: str | None) -> None:
    target = {"chip": chip(10**6), "mesh": TWO}
    found = fitted(catalogue, target, op=op)
    assert found["batch_dim"] == dim
    if dim is None:
        assert found["largest_batch"] is None
        assert any(note.startswith("largest_batch is null") for note in found["notes"])
    elif op["kind"] != "einsum":
        sizes = [found["largest_batch"], found["largest_batch"] + 1]
        assert [fitted(catalogue, target, op={**op, dim: size})["fits"] for size in sizes] == [True, False]


def test_a_capacity_alone_is_enough(catalogue: Catalogue) -> None:
    """No rate is asked for where no time is; the fastest plan asks for all."""
    bare: Document = {"chip": {"hbm": {"capacity_bytes": 2**30}}, "mesh": TWO}
    assert fitted(catalogue, bare, op=MATMUL, sharding=SPLIT)["fits"]
    faults = refused(lambda: fitted(catalogue, bare, op=MATMUL, sharding=SPLIT, options={"plan": "cheapest"}))
    assert [(fault.pointer, fault.code) for fault in faults] == [
        ("/target/chip/peak_flops_per_s", "missing"),
        ("/target/chip/hbm/bandwidth_bytes_per_s", "missing"),
    ]


def test_a_capacity_may_be_replaced(catalogue: Catalogue) -> None:
    """What a runtime keeps for itself is taken off by the caller."""
    target = {"chip": {"base": "nvidia-h100-sxm", "hbm": {"capacity_bytes": 500_000_000}}}
    found = fitted(catalogue, target, op=MATMUL)
    assert (found["limit_bytes"], found["headroom_bytes"], found["fits"]) == (500_000_000, -7_510_784, False)


def test_a_chip_without_a_capacity_is_refused(catalogue: Catalogue) -> None:
    for target, pointer in (
        ({"chip": {"hbm": {"bandwidth_bytes_per_s": 1e12}}}, "/target/chip/hbm/capacity_bytes"),
        ({"chip": "amd-epyc-9654"}, "/target/chip"),
    ):
        (fault,) = refused(lambda target=target: fitted(catalogue, target, op=MATMUL))  # type: ignore[misc]
        assert (fault.pointer, fault.code) == (pointer, "missing")


def test_bytes_beyond_all_numbers_are_refused(catalogue: Catalogue) -> None:
    letters = "abcdefghijklmnopqrst"
    op = {"kind": "einsum", "equation": f"{letters}->a", "dtype": "fp32", "dims": dict.fromkeys(letters, 2**53 - 1)}
    (fault,) = refused(lambda: fitted(catalogue, H100, op=op))
    assert (fault.pointer, fault.code) == ("/op", "too-large")
    with pytest.raises(OverLimit):
        fitted(catalogue, H100, ops=[MATMUL] * 1001)


def test_bytes_that_no_double_holds_exactly_are_still_compared(catalogue: Catalogue) -> None:
    """2⁶³ − 1 is no double; 2⁶³ bytes are one more than there are."""
    op = {"kind": "einsum", "equation": "ij->ji", "dims": {"i": 2**30, "j": 2**29}, "dtype": "fp64"}
    found = fitted(catalogue, {"chip": {"hbm": {"capacity_bytes": 2**63 - 1}}}, op=op)
    assert (found["bytes_total"], found["limit_bytes"]) == (2.0**63, 2.0**63)
    assert (found["fits"], found["headroom_bytes"]) == (False, -1)
