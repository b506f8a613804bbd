"""Saved analyses against each other: numbers, causes, verdicts that moved, what differs, and whether it is like for like."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis import history
from service.analysis.comparisons.differences import MOST
from service.analysis.comparisons.document import Chosen, Place, compare
from service.catalogue import Catalogue
from service.engine import ENGINE_VERSION
from service.engine.ops import OPS
from service.errors import OverLimit
from service.schemas.analyses import SavedQuestion
from service.schemas.comparisons import SavedComparison
from service.schemas.limits import MAX_COMPARED_OPS
from service.schemas.reading import validate
from service.storage import Analysis

from ...engine.drawing import questions
from ..asking import CHIP, MATMUL, Document, as_json, refused
from ..test_compare import CAUSES, GATHER, MESHES, ON_MESHES, RING, ROWS, SPLIT, case, compared, factors, machines

H100: Document = {"op": MATMUL, "target": {"chip": "nvidia-h100-sxm"}}
LIST: Document = {
    "ops": [{**MATMUL, "m": 2048, "count": 3}, {"kind": "copy", "rows": 64, "cols": 64, "dtype": "bf16"}],
    "target": {"chip": CHIP},
}
Repeatable = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def kept(catalogue: Catalogue, question: Document) -> Analysis:
    return history.prepare(validate(SavedQuestion, question), catalogue, clock=lambda: 1_700_000_000_000_000)


def against(catalogue: Catalogue, base: Analysis, *others: Analysis, strict: bool = False) -> Document:
    """The document of a comparison of analyses as they are stored."""
    asked = SavedComparison(base=base.id, others=[each.id for each in others], strict=strict)
    found = Chosen(Place("/base", base), [Place(f"/others/{at}", each) for at, each in enumerate(others)])
    document: Document = orjson.loads(compare(asked, found, catalogue))
    return document


def row(catalogue: Catalogue, base: Document, other: Document) -> Document:
    found: Document = against(catalogue, kept(catalogue, base), kept(catalogue, other))["rows"][0]
    return found


def numbers(found: Document, part: str = "ratio") -> dict[str, Any]:
    """One part of every metric and of every threshold."""
    of_dims = {
        ".".join(str(each[name]) for name in ("path", "variable", "axis") if name in each): each[part] for each in found["thresholds"]
    }
    return {**{each["metric"]: each[part] for each in found["metrics"]}, **of_dims}


def answered(analysis: Analysis, **changes: Any) -> Analysis:
    """The analysis with members of its answer changed, as another engine could have kept it."""
    answer = {**orjson.loads(analysis.answer), **changes}
    return replace(analysis, answer=orjson.dumps(answer).decode(), engine_version=answer["engine_version"])


@Repeatable
@given(data=st.data())
def test_saved_or_not_the_causes_are_the_same(catalogue: Catalogue, data: st.DataObject) -> None:
    """Of any two questions: the stored numbers alone give the factors that the questions gave, bit for bit."""
    kinds = st.sampled_from(sorted(OPS))
    cases = [case(as_json(kind, data.draw(questions(kind))), data.draw(machines())) for kind in data.draw(st.tuples(kinds, kinds))]
    found, asked = row(catalogue, *cases), compared(catalogue, *cases)["cases"][1]
    for part in ("factors", "moves", "cancels", "estimate_factors"):
        assert found[part] == asked[part]
    assert numbers(found)["lower_s"] == asked["ratios"]["time"]
    assert math.prod(factors(found).values()) == pytest.approx(asked["ratios"]["time"], rel=1e-14)


@Repeatable
@given(cases=st.tuples(st.tuples(ON_MESHES, MESHES), st.tuples(ON_MESHES, MESHES)), plan=st.sampled_from(["rules", "cheapest"]))
def test_meshes_and_layouts_are_read_as_they_were_understood(catalogue: Catalogue, cases: Any, plan: str) -> None:
    placed = [{**each, "target": {**each["target"], "mesh": mesh}, "options": {"plan": plan}} for each, mesh in cases]
    assert row(catalogue, *placed)["factors"] == compared(catalogue, *placed)["cases"][1]["factors"]


@Repeatable
@given(data=st.data())
def test_to_change_sides_inverts_every_ratio(catalogue: Catalogue, data: st.DataObject) -> None:
    kinds = st.sampled_from(sorted(OPS))
    cases = [case(as_json(kind, data.draw(questions(kind))), data.draw(machines())) for kind in data.draw(st.tuples(kinds, kinds))]
    one, other = row(catalogue, *cases), row(catalogue, *reversed(cases))
    there, back = numbers(one), numbers(other)
    assert {*there} == {*back}
    for name, ratio in there.items():
        if ratio and back[name]:
            assert ratio * back[name] == pytest.approx(1.0, rel=1e-14)
    assert {name: None if delta is None else -delta for name, delta in numbers(other, "delta").items()} == numbers(one, "delta")
    assert [(each["layer"], each["from"], each["to"]) for each in one["moves"]] == [
        (each["layer"], each["to"], each["from"]) for each in other["moves"]
    ]
    assert math.prod(factors(one).values()) * math.prod(factors(other).values()) == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("question", [H100, LIST, {**H100, "options": {"overlap": 0.5, "explain": True}, "measured_s": 1e-3}])
def test_an_analysis_against_itself_is_one_throughout(catalogue: Catalogue, question: Document) -> None:
    base = kept(catalogue, question)
    document = against(catalogue, base, base, strict=True)
    (found,) = document["rows"]
    assert {*numbers(found).values()} <= {1, None}
    assert {*numbers(found, "delta").values()} == {0}
    assert [each["cause"] for each in found["factors"]] == CAUSES
    assert {*factors(found).values(), *(each["factor"] for each in found["estimate_factors"])} <= {1}
    assert (found["moves"], found["cancels"], found["differs"], found["notes"], document["warnings"]) == ([], [], [], [], [])
    assert {"target_digest", "input_digest", "options", "engine_version"} <= {*document["same"]}
    assert found["analysis"] == document["base"]


def test_what_a_mesh_changes_is_said_with_the_verdict_that_moved(catalogue: Catalogue) -> None:
    """Half of the sum on each of two chips: half of the work, and a network that takes longer than it."""
    mesh = [{**RING, "size": 2, "bandwidth_bytes_per_s": 1e9}]
    found = row(
        catalogue,
        case({**MATMUL, "m": 16}),
        {**case({**MATMUL, "m": 16}), "target": {"chip": case(MATMUL)["target"]["chip"], "mesh": mesh}, "sharding": SPLIT},
    )
    assert found["bound"] == {"from": "hbm", "to": "network", "changed": True}
    assert found["moves"] == [{"layer": "all", "from": "hbm", "to": "network", "name": "hbm → network"}]
    assert factors(found) == {**dict.fromkeys(CAUSES, 1.0), "mesh_and_sharding": numbers(found)["lower_s"]}
    assert [each["pointer"] for each in found["differs"]] == ["/sharding", "/target/mesh"]


def test_an_estimate_is_split_into_the_roofline_and_what_kernels_lose(catalogue: Catalogue) -> None:
    found = row(catalogue, H100, {"op": {**MATMUL, "m": 520}, "target": {"chip": "nvidia-h200-sxm"}})
    split = {each["cause"]: each["factor"] for each in found["estimate_factors"]}
    ratios = numbers(found)
    assert split["lower_s"] == ratios["lower_s"]
    assert math.prod(split.values()) == pytest.approx(ratios["estimate_s"], rel=1e-15)


def test_lists_of_ops_compare_their_totals_and_each_op_its_verdict(catalogue: Catalogue) -> None:
    small = {**LIST, "ops": [{**LIST["ops"][0], "m": 16, "count": 6}, LIST["ops"][1]]}
    found = row(catalogue, LIST, small)
    ratios = numbers(found)
    assert found["moves"] == [
        {"op": 0, "layer": "all", "from": "compute", "to": "hbm", "name": "compute → hbm"},
        {"op": 0, "layer": "hbm", "from": "compute", "to": "hbm", "name": "compute → hbm"},
    ]
    assert found["bound"] == {"from": None, "to": "hbm", "changed": True}
    assert factors(found) == {**dict.fromkeys(CAUSES, 1.0), "op_counts": ratios["lower_s"]}
    assert found["thresholds"] == []
    assert [each["pointer"] for each in found["differs"]] == ["/ops/0/m", "/ops/0/count"]
    faster = {**LIST, "target": {"chip": {**CHIP, "peak_flops_per_s": {"bf16": 2e15}, "hbm": {"bandwidth_bytes_per_s": 4e12}}}}
    assert factors(row(catalogue, LIST, faster))["peak_flops_per_s"] < 1
    assert numbers(row(catalogue, LIST, faster))["lower_s"] == pytest.approx(0.5)


def test_an_op_is_held_against_a_list_of_one_but_not_of_two(catalogue: Catalogue) -> None:
    alone: Document = {"op": {**MATMUL, "m": 2048}, "target": {"chip": CHIP}}
    thrice = row(catalogue, alone, {**LIST, "ops": LIST["ops"][:1]})
    assert factors(thrice)["op_counts"] == numbers(thrice)["lower_s"] == pytest.approx(3)
    several = row(catalogue, alone, LIST)
    assert (several["factors"], several["moves"]) == ([], [])
    assert several["notes"] == ["There are no factors: the lists have 1 and 2 ops, and no op of one stands for one of the other."]
    assert numbers(several)["lower_s"] > 3


def test_what_two_engines_answered_otherwise_is_a_factor_of_its_own(catalogue: Catalogue) -> None:
    """The base was kept by an engine that found half the time: a factor of 2 that no cause of the question explains."""
    base, other = kept(catalogue, H100), kept(catalogue, {"op": {**MATMUL, "m": 1024}, "target": {"chip": "nvidia-h100-sxm"}})
    result = orjson.loads(base.answer)["result"]
    kept_by = answered(
        base, engine_version="0.0.9", result={**result, "time": {**result["time"], "lower_s": result["time"]["lower_s"] / 2}}
    )
    document = against(catalogue, kept_by, other)
    (found,) = document["rows"]
    assert factors(found) == {**dict.fromkeys(CAUSES, 1.0), "op_counts": pytest.approx(2.0), "engine": pytest.approx(2.0)}
    assert math.prod(factors(found).values()) == pytest.approx(numbers(found)["lower_s"], rel=1e-14)
    assert found["factors"][0]["lower_s_before"] == result["time"]["lower_s"] / 2
    assert found["notes"] == [
        (
            f"The factors are those of engine {ENGINE_VERSION}; `engine` is what the stored answers, "
            f"by engine 0.0.9 and {ENGINE_VERSION}, have beyond them."
        )
    ]
    assert [each["code"] for each in document["warnings"]] == ["engine-version", "op"]
    assert "engine_version" not in document["same"]


def test_a_question_that_the_engine_no_longer_takes_has_no_factors_and_says_so(catalogue: Catalogue) -> None:
    base = kept(catalogue, H100)
    asked = orjson.loads(base.question)
    older = replace(base, question=orjson.dumps({**asked, "op": {**asked["op"], "of_old": 1}}).decode())
    (found,) = against(catalogue, base, older)["rows"]
    assert found["factors"] == []
    (note,) = found["notes"]
    assert note.startswith(f"There are no factors: the engine of this service does not take the stored question of {older.id}: ")
    assert numbers(found)["lower_s"] == 1


def test_what_takes_no_time_has_neither_ratio_nor_factors(catalogue: Catalogue) -> None:
    mesh = [RING, {**RING, "name": "one", "size": 1}]
    nobody, ring = ({"op": {**GATHER, "axes": [axis]}, "target": {"chip": CHIP, "mesh": mesh}} for axis in ("one", "x"))
    found = row(catalogue, nobody, ring)
    assert (numbers(found)["lower_s"], found["factors"], found["estimate_factors"]) == (None, [], [])
    assert found["notes"] == ["There are no factors: one of the two takes no time."]
    assert found["bound"] == {"from": None, "to": "network", "changed": True}
    assert found["moves"] == []


UNLIKE: dict[str, tuple[Document, str]] = {
    "more rows": ({**H100, "op": {**MATMUL, "m": 513}}, "op"),
    "another op": ({**H100, "op": {"kind": "copy", "rows": 8, "cols": 8, "dtype": "bf16"}}, "op"),
    "a list": ({**H100, "op": None, "ops": [MATMUL, MATMUL]}, "op"),
    "overlap": ({**H100, "options": {"overlap": 0.5}}, "options"),
}
LIKE: dict[str, Document] = {
    "another format": {**H100, "op": {**MATMUL, "dtype": "fp8"}},
    "scales": {**H100, "op": {**MATMUL, "b_scale": {"group_size": 128, "dtype": "fp16"}}},
    "another chip": {**H100, "target": {"chip": "google-tpu-v5e"}},
    "a mesh": {**H100, "target": {"chip": "nvidia-h100-sxm", "mesh": [RING]}, "sharding": ROWS},
}


@pytest.mark.parametrize(("question", "code"), UNLIKE.values(), ids=UNLIKE)
def test_what_is_not_like_for_like_is_warned_of_and_refused_where_that_is_asked(
    catalogue: Catalogue, question: Document, code: str
) -> None:
    base, other = kept(catalogue, H100), kept(catalogue, {name: each for name, each in question.items() if each is not None})
    document = against(catalogue, base, base, other)
    (warned,) = document["warnings"]
    assert (warned["row"], warned["analysis"], warned["code"]) == (1, other.id, code)
    (fault,) = refused(lambda: against(catalogue, base, base, other, strict=True))
    assert (fault.pointer, fault.code) == ("/others/1", "invalid-request")
    assert fault.detail == f"Number 2 of the others is not like for like. {warned['detail']}"


@pytest.mark.parametrize("question", LIKE.values(), ids=LIKE)
def test_formats_chips_meshes_and_layouts_may_differ(catalogue: Catalogue, question: Document) -> None:
    base, other = kept(catalogue, H100), kept(catalogue, question)
    assert against(catalogue, base, other, strict=True)["warnings"] == []


def test_revisions_calibrations_and_forms_of_answers_are_warned_of(catalogue: Catalogue) -> None:
    base = kept(catalogue, H100)
    revised = replace(base, id="an_revised", chip_revision=2)
    recalibrated = replace(base, id="an_recalibrated", target_digest="f" * 64)
    older = answered(base, document_version=2)
    document = against(catalogue, base, revised, recalibrated, older)
    assert [(each["row"], each["code"]) for each in document["warnings"]] == [
        (0, "chip-revision"),
        (1, "calibration"),
        (2, "document-version"),
    ]


def test_only_so_many_differences_are_listed(catalogue: Catalogue) -> None:
    wide: Document = {"ops": [{**MATMUL, "m": m} for m in range(1, MOST + 11)], "target": {"chip": CHIP}}
    found = row(catalogue, wide, {**wide, "ops": [{**op, "m": op["m"] + 1000} for op in wide["ops"]]})
    assert len(found["differs"]) == MOST
    assert found["notes"] == [f"{MOST + 10} members of the question differ; the first {MOST} are listed."]


def test_more_ops_than_allowed_are_refused(catalogue: Catalogue) -> None:
    many = kept(catalogue, {"ops": [MATMUL] * 100, "target": {"chip": CHIP}})
    with pytest.raises(OverLimit, match=str(MAX_COMPARED_OPS)):
        against(catalogue, many, *[many] * (MAX_COMPARED_OPS // 100))


def test_estimates_on_other_measurements_are_told_apart(catalogue: Catalogue) -> None:
    found = row(catalogue, H100, {"op": MATMUL, "target": {"chip": "nvidia-h200-sxm"}})
    assert found["notes"] == ["The estimates do not stand on the same measurements: that of the base on chip, this on architecture."]
