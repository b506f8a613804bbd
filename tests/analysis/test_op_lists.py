"""Lists of ops: in the given order, as if each were asked alone, and added up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.evaluate import answer
from service.catalogue import Catalogue
from service.engine.ops import OPS
from service.errors import OverLimit
from service.schemas.evaluate import Question
from service.schemas.limits import MAX_OPS
from service.schemas.reading import validate

from ..engine.drawing import questions
from .asking import ANY_CLASS, CHIP, MATMUL, Document, as_json, ask, refused

LAYER: list[Document] = [
    {**MATMUL, "n": 8192, "count": 4},
    {"kind": "elementwise", "n": 512 * 28_672, "dtype": "bf16", "count": 3},
    {**MATMUL, "batch": 2},
    {**MATMUL, "b_dtype": "int8"},
    {"kind": "dot", "n": 512, "dtype": "bf16"},
    {"kind": "einsum", "equation": "bshd,bthd->bhst", "dims": {"b": 1, "s": 512, "t": 512, "h": 64, "d": 128}, "dtype": "bf16"},
    {**MATMUL, "m": 7, "count": 1000},
]


def listed(catalogue: Catalogue, ops: list[Document], chip: Document = CHIP, **options: Any) -> Document:
    found: Document = ask(catalogue, ops=ops, chip=chip, options=options)["result"]
    return found


def alone(catalogue: Catalogue, op: Document, at: int, chip: Document = CHIP, **options: Any) -> Document:
    """The result of an op of a list as it would be by itself, with pointers into the list."""
    found: Document = ask(catalogue, op={name: value for name, value in op.items() if name != "count"}, chip=chip, options=options)[
        "result"
    ]
    said = [each for each in found["assumed"] if each["pointer"].startswith("/op/")]
    return {**found, "assumed": [{**each, "pointer": f"/ops/{at}" + each["pointer"].removeprefix("/op")} for each in said]}


def test_each_op_is_answered_as_if_it_were_alone(catalogue: Catalogue) -> None:
    found = listed(catalogue, LAYER, overlap=0.5, explain=True)["per_op"]
    for at, (op, each) in enumerate(zip(LAYER, found, strict=True)):
        assert each.pop("count") == op.get("count", 1)
        each["assumed"] = [said for said in each["assumed"] if not said["pointer"].endswith("/count")]
        assert each == alone(catalogue, op, at, overlap=0.5, explain=True)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_how_ops_are_grouped_changes_nothing(catalogue: Catalogue, data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(sorted(OPS)), min_size=1, max_size=2, unique=True))
    ops = [as_json(kind, data.draw(questions(kind))) for kind in kinds for _ in range(3)]
    ops = data.draw(st.permutations(ops))
    for at, each in enumerate(listed(catalogue, ops, ANY_CLASS)["per_op"]):
        del each["count"]
        each["assumed"] = [said for said in each["assumed"] if not said["pointer"].endswith("/count")]
        assert each == alone(catalogue, ops[at], at, ANY_CLASS)


def test_totals_are_sums_of_count_times_value(catalogue: Catalogue) -> None:
    found = listed(catalogue, LAYER, overlap=0.5)
    counts = [op.get("count", 1) for op in LAYER]
    per_op, totals = found["per_op"], found["totals"]
    assert totals["flops"] == sum(count * each["flops"] for count, each in zip(counts, per_op, strict=True))
    assert totals["vector_flops"] == sum(count * each["vector_flops"] for count, each in zip(counts, per_op, strict=True))
    assert totals["bytes_total"] == sum(count * each["bytes"]["total"] for count, each in zip(counts, per_op, strict=True))
    for name in ("lower_s", "upper_s", "overlapped_s"):
        expected = sum(count * each["time"][name] for count, each in zip(counts, per_op, strict=True))
        assert totals["time"][name] == pytest.approx(expected, rel=1e-14)
    assert {totals["time"][name] for name in ("estimate_s", "estimate_p10_s", "estimate_p90_s", "estimate_basis")} == {None}


def test_totals_beyond_2_to_the_53_are_floats(catalogue: Catalogue) -> None:
    totals = listed(catalogue, [{**MATMUL, "count": 10**9}])["totals"]
    assert isinstance(totals["flops"], float)
    assert totals["flops"] == 240_518_168_576e9


def test_the_ops_as_understood_stand_in_the_given_order(catalogue: Catalogue) -> None:
    found = ask(catalogue, ops=LAYER)["ops"]
    assert [(op["kind"], op["count"]) for op in found] == [(op["kind"], op.get("count", 1)) for op in LAYER]


def test_faults_of_all_ops_are_reported_with_their_places(catalogue: Catalogue) -> None:
    ops = [MATMUL, {"kind": "matmul", "k": 1, "n": 1, "dtype": "bf16"}, {**MATMUL, "m": None}, {"kind": "dot", "n": 2}]
    faults = refused(lambda: ask(catalogue, ops=ops))
    assert [(fault.pointer, fault.code) for fault in faults] == [
        ("/ops/1/m", "missing"),
        ("/ops/2/m", "missing"),
        ("/ops/3/dtype", "missing"),
    ]


def test_what_the_chip_lacks_is_reported_for_every_op_in_document_order(catalogue: Catalogue) -> None:
    ops = [{**MATMUL, "dtype": "fp8"}, MATMUL, {**MATMUL, "dtype": "fp64"}, {**MATMUL, "dtype": "fp8", "m": 3}]
    faults = refused(lambda: ask(catalogue, ops=ops))
    assert [(fault.pointer, fault.code) for fault in faults] == [(f"/ops/{at}/dtype", "unsupported-dtype") for at in (0, 2, 3)]


def test_what_the_target_lacks_is_reported_once(catalogue: Catalogue) -> None:
    faults = refused(lambda: ask(catalogue, ops=[MATMUL, {**MATMUL, "m": 3}], chip={"peak_flops_per_s": {"bf16": 1e15}}))
    assert [(fault.pointer, fault.code) for fault in faults] == [("/target/chip/hbm/bandwidth_bytes_per_s", "missing")]


def test_an_op_that_is_too_large_is_named(catalogue: Catalogue) -> None:
    letters = "abcdefghijklmnopqrs"
    huge = {"kind": "einsum", "equation": f"{letters}->{letters}", "dtype": "bf16"}
    ops = [{**huge, "dims": dict.fromkeys(letters, 1)}, {**huge, "dims": dict.fromkeys(letters, 2**53 - 1)}]
    assert [(fault.pointer, fault.code) for fault in refused(lambda: ask(catalogue, ops=ops))] == [("/ops/1", "too-large")]


def test_more_ops_than_allowed_are_refused(catalogue: Catalogue) -> None:
    assert len(listed(catalogue, [MATMUL] * MAX_OPS)["per_op"]) == MAX_OPS
    question = validate(Question, {"ops": [MATMUL] * (MAX_OPS + 1), "target": {"chip": CHIP}})
    with pytest.raises(OverLimit, match=str(MAX_OPS)):
        answer(question, catalogue)
