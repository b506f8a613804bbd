"""Rankings: every candidate as an evaluation gives it, in an order that only the candidates decide, the bad ones left out."""

from __future__ import annotations

from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.rank import rank
from service.catalogue import Catalogue
from service.errors import OverLimit
from service.schemas.rank import RankQuestion
from service.schemas.reading import validate

from .asking import MATMUL, Document, ask, refused
from .test_fit import FORMATS, H100, chip, fitted
from .test_sharding import GRID, LAYOUTS

LAWS = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
MESHES: list[Any] = [GRID, [{**GRID[0], "size": 16}, *GRID[1:]]]
CHIPS: list[Any] = [chip(10**9), chip(10**7), {"hbm": {"bandwidth_bytes_per_s": 1e12}, "peak_flops_per_s": {"bf16": 1e14, "int8": 2e14}}]
OPTIONS = st.fixed_dictionaries({"plan": st.sampled_from(["rules", "cheapest"]), "collectives": st.sampled_from(["exact", "asymptotic"])})


def ranked(catalogue: Catalogue, candidates: list[Document], **question: Any) -> Document:
    found: Document = orjson.loads(rank(validate(RankQuestion, {"candidates": candidates, **question}), catalogue))
    return found


def ids(found: Document) -> list[str]:
    return [item["id"] for item in found["items"]]


@st.composite
def places(draw: st.DrawFn) -> list[Document]:
    """Candidates of which some cannot run the op, and some are equal but for their ids."""
    found: list[Document] = []
    for at in range(draw(st.integers(1, 12))):
        mesh = draw(st.sampled_from([None, *MESHES]))
        target = {"chip": draw(st.sampled_from(CHIPS)), **({} if mesh is None else {"mesh": mesh})}
        sharding = draw(st.sampled_from([None, *LAYOUTS])) if mesh is not None else None
        found.append(
            {"id": f"{draw(st.sampled_from('abé'))}{at}", "target": target, **({} if sharding is None else {"sharding": sharding})}
        )
    return found


@LAWS
@given(
    candidates=places(),
    formats=st.sampled_from(FORMATS),
    options=st.fixed_dictionaries(
        {"plan": st.sampled_from(["rules", "cheapest"]), "collectives": st.sampled_from(["exact", "asymptotic"])}
    ),
    objective=st.sampled_from(["time", "chip_time"]),
)
def test_a_candidate_is_what_an_evaluation_of_it_says(
    catalogue: Catalogue, candidates: list[Document], formats: Document, options: Document, objective: str
) -> None:
    op: Document = {"kind": "matmul", "m": 256, "k": 512, "n": 1024, **formats}
    found = ranked(catalogue, candidates, op=op, options=options, objective=objective)
    by_id = {each["id"]: {name: each[name] for name in each if name != "id"} for each in candidates}
    for item in found["items"]:
        alone = ask(catalogue, op=op, options=options, **by_id[item["id"]])
        result = alone["result"]
        assert item["time_s"] == result["time"]["lower_s"]
        assert (item["bound"], item["devices"]) == (result["bound"], result["devices"])
        assert (item["target"], item["target_digest"]) == (alone["target"], alone["target_digest"])
        if item["fits"] is not None:
            fit = fitted(catalogue, op=op, options=options, **by_id[item["id"]])
            assert (item["fits"], item["headroom_bytes"]) == (fit["fits"], fit["headroom_bytes"])
    for each in found["excluded"]:
        faults = refused(lambda each=each: ask(catalogue, op=op, options=options, **by_id[each["id"]]))  # type: ignore[misc]
        place = f"/candidates/{[candidate['id'] for candidate in candidates].index(each['id'])}"
        assert [error["code"] for error in each["errors"]] == [fault.code for fault in faults]
        assert all(error["pointer"].startswith(("/op", place)) for error in each["errors"])
    assert sorted([*ids(found), *(each["id"] for each in found["excluded"])]) == sorted(by_id)


@LAWS
@given(candidates=places(), seed=st.integers(0, 2**32), objective=st.sampled_from(["time", "chip_time"]))
def test_the_order_of_the_candidates_changes_nothing(catalogue: Catalogue, candidates: list[Document], seed: int, objective: str) -> None:
    def asked(order: list[Document]) -> Document:
        found = ranked(catalogue, order, op={**MATMUL, "m": 256}, objective=objective, constraints={"fits": True})
        for each in found["excluded"]:
            for error in each["errors"]:
                error["pointer"] = error["pointer"].removeprefix(f"/candidates/{[one['id'] for one in order].index(each['id'])}")
        return {name: found[name] for name in ("items", "excluded", "order")}

    found = asked(candidates)
    assert asked(Random(seed).sample(candidates, len(candidates))) == found
    measure = {"time": "time_s", "chip_time": "chip_time_s"}[objective]
    keys = [(item[measure], item["devices"], item["id"]) for item in found["items"]]
    assert keys == sorted(keys)
    assert [item["rank"] for item in found["items"]] == list(range(1, len(keys) + 1))
    assert [item["ratio_to_best"] for item in found["items"]] == [key[0] / keys[0][0] for key in keys]


def test_equal_candidates_go_by_chips_then_by_id(catalogue: Catalogue) -> None:
    """The same product on every chip of a mesh takes as long as on one."""
    pair = {**H100, "mesh": [{"name": "gpu", "size": 2}]}
    candidates = [{"id": "b", "target": H100}, {"id": "a", "target": pair}, {"id": "é", "target": H100}, {"id": "Z", "target": H100}]
    assert ids(ranked(catalogue, candidates, op=MATMUL)) == ["Z", "b", "é", "a"]
    assert [item["ratio_to_best"] for item in ranked(catalogue, candidates, op=MATMUL, objective="chip_time")["items"]] == [1, 1, 1, 2]


def test_more_chips_are_faster_and_cost_more(catalogue: Catalogue) -> None:
    """Eight chips that share the rows take an eighth of the time, and a little more of all chips together as each reads all weights."""
    rows = {"a": ["gpu", None], "b": [None, None], "out": ["gpu", None]}
    eight: Document = {"id": "eight", "target": {**H100, "mesh": [{"name": "gpu", "size": 8}]}, "sharding": rows}
    candidates = [{"id": "one", "target": H100}, eight]
    assert ids(ranked(catalogue, candidates, op=MATMUL)) == ["eight", "one"]
    assert ids(ranked(catalogue, candidates, op=MATMUL, objective="chip_time")) == ["one", "eight"]


def test_constraints_leave_out_what_misses_them(catalogue: Catalogue) -> None:
    candidates = [
        {"id": "small", "target": {"chip": chip(10**8)}},
        {"id": "large", "target": {"chip": chip(10**10)}},
        {"id": "unknown", "target": {"chip": CHIPS[2]}},
    ]
    everything = ranked(catalogue, candidates, op=MATMUL)
    assert {item["id"]: item["fits"] for item in everything["items"]} == {"small": False, "large": True, "unknown": None}
    (note,) = next(item["notes"] for item in everything["items"] if item["id"] == "unknown")
    assert note.startswith("fits and headroom_bytes are null")
    found = ranked(catalogue, candidates, op=MATMUL, constraints={"fits": True, "max_time_s": 1e-9})
    assert found["items"] == []
    assert [(each["id"], each["reasons"]) for each in found["excluded"]] == [
        ("large", ["too-slow"]),
        ("small", ["does-not-fit", "too-slow"]),
        ("unknown", ["problem"]),
    ]
    assert found["excluded"][2]["errors"][0]["pointer"] == "/candidates/2/target/chip/hbm/capacity_bytes"
    assert found["excluded"][1]["headroom_bytes"] < 0
    exactly = everything["items"][0]["time_s"]
    assert len(ranked(catalogue, candidates, op=MATMUL, constraints={"max_time_s": exactly})["items"]) == 2


def test_a_list_takes_the_sum_of_its_ops(catalogue: Catalogue) -> None:
    ops = [
        {**MATMUL, "m": 4096, "count": 3},
        {"kind": "softmax", "rows": 4096, "cols": 8192, "dtype": "bf16"},
        {**MATMUL, "count": 7},
        {"kind": "all_reduce", "bytes": 10**9, "axes": ["gpu"], "count": 2},
    ]
    target = {**H100, "mesh": [{"name": "gpu", "size": 8}]}
    (item,) = ranked(catalogue, [{"id": "a", "target": target}], ops=ops)["items"]
    assert item["time_s"] == ask(catalogue, target=target, ops=ops)["result"]["totals"]["time"]["lower_s"]
    assert item["headroom_bytes"] == fitted(catalogue, target, ops=ops)["headroom_bytes"]
    assert item["bound"] is None
    assert any(note.startswith("bound is null") for note in item["notes"])
    (alike,) = ranked(catalogue, [{"id": "a", "target": target}], ops=[ops[0], ops[0]])["items"]
    assert alike["bound"] == "compute"


def test_an_exchange_with_nobody_takes_no_time(catalogue: Catalogue) -> None:
    axis = {"name": "x", "topology": "ring", "bandwidth_bytes_per_s": 1e9}
    candidates = [{"id": str(size), "target": {"chip": chip(10**9), "mesh": [{**axis, "size": size}]}} for size in (2, 1)]
    found = ranked(catalogue, candidates, op={"kind": "all_gather", "bytes": 1000, "axes": ["x"]})
    assert [(item["id"], item["bound"], item["ratio_to_best"]) for item in found["items"]] == [("1", None, None), ("2", "network", None)]
    assert len(found["items"][0]["notes"]) == 2


def test_bad_candidates_are_left_out_with_their_problems(catalogue: Catalogue) -> None:
    mesh, whole = [{"name": "gpu", "size": 8}], {"a": [None, None], "b": [None, None], "out": [None, None]}
    candidates: list[Document] = [
        {"id": "chip", "target": {"chip": "nvidia-h100"}},
        {"id": "format", "target": {"chip": "nvidia-a100-sxm-80gb"}},
        {"id": "axis", "target": {**H100, "mesh": mesh}, "sharding": {**whole, "a": [None, "y"]}},
        {"id": "domain", "target": {**H100, "mesh": [{"name": "gpu", "size": 9}]}},
        {
            "id": "twice",
            "target": {**H100, "mesh": mesh},
            "sharding": {**whole, "a": ["gpu", "gpu"]},
        },
        {"id": "rate", "target": {"chip": {"peak_flops_per_s": {"fp8": 1e15}}}},
        {"id": "fine", "target": H100},
    ]
    found = ranked(catalogue, candidates, op={**MATMUL, "dtype": "fp8"})
    assert ids(found) == ["fine"]
    problems = {each["id"]: [(error["pointer"], error["code"]) for error in each["errors"]] for each in found["excluded"]}
    assert problems == {
        "axis": [("/candidates/2/sharding/a/1", "unknown-axis")],
        "chip": [("/candidates/0/target/chip", "unknown-chip")],
        "domain": [("/candidates/3/target/mesh/0/size", "out-of-range")],
        "format": [("/op/dtype", "unsupported-dtype")],
        "rate": [("/candidates/5/target/chip/hbm/bandwidth_bytes_per_s", "missing")],
        "twice": [("/candidates/4/sharding/a/1", "axis-repeated")],
    }
    (suggested,) = (error["suggestions"] for each in found["excluded"] if each["id"] == "chip" for error in each["errors"])
    assert "nvidia-h100-sxm" in suggested


def test_an_op_that_is_too_large_anywhere_leaves_all_out(catalogue: Catalogue) -> None:
    letters = "abcdefghijklmnopqrst"
    op = {"kind": "einsum", "equation": f"{letters}->a", "dtype": "fp32", "dims": dict.fromkeys(letters, 2**53 - 1)}
    found = ranked(catalogue, [{"id": "a", "target": H100}, {"id": "b", "target": {"chip": chip(10**9)}}], op=op)
    assert [(error["pointer"], error["code"]) for each in found["excluded"] for error in each["errors"]] == [("/op", "too-large")] * 2


def test_what_was_left_out_is_listed(catalogue: Catalogue) -> None:
    found = ranked(catalogue, [{"id": "a", "target": H100}], op=MATMUL)
    assumed = {each["pointer"]: each["value"] for each in found["assumed"]}
    assert assumed == {
        "/op/batch": 1,
        "/op/a_dtype": "bf16",
        "/op/b_dtype": "bf16",
        "/op/out_dtype": "bf16",
        "/op/compute_dtype": "bf16",
        "/candidates/0/target/chip": catalogue.chip("nvidia-h100-sxm").ref,
        "/objective": "time",
        "/constraints/fits": False,
        "/options/collectives": "exact",
        "/options/plan": "rules",
    }


LIMITS: dict[str, tuple[Document, int]] = {
    "257 candidates": ({"op": MATMUL}, 257),
    "1,001 ops": ({"ops": [MATMUL] * 1001}, 1),
    "10,001 ops over all candidates": ({"ops": [MATMUL] * 73}, 137),
}


@pytest.mark.parametrize(("question", "count"), LIMITS.values(), ids=LIMITS)
def test_too_much_is_refused_as_a_whole(catalogue: Catalogue, question: Document, count: int) -> None:
    with pytest.raises(OverLimit):
        ranked(catalogue, [{"id": str(at), "target": H100} for at in range(count)], **question)


def test_many_plans_on_many_axes_are_refused(catalogue: Catalogue) -> None:
    """16 axes and three arrays in 60 candidates are 2,880 pairs, 40 times as many with all plans."""
    mesh = [{**GRID[0], "name": f"x{at}", "size": 2} for at in range(16)]
    place = {"target": {**H100, "mesh": mesh}, "sharding": {"a": [None, None], "b": [None, None], "out": [None, None]}}
    candidates = [{"id": str(at), **place} for at in range(60)]
    assert len(ranked(catalogue, candidates, op=MATMUL)["items"]) == 60
    with pytest.raises(OverLimit):
        ranked(catalogue, candidates, op=MATMUL, options={"plan": "cheapest"})
