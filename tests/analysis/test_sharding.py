"""Sharded products as questions: what a chip does, what the chips exchange, what else could be done, and what it is on one chip."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.notes import HELD
from service.catalogue import Catalogue

from .asking import Document, ask, refused

V5E: Document = {"peak_flops_per_s": {"bf16": 1.97e14, "int8": 3.94e14}, "hbm": {"bandwidth_bytes_per_s": 8.2e11}}
"""TPU v5e as How To Scale Your Model computes with it."""

TWO: list[Document] = [{"name": "x", "size": 2, "topology": "line", "bandwidth_bytes_per_s": 4.5e10}]
GRID: list[Document] = [
    {"name": "x", "size": 4, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10, "latency_s": 1e-6},
    {"name": "y", "size": 2, "topology": "line", "bandwidth_bytes_per_s": 4.5e10, "latency_s": 1e-6},
    {"name": "node", "size": 2, "topology": "switch", "bandwidth_bytes_per_s": 1e10, "latency_s": 5e-6},
]
SPLIT: Document = {"a": [None, "x"], "b": ["x", None], "out": [None, None]}
"""The contraction split between chips, partial sums exchanged."""

FSDP: Document = {"a": ["x", None], "b": ["x", None], "out": ["x", None]}
CLASH: Document = {"a": ["x", None], "b": [None, "x"], "out": [None, None]}


def product(m: Any, k: Any, n: Any, **more: Any) -> Document:
    return {"kind": "matmul", "m": m, "k": k, "n": n, "dtype": "bf16", **more}


def asked(catalogue: Catalogue, op: Document, sharding: Document | None = SPLIT, mesh: Any = TWO, **options: Any) -> Document:
    members = {} if sharding is None else {"sharding": sharding}
    found: Document = ask(catalogue, target={"chip": V5E, "mesh": mesh}, op=op, options=options, **members)["result"]
    return found


def threshold(found: Document, path: str, variable: str) -> Document:
    return next(each for each in found["thresholds"] if (each["path"], each["variable"]) == (path, variable))


def test_two_chips_that_split_the_contraction(catalogue: Catalogue) -> None:
    """Ch. 1: compute-bound at home, bound by the exchange together until D > 2·n·C/W = 8755.6, whatever the batch."""
    found = asked(catalogue, product(1024, 8192, 16_384))
    home, layers = found["single_chip"], found["layers"]
    assert (home["bound"], home["layers"]["hbm"]["bound"]) == ("compute", "compute")
    assert layers["compute"]["time_s"] == home["layers"]["compute"]["time_s"] / 2
    assert (layers["hbm"]["bound"], layers["network"]["bound"], found["bound"]) == ("compute", "network", "network")
    assert layers["network"]["intensity_flops_per_byte"] == 8192 / 2
    assert layers["network"]["critical_intensity_flops_per_byte"] == pytest.approx(1.97e14 / 4.5e10, rel=1e-12)
    expected = pytest.approx(2 * 2 * 1.97e14 / 9e10, rel=1e-12)
    assert threshold(found, "network", "k") == {"path": "network", "variable": "k", "exact": expected, "approximate": expected}
    assert [each["kind"] for each in layers["network"]["collectives"]] == ["all_reduce"]
    bounds = {m: [asked(catalogue, product(m, k, 16_384))["layers"]["network"]["bound"] for k in (8754, 8756)] for m in (64, 1024, 65_536)}
    assert list(bounds.values()) == [["network", "compute"]] * 3


def test_gathered_weights_are_paid_for_by_rows(catalogue: Catalogue) -> None:
    """FSDP: rows per chip above C/W: m > X·C/W, and the verdict flips where the threshold says."""
    mesh = [{**TWO[0], "size": 4, "topology": "ring"}]
    found = threshold(asked(catalogue, product(4096, 8192, 8192), FSDP, mesh), "network", "m")
    assert found["approximate"] == pytest.approx(4 * 1.97e14 / 9e10, rel=1e-12)
    assert found["exact"] == pytest.approx(found["approximate"] * 3 / 4, rel=1e-12)
    around = [int(found["exact"] // 4) * 4, int(found["exact"] // 4) * 4 + 4]
    assert [asked(catalogue, product(m, 8192, 8192), FSDP, mesh)["layers"]["network"]["bound"] for m in around] == ["network", "compute"]


@pytest.mark.parametrize("form", ["exact", "asymptotic"])
def test_the_largest_degree_of_tensor_parallelism(catalogue: Catalogue, form: str) -> None:
    """Y < F·W/C for sums that are scattered; the verdict flips at the size that the answer gives."""
    scattered = {"a": [None, "x"], "b": ["x", None], "out": [None, "x"]}

    def on(size: int) -> Document:
        return asked(catalogue, product(4096, 27_720, 27_720), scattered, [{**TWO[0], "size": size, "topology": "ring"}], collectives=form)

    found = threshold(on(4), "network", "axis_size")
    assert found["axis"] == "x"
    assert found["approximate"] == pytest.approx(27_720 * 9e10 / 1.97e14, rel=1e-12)
    assert found["exact"] == pytest.approx(found["approximate"] + (form == "exact"), rel=1e-12)
    sizes = [size for size in (11, 12, 14, 15) if 27_720 % size == 0]
    bounds = [on(size)["layers"]["network"]["bound"] for size in sizes]
    assert bounds == ["compute" if size < found["exact"] else "network" for size in sizes]


def test_no_degree_below_one_chip_is_a_threshold(catalogue: Catalogue) -> None:
    """F·W/C = 0.058: so thin a layer pays for its sums at every degree. The textbook has its number all the same."""
    scattered = {"a": [None, "x"], "b": ["x", None], "out": [None, "x"]}
    found = asked(catalogue, product(4096, 128, 8192), scattered, [{**TWO[0], "topology": "ring"}], collectives="asymptotic")
    degree = threshold(found, "network", "axis_size")
    assert (degree["exact"], degree["approximate"]) == (None, pytest.approx(128 * 9e10 / 1.97e14, rel=1e-12))
    assert "The threshold in axis_size is null: no value of it was found at which compute and network change places." in found["notes"]
    exact = asked(catalogue, product(4096, 128, 8192), scattered, [{**TWO[0], "topology": "ring"}])
    assert threshold(exact, "network", "axis_size")["exact"] == pytest.approx(1 + 128 * 9e10 / 1.97e14, rel=1e-12)


def test_thresholds_of_memory_are_in_the_dims_of_the_whole(catalogue: Catalogue) -> None:
    """With rows split over four chips it takes four times as many for each to have enough."""
    rows = {"a": ["x", None], "b": [None, None], "out": ["x", None]}
    mesh = [{**TWO[0], "size": 4}]
    alone = threshold(asked(catalogue, product(4096, 8192, 8192), None, mesh), "hbm", "m")
    split = threshold(asked(catalogue, product(4096, 8192, 8192), rows, mesh), "hbm", "m")
    assert [split[name] / alone[name] for name in ("exact", "approximate")] == [pytest.approx(4), pytest.approx(4)]


def test_sequences_count_over_all_chips(catalogue: Catalogue) -> None:
    op = {"kind": "matmul", "sequences": 512, "sequence_length": 4096, "replicas": 1, "k": 8192, "n": 8192, "dtype": "bf16"}
    mesh = [{**TWO[0], "size": 4, "topology": "ring"}]
    found = asked(catalogue, op, FSDP, mesh)
    rows = threshold(asked(catalogue, product(512 * 4096, 8192, 8192), FSDP, mesh), "network", "m")["exact"]
    assert threshold(found, "network", "sequences")["exact"] == rows // 4096 + 1


def test_work_over_axes_that_split_nothing_is_repeated(catalogue: Catalogue) -> None:
    found = asked(catalogue, product(4096, 8192, 8192), {"a": ["x", None], "b": [None, None], "out": ["x", None]}, GRID)
    whole = 2 * 4096 * 8192 * 8192
    assert (found["devices"], found["flops"], found["total_flops"]) == (16, whole // 4, whole * 4)


LAYOUTS: list[Document] = [
    SPLIT,
    FSDP,
    CLASH,
    {"a": [None, "x"], "b": [None, None], "out": [None, None]},
    {"a": [["x", "y"], None], "b": [None, "node"], "out": [None, ["node", "x"]]},
    {"a": ["y", "x"], "b": ["x", "node"], "out": ["y", "node"]},
    {"a": [None, ["x", "node"]], "b": [["x", "node"], "y"], "out": ["x", "y"]},
    {"a": [None, None], "b": [None, None], "out": ["x", "y"]},
]
SIZES = st.sampled_from([64, 256, 1024, 4096, 16_384])


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sharding=st.sampled_from(LAYOUTS), m=SIZES, n=SIZES, form=st.sampled_from(["exact", "asymptotic"]))
def test_the_verdict_by_intensity_is_the_verdict_by_times(catalogue: Catalogue, sharding: Document, m: int, n: int, form: str) -> None:
    found = asked(catalogue, product(m, 1024, n), sharding, GRID, collectives=form)
    network, compute = found["layers"]["network"], found["layers"]["compute"]["time_s"]
    assert network["time_s"] == pytest.approx(sum(each["time_s"] for each in network["collectives"]), rel=1e-12)
    times = (compute, found["layers"]["hbm"]["time_s"], network["time_s"])
    assert found["time"]["lower_s"] == max(times)
    assert found["time"]["upper_s"] == pytest.approx(sum(times), rel=1e-12)
    if network["collectives"]:
        intensity, critical = network["intensity_flops_per_byte"], network["critical_intensity_flops_per_byte"]
        assert (intensity > critical) == (network["bound"] == "compute") or intensity == pytest.approx(critical, rel=1e-8)
    else:
        assert (network["bound"], network["intensity_flops_per_byte"]) == (None, None)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sharding=st.sampled_from(LAYOUTS), m=SIZES, k=SIZES, n=SIZES)
def test_the_cheapest_plan_is_the_fastest_of_all_that_are_listed(catalogue: Catalogue, sharding: Document, m: int, k: int, n: int) -> None:
    by_rules, cheapest = (asked(catalogue, product(m, k, n), sharding, GRID, plan=plan) for plan in ("rules", "cheapest"))
    others = by_rules["layers"]["network"]["alternatives"]
    times = [by_rules["time"]["lower_s"], *(each["lower_s"] for each in others)]
    assert cheapest["time"]["lower_s"] == min(times)
    named = [each["plan"] for each in cheapest["layers"]["network"]["alternatives"]]
    assert len(named) == len(others)
    if min(times) < times[0]:
        assert "rules" in named


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sharding=st.sampled_from(LAYOUTS), rows=st.lists(SIZES, min_size=3, max_size=3), n=SIZES)
def test_columns_hold_the_answers_to_their_rows(catalogue: Catalogue, sharding: Document, rows: list[int], n: int) -> None:
    together = asked(catalogue, product(rows, 1024, n), sharding, GRID)
    network = together["layers"]["network"]
    for at, m in enumerate(rows):
        alone = asked(catalogue, product(m, 1024, n), sharding, GRID)
        assert together["time"]["lower_s"][at] == alone["time"]["lower_s"]
        assert together["flops"][at] == alone["flops"]
        held = [(each["kind"], each["operand"], each["bytes"][at]) for each in network["collectives"] if each["bytes"][at] is not None]
        assert held == [(each["kind"], each["operand"], each["bytes"]) for each in alone["layers"]["network"]["collectives"]]
        others = {each["plan"]: each["lower_s"][at] for each in network["alternatives"] if each["lower_s"][at] is not None}
        assert others == {each["plan"]: each["lower_s"] for each in alone["layers"]["network"]["alternatives"]}
        found = {(each["path"], each["variable"]): each["exact"][at] for each in together["thresholds"] if each["exact"][at] is not None}
        exact = {(each["path"], each["variable"]): each["exact"] for each in alone["thresholds"] if each["exact"] is not None}
        assert found == pytest.approx(exact)


def test_rows_may_need_different_plans(catalogue: Catalogue) -> None:
    """Which of two arrays to gather depends on their sizes: an entry that a row lacks is null there."""
    found = asked(catalogue, product([64, 65_536], 1024, 4096), CLASH, GRID)["layers"]["network"]["collectives"]
    first = [each["operand"] for each in found if each["bytes"][0] is not None]
    second = [each["operand"] for each in found if each["bytes"][1] is not None]
    assert first == ["a", "out"]
    assert second == ["b", "out"]


def test_an_einsum_is_sharded_by_its_indices(catalogue: Catalogue) -> None:
    op = {"kind": "einsum", "equation": "bd,df->bf", "dims": {"b": 1024, "d": 8192, "f": 16_384}, "dtype": "bf16"}
    as_einsum, as_matmul = asked(catalogue, op), asked(catalogue, product(1024, 8192, 16_384))
    assert as_einsum["time"] == as_matmul["time"]
    assert as_einsum["layers"]["network"]["collectives"] == as_matmul["layers"]["network"]["collectives"]


def test_sums_that_are_left_are_not_exchanged(catalogue: Catalogue) -> None:
    found = asked(catalogue, product(1024, 8192, 16_384), {**SPLIT, "out_unreduced": ["x"]})
    assert (found["layers"]["network"]["collectives"], found["bound"]) == ([], "compute")


def test_equal_layouts_are_one_question(catalogue: Catalogue) -> None:
    forms: list[Document] = [SPLIT, {**SPLIT, "a": [[], ["x"]]}, {**SPLIT, "out_unreduced": []}]
    answers = [ask(catalogue, target={"chip": V5E, "mesh": TWO}, op=product(64, 64, 64), sharding=form) for form in forms]
    assert [each["sharding"] for each in answers] == [SPLIT] * 3
    assert len({each["input_digest"] for each in answers}) == 1


def test_the_working_is_that_of_one_chip(catalogue: Catalogue) -> None:
    steps = asked(catalogue, product(1024, 8192, 16_384), explain=True)["explain"]
    assert steps["flops"][0]["numbers"] == "2·1·1024·4096·16384"
    assert [entry["formula"].partition(" = ")[0] for entry in steps["where"]] == [
        "t_math",
        "t_hbm",
        "waves",
        "t_math of tiles",
        "bytes of tiles",
        "t_hbm of tiles",
        "t of all_reduce of out over x",
        "t_network",
    ]


def test_a_dim_must_divide_in_every_row(catalogue: Catalogue) -> None:
    (fault,) = refused(lambda: asked(catalogue, product(64, [8192, 8191], 64), {**SPLIT, "b": [None, None]}))
    assert (fault.pointer, fault.code) == ("/sharding/a/1", "not-divisible")


def test_what_is_wrong_with_the_op_is_said_of_the_op(catalogue: Catalogue) -> None:
    fp8 = {**product(64, 64, 64), "dtype": "fp8"}
    for plan in ("rules", "cheapest"):
        (fault,) = refused(lambda plan=plan: asked(catalogue, fp8, plan=plan))  # type: ignore[misc]
        assert (fault.pointer, fault.code) == ("/op/dtype", "unsupported-dtype")
    cubes = product(64, 64, 64, b_scale={"block": [8, 8, 8, 8], "dtype": "fp32"})
    (alone,), (split,) = (refused(lambda layout=layout: asked(catalogue, cubes, layout)) for layout in (None, SPLIT))  # type: ignore[misc]
    assert alone == split


def test_thresholds_keep_a_plan_that_sizes_chose(catalogue: Catalogue) -> None:
    """With the result replicated, the cheaper operand is gathered: with more rows that is the other one."""
    clash = {"a": ["x", None], "b": [None, "x"], "out": [None, None]}
    found = asked(catalogue, product(8192, 8192, 4096), clash)
    assert HELD in found["notes"]
    assert HELD not in asked(catalogue, product(8192, 8192, 4096))["notes"]
