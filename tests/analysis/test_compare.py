"""Comparisons: ratios, the causes that multiply to them, what cancels, one op on every chip, faults with their places."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.compare import ROWS_PER_CASE, compare, rows
from service.catalogue import Catalogue
from service.engine.ops import OPS
from service.errors import OverLimit
from service.schemas.compare import Comparison
from service.schemas.limits import MAX_CASES
from service.schemas.reading import validate

from ..engine.drawing import questions
from .asking import ANY_CLASS, CHIP, MATMUL, Document, as_json, ask, refused

CAUSES = ["op_counts", "dtype_bytes", "peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "mesh_and_sharding", "tile", "engine"]
V5E: Document = {"peak_flops_per_s": {"bf16": 1.97e14, "int8": 3.94e14}, "hbm": {"bandwidth_bytes_per_s": 8.2e11}}
WIDE: Document = {"kind": "matmul", "m": 64, "k": 2**20, "n": 2**20}
"""Weights so large that the rest of the traffic does not show."""


def compared(catalogue: Catalogue, *cases: Document, **question: Any) -> Document:
    asked = validate(Comparison, {"cases": list(cases), **question})
    found: Document = orjson.loads(compare(asked, catalogue))
    return found


def case(op: Document, chip: Document | str = V5E, **members: Any) -> Document:
    return {"op": op, "target": {"chip": chip}, **members}


def factors(written: Document) -> dict[str, float]:
    return {each["cause"]: each["factor"] for each in written["factors"]}


def test_every_case_is_answered_as_if_it_were_alone(catalogue: Catalogue) -> None:
    options = {"overlap": 0.5, "explain": True}
    found = compared(catalogue, case(MATMUL, "nvidia-h100-sxm", options=options), case({**MATMUL, "m": 3}, CHIP))
    first = ask(catalogue, op=MATMUL, chip="nvidia-h100-sxm", options=options)
    second = ask(catalogue, op={**MATMUL, "m": 3})
    for written, alone, at in ((found["cases"][0], first, 0), (found["cases"][1], second, 1)):
        assert (written["op"], written["target"], written["options"]) == (alone["op"], alone["target"], alone["options"])
        assert written["target_digest"] == alone["target_digest"]
        for entry in alone["result"]["assumed"]:
            entry["pointer"] = f"/cases/{at}{entry['pointer']}"
        assert written["result"] == alone["result"]
    assert found["excluded"] == []
    assert found["catalogue_digest"] == catalogue.digest


def test_the_first_case_is_held_against_itself(catalogue: Catalogue) -> None:
    first = compared(catalogue, case(MATMUL), case({**MATMUL, "m": 3}))["cases"][0]
    assert first["ratios"] == {"time": 1, "estimate": None, "bytes": 1, "intensity": 1, "threshold": 1}
    assert [each["cause"] for each in first["factors"]] == CAUSES
    assert set(factors(first).values()) == {1}
    assert (first["bound_changed"], first["moves"], first["estimate_factors"], first["cancels"]) == (False, [], [], [])


@st.composite
def machines(draw: st.DrawFn) -> Document:
    """A chip with a peak for every class on both units, at speeds of its own."""
    return {
        **{
            unit: {name: peak * draw(st.floats(0.1, 10)) for name, peak in ANY_CLASS[unit].items()}
            for unit in ("peak_flops_per_s", "vector_peak_flops_per_s")
        },
        "hbm": {"bandwidth_bytes_per_s": draw(st.floats(1e11, 1e13))},
    }


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_factors_multiply_to_the_ratio_of_the_times(catalogue: Catalogue, data: st.DataObject) -> None:
    """Of any two questions: other kinds, formats, chips. Each step starts where the last one ended."""
    kinds = st.sampled_from(sorted(OPS))
    cases = [case(as_json(kind, data.draw(questions(kind))), data.draw(machines())) for kind in data.draw(st.tuples(kinds, kinds))]
    first, second = compared(catalogue, *cases)["cases"]
    assert math.prod(factors(second).values()) == pytest.approx(second["ratios"]["time"], rel=1e-15 * len(CAUSES))
    steps = second["factors"]
    assert [each["cause"] for each in steps] == CAUSES
    assert steps[0]["lower_s_before"] == first["result"]["time"]["lower_s"]
    assert steps[-1]["lower_s_after"] == second["result"]["time"]["lower_s"]
    for each, following in pairwise(steps):
        assert each["lower_s_after"] == following["lower_s_before"]
        assert each["factor"] == each["lower_s_after"] / each["lower_s_before"]


def test_one_change_has_one_cause(catalogue: Catalogue) -> None:
    twice = {**V5E, "hbm": {"bandwidth_bytes_per_s": 1.64e12}}
    bound = {**MATMUL, "m": 16}
    _, wider, int8, larger = compared(
        catalogue, case(bound), case(bound, twice), case({**bound, "b_dtype": "int8"}), case({**bound, "m": 32})
    )["cases"]
    for written, cause, bounds in (
        (wider, "hbm_bandwidth_bytes_per_s", (0.5, 0.5)),
        (int8, "dtype_bytes", (0.5, 0.51)),
        (larger, "op_counts", (1.0, 1.01)),
    ):
        found = factors(written)
        assert bounds[0] <= found.pop(cause) <= bounds[1]
        assert set(found.values()) == {1}


def test_half_the_bytes_at_twice_the_peak_leave_the_threshold(catalogue: Catalogue) -> None:
    """int8 throughout halves the bytes and doubles the peak: 240 rows as in bf16. How To Scale Your Model, ch. 1, problem 2."""
    bf16, int8, mixed = (
        {**WIDE, "dtype": "bf16"},
        {**WIDE, "dtype": "int8"},
        {**WIDE, "dtype": "bf16", "b_dtype": "int8"},
    )
    _, pure, weights = compared(catalogue, case(bf16), case(int8), case(mixed))["cases"]
    (cancelled,) = pure["cancels"]
    assert cancelled == {
        "causes": ["dtype_bytes", "peak_flops_per_s"],
        "factors": [pytest.approx(0.5), 2.0],
        "product": pytest.approx(1.0),
        "in": "threshold",
    }
    assert pure["ratios"]["threshold"] == pytest.approx(1.0, rel=1e-3)
    assert pure["ratios"]["time"] == 0.5
    assert weights["cancels"] == []
    assert weights["ratios"]["threshold"] == pytest.approx(0.5, rel=1e-3)


def test_the_table_of_formats_in_one_call(catalogue: Catalogue) -> None:
    """bf16, int8, int8 weights, int4 weights on a TPU v5e; rows at which a wide layer turns compute-bound: 240, 240, 120, 60."""
    formats: list[Document] = [
        {"dtype": "bf16"},
        {"dtype": "int8"},
        {"dtype": "bf16", "b_dtype": "int8"},
        {"dtype": "bf16", "b_dtype": "int4"},
    ]
    found = compared(catalogue, *(case({**WIDE, **each}) for each in formats))["cases"]
    results = [each["result"] for each in found]
    assert [each["thresholds"][0]["approximate"] for each in results] == pytest.approx([240.24, 240.24, 120.12, 60.06], rel=1e-4)
    assert [each["layers"]["hbm"]["critical_intensity_flops_per_byte"] for each in results] == pytest.approx(
        [240.24, 480.49, 240.24, 240.24], rel=1e-4
    )
    assert [each["ratios"]["bytes"] for each in found] == pytest.approx([1, 0.5, 0.5, 0.25], rel=1e-3)


def test_weights_of_their_own_never_reach_a_threshold(catalogue: Catalogue) -> None:
    """[B, D] x [B, D, F] in int8: about 2 FLOP/B whatever the batch. How To Scale Your Model, ch. 1, problem 4."""
    shared = {"kind": "matmul", "m": 128, "k": 4096, "n": 4096, "dtype": "int8"}
    _, own = compared(catalogue, case(shared), case({**shared, "m": 1, "batch": 128}))["cases"]
    assert own["result"]["intensity_flops_per_byte"] == pytest.approx(1.99902, rel=1e-5)
    assert own["result"]["flops"] == 2 * 128 * 4096 * 4096
    assert own["result"]["bound"] == "hbm"
    assert own["result"]["thresholds"][1] == {"path": "hbm", "variable": "batch", "exact": None, "approximate": None}


def test_a_change_of_what_binds_is_said(catalogue: Catalogue) -> None:
    _, second = compared(catalogue, case({**MATMUL, "m": 16}), case({**MATMUL, "m": 4096}))["cases"]
    assert second["bound_changed"]


def test_ops_of_other_thresholds_are_not_held_against_each_other(catalogue: Catalogue) -> None:
    _, moved = compared(catalogue, case(MATMUL), case({"kind": "copy", "rows": 8, "cols": 8, "dtype": "bf16"}))["cases"]
    assert moved["ratios"]["threshold"] is None
    assert moved["ratios"]["intensity"] == 0
    from_nothing = compared(catalogue, case({"kind": "copy", "rows": 8, "cols": 8, "dtype": "bf16"}), case(MATMUL))["cases"][1]
    assert from_nothing["ratios"]["intensity"] is None


def test_on_all_chips_the_own_target_is_first_and_the_rest_in_order(catalogue: Catalogue) -> None:
    found = compared(catalogue, case(MATMUL, "nvidia-h100-sxm", measured_s=1e-3), chips="all")
    chips = [each["target"]["chip"] for each in found["cases"]]
    assert chips[0].startswith("nvidia-h100-sxm@")
    others = [chip.ref for chip in catalogue.chips if chip.ref != chips[0]]
    assert chips[1:] == [chip for chip in others if chip in chips]
    left_out = [each["chip"] for each in found["excluded"]]
    assert {*chips, *left_out} == {chip.ref for chip in catalogue.chips}
    lacking = [chip.ref for chip in catalogue.chips if "bf16" not in chip.numbers().get("peak_flops_per_s", {"bf16": 0})]
    assert set(lacking) <= set(left_out)


def test_chips_that_cannot_run_an_op_are_left_out_with_the_reason(catalogue: Catalogue) -> None:
    found = compared(catalogue, {"op": {**MATMUL, "dtype": "nvfp4"}}, chips="all")
    (v100,) = (each for each in found["excluded"] if each["chip"].startswith("nvidia-v100-sxm2"))
    (fault,) = v100["errors"]
    assert (fault["pointer"], fault["code"]) == ("/cases/0/op/dtype", "unsupported-dtype")
    assert "fp16" in fault["suggestions"]
    for each in found["cases"]:
        matrix = catalogue.chip(each["target"]["chip"]).numbers().get("peak_flops_per_s")
        assert each["result"]["layers"]["compute"]["unit"] == ("vector" if matrix is None else "matrix")
        assert matrix is None or "fp4" in matrix


def test_a_chip_in_place_stands_beside_all_chips(catalogue: Catalogue) -> None:
    copied = {"kind": "copy", "rows": 8, "cols": 8, "dtype": "bf16"}
    found = compared(catalogue, case(copied, CHIP), chips="all")
    assert found["cases"][0]["target"]["chip"] == {**CHIP, "cores": 1}
    with_memory = [chip.ref for chip in catalogue.chips if chip.numbers().get("hbm", {}).get("bandwidth_bytes_per_s")]
    assert [each["target"]["chip"] for each in found["cases"][1:]] == with_memory, "what only moves bytes runs on every chip"


def test_an_own_target_that_cannot_run_the_op_is_refused(catalogue: Catalogue) -> None:
    faults = refused(lambda: compared(catalogue, case({**MATMUL, "dtype": "nvfp4"}, "nvidia-v100-sxm2"), chips="all"))
    assert [(fault.pointer, fault.code) for fault in faults] == [("/cases/0/op/dtype", "unsupported-dtype")]


def test_an_op_that_no_chip_can_run_is_refused(catalogue: Catalogue) -> None:
    op = {**MATMUL, "compute_dtype": "int32"}
    faults = refused(lambda: compared(catalogue, {"op": op}, chips="all"))
    assert [(fault.pointer, fault.code) for fault in faults] == [("/cases/0/op/compute_dtype", "unsupported-dtype")]


def test_faults_of_all_cases_are_reported_with_their_places(catalogue: Catalogue) -> None:
    bad = [
        case({**MATMUL, "dtype": "fp64"}),
        case(MATMUL),
        case(MATMUL, "nvidia-h1000"),
        case({"kind": "conv1d", "in_channels": 3, "out_channels": 4, "groups": 2, "length": 9, "kernel": 2, "dtype": "bf16"}),
        case({"kind": "topk", "rows": 1, "cols": 2, "k": 3, "dtype": "fp32"}),
        case(MATMUL, {"peak_flops_per_s": {"bf16": 1e15}}),
    ]
    assert [(fault.pointer, fault.code) for fault in refused(lambda: compared(catalogue, *bad))] == [
        ("/cases/0/op/dtype", "unsupported-dtype"),
        ("/cases/2/target/chip", "unknown-chip"),
        ("/cases/3/op/in_channels", "not-divisible"),
        ("/cases/4/op/k", "out-of-range"),
        ("/cases/5/target/chip/hbm/bandwidth_bytes_per_s", "missing"),
    ]


@pytest.mark.parametrize(
    ("question", "pointer", "code"),
    [
        ({"cases": []}, "/cases", "out-of-range"),
        ({"cases": [case(MATMUL)]}, "/cases", "out-of-range"),
        ({"cases": [case(MATMUL), {"op": MATMUL}]}, "/cases/1/target", "missing"),
        ({"cases": [case(MATMUL), case(MATMUL)], "chips": "all"}, "/cases/1", "invalid-request"),
        ({"cases": [case({**MATMUL, "m": [1, 2]}), case(MATMUL)]}, "/cases/0/op/m", "wrong-type"),
    ],
)
def test_comparisons_that_are_refused(question: Document, pointer: str, code: str) -> None:
    assert [(fault.pointer, fault.code) for fault in refused(lambda: validate(Comparison, question))] == [(pointer, code)]


RING: Document = {"name": "x", "size": 4, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10, "latency_s": 1e-6}
SPLIT: Document = {"a": [None, "x"], "b": ["x", None], "out": [None, None]}
ROWS: Document = {"a": ["x", None], "b": [None, None], "out": ["x", None]}
GATHER: Document = {"kind": "all_gather", "bytes": 2**24, "axes": ["x"]}
ON_MESHES = st.sampled_from(
    [
        case({**MATMUL, "m": 4096}),
        case({**MATMUL, "m": 4096}, sharding=SPLIT),
        case({**MATMUL, "m": 512, "dtype": "int8"}, sharding=ROWS),
        case({"kind": "elementwise", "n": 4096, "dtype": "int8"}, ANY_CLASS),
        case(GATHER),
        case({**GATHER, "kind": "all_to_all", "bytes": 2**30}),
    ]
)
MESHES = st.sampled_from([[RING], [{**RING, "size": 8}], [{**RING, "topology": "line"}], [RING, {**RING, "name": "y"}]])


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases=st.lists(st.tuples(ON_MESHES, MESHES), min_size=2, max_size=2))
def test_on_meshes_too_the_factors_multiply_to_the_ratio(catalogue: Catalogue, cases: list[tuple[Document, Any]]) -> None:
    placed = [{**each, "target": {**each["target"], "mesh": mesh}} for each, mesh in cases]
    found = compared(catalogue, *placed)["cases"]
    first, second = [each["result"]["time"]["lower_s"] for each in found]
    assert [each["cause"] for each in found[1]["factors"]] == CAUSES
    assert math.prod(factors(found[1]).values()) == pytest.approx(second / first, rel=1e-12)


def test_a_layout_is_a_cause_of_its_own(catalogue: Catalogue) -> None:
    """Rows over four chips take a quarter; the same rows over links half as fast take as long, as nothing is sent."""
    target = {"chip": V5E, "mesh": [RING]}
    op = {**MATMUL, "m": 4096}
    slow = {"chip": V5E, "mesh": [{**RING, "bandwidth_bytes_per_s": 2.25e10}]}
    cases = [{"op": op, "target": target}, {"op": op, "target": target, "sharding": ROWS}, {"op": op, "target": slow, "sharding": SPLIT}]
    found = compared(catalogue, *cases)["cases"]
    assert factors(found[1]) == {**dict.fromkeys(CAUSES, 1.0), "mesh_and_sharding": found[1]["ratios"]["time"]}
    assert found[1]["ratios"]["time"] < 0.3
    assert found[1]["sharding"] == ROWS
    against = compared(catalogue, {**cases[2], "target": target}, cases[2])["cases"][1]
    assert factors(against)["mesh_and_sharding"] == against["ratios"]["time"] == 2


def test_one_case_with_its_layout_on_all_chips_that_have_such_links(catalogue: Catalogue) -> None:
    mesh = [{"name": "gpu", "size": 8}]
    sharding = {"a": [None, "gpu"], "b": ["gpu", None], "out": [None, None]}
    one = {"op": MATMUL, "target": {"chip": "nvidia-h100-sxm", "mesh": mesh}, "sharding": sharding}
    found = compared(catalogue, one, chips="all")
    chips = [each["target"]["chip"].partition("@")[0] for each in found["cases"]]
    assert {"nvidia-h100-sxm", "nvidia-b200", "amd-mi300x"} <= set(chips)
    without = {each["chip"].partition("@")[0]: each["errors"][0]["code"] for each in found["excluded"]}
    assert without["google-tpu-v5e"] == without["nvidia-l4"] == "unknown-axis"


def test_an_exchange_with_nobody_is_held_against_nothing(catalogue: Catalogue) -> None:
    mesh = [RING, {**RING, "name": "one", "size": 1}]
    ops: list[Document] = [GATHER, {**GATHER, "axes": ["one"]}]
    (fault,) = refused(lambda: compared(catalogue, *({"op": op, "target": {"chip": V5E, "mesh": mesh}} for op in ops)))
    assert (fault.pointer, fault.code) == ("/cases/1/op", "out-of-range")


def test_as_many_cases_as_allowed(catalogue: Catalogue) -> None:
    assert len(compared(catalogue, *[case(MATMUL)] * MAX_CASES)["cases"]) == MAX_CASES
    with pytest.raises(OverLimit, match=str(MAX_CASES)):
        compared(catalogue, *[case(MATMUL)] * (MAX_CASES + 1))


def test_the_cost_of_a_comparison_is_that_of_its_cases(catalogue: Catalogue) -> None:
    assert rows(validate(Comparison, {"cases": [case(MATMUL)] * 3}), catalogue) == 3 * ROWS_PER_CASE
    assert rows(validate(Comparison, {"cases": [{"op": MATMUL}], "chips": "all"}), catalogue) == len(catalogue.chips) * ROWS_PER_CASE


BLOCKED: list[Document] = [
    {**MATMUL, "b_dtype": "int8", "b_scale": {"block": [128, 128], "dtype": "fp32"}},
    {
        "kind": "quantize",
        "rows": 5,
        "cols": 7,
        "dtype": "bf16",
        "out_dtype": "int4",
        "out_scale": {"block": [2, 2], "dtype": "fp32"},
    },
    {
        "kind": "einsum",
        "equation": "abc,acd->abd",
        "dims": {"a": 3, "b": 5, "c": 7, "d": 2},
        "dtype": "bf16",
        "a_scale": {"block": [1, 2, 3], "dtype": "fp16"},
    },
]
"""Questions whose scales stand in blocks of two or three dims."""


@pytest.mark.parametrize("kind", OPS)
@pytest.mark.parametrize("first", BLOCKED, ids=lambda op: op["kind"])
def test_blocks_of_scales_are_held_against_arrays_of_any_dims(catalogue: Catalogue, first: Document, kind: str) -> None:
    other = {"kind": kind, **OPS[kind].example}
    for written in compared(catalogue, case(first, "nvidia-h100-sxm"), case(other, "nvidia-h100-sxm"), case(first, "nvidia-h100-sxm"))[
        "cases"
    ]:
        assert math.prod(factors(written).values()) == pytest.approx(written["ratios"]["time"], rel=1e-14)
