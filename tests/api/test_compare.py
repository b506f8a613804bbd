"""`POST /v1/compare`: whole answers, the factors and what cancels, one case on all chips, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from service.catalogue import Catalogue

from .conftest import Client

SECRET = "hunter2"  # noqa: S105 - stands for what must not come back
CHIP: dict[str, Any] = {
    "peak_flops_per_s": {"bf16": 1e14, "int8": 2e14},
    "vector_peak_flops_per_s": {"fp32": 5e12},
    "hbm": {"bandwidth_bytes_per_s": 1e12},
}
MATMUL: dict[str, Any] = {"kind": "matmul", "m": 64, "k": 4096, "n": 4096, "dtype": "bf16"}
BASE: dict[str, Any] = {"op": MATMUL, "target": {"chip": CHIP}}
INT8: dict[str, Any] = {"op": {**MATMUL, "dtype": "int8"}, "target": {"chip": CHIP}}
CAUSES = ("op_counts", "dtype_bytes", "peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "mesh_and_sharding", "tile", "engine")


def factors(*steps: float) -> list[dict[str, Any]]:
    """From the least times after each cause, the first being that before all of them."""
    return [
        {"cause": cause, "factor": after / before, "lower_s_before": before, "lower_s_after": after}
        for cause, before, after in zip(CAUSES, steps, steps[1:], strict=False)
    ]


def alone(client: Client, case: dict[str, Any], place: int) -> dict[str, Any]:
    """What the case gives by itself, its pointers leading to its place in a comparison."""
    document: dict[str, Any] = client.post("/v1/evaluate", json=case).json()
    for each in document["result"]["assumed"]:
        each["pointer"] = f"/cases/{place}{each['pointer']}"
    return {name: document[name] for name in ("op", "target", "options", "result", "target_digest")}


def test_int8_against_bf16_halves_bytes_and_time_and_leaves_the_threshold(client: Client, catalogue: Catalogue) -> None:
    """Half the bytes move the layer's limit to compute, 21.5 µs; twice the peak moves it back to memory, 17.3 µs."""
    answer = client.post("/v1/compare", json={"cases": [BASE, INT8]})
    memory, compute, end = 34603008 / 1e12, 2147483648 / 1e14, 17301504 / 1e12
    assert answer.status_code == 200
    assert answer.json() == {
        "cases": [
            {
                **alone(client, BASE, 0),
                "ratios": {"time": 1.0, "estimate": None, "bytes": 1.0, "intensity": 1.0, "threshold": 1.0},
                "bound_changed": False,
                "moves": [],
                "factors": factors(*[memory] * 8),
                "estimate_factors": [],
                "cancels": [],
            },
            {
                **alone(client, INT8, 1),
                "ratios": {"time": 0.5, "estimate": None, "bytes": 0.5, "intensity": 2.0, "threshold": 1.0},
                "bound_changed": False,
                "moves": [],
                "factors": factors(memory, memory, compute, *[end] * 5),
                "estimate_factors": [],
                "cancels": [
                    {"causes": ["dtype_bytes", "peak_flops_per_s"], "factors": [0.5, 2.0], "product": 1.0, "in": "threshold"},
                ],
            },
        ],
        "excluded": [],
        "engine_version": "0.1.0",
        "document_version": 4,
        "catalogue_digest": catalogue.digest,
    }


def test_a_measured_time_belongs_to_its_case(client: Client) -> None:
    cases = client.post("/v1/compare", json={"cases": [BASE, {**INT8, "measured_s": 2e-5}]}).json()["cases"]
    assert "measured" not in cases[0]["result"]
    assert cases[1]["result"]["measured"] == client.post("/v1/evaluate", json={**INT8, "measured_s": 2e-5}).json()["result"]["measured"]


@pytest.mark.parametrize("first", [BASE, {"op": {"kind": "softmax", "rows": 8, "cols": 4096, "dtype": "fp32"}, "target": {"chip": CHIP}}])
def test_factors_multiply_to_the_ratio_of_the_times(client: Client, first: dict[str, Any]) -> None:
    others = [INT8, {**BASE, "target": {"chip": "nvidia-h100-sxm"}}, {"op": {**MATMUL, "m": 4096}, "target": {"chip": "google-tpu-v5e"}}]
    for case in client.post("/v1/compare", json={"cases": [first, *others]}).json()["cases"]:
        assert [each["cause"] for each in case["factors"]] == list(CAUSES)
        assert math.prod(each["factor"] for each in case["factors"]) == pytest.approx(case["ratios"]["time"], rel=1e-12)
        assert case["factors"][-1]["lower_s_after"] == case["result"]["time"]["lower_s"]


def test_one_case_meets_every_chip_its_own_first(client: Client, catalogue: Catalogue) -> None:
    document = client.post("/v1/compare", json={"cases": [{"op": MATMUL, "target": {"chip": "google-tpu-v5e"}}], "chips": "all"}).json()
    chips, excluded = [case["target"]["chip"] for case in document["cases"]], [each["chip"] for each in document["excluded"]]
    assert chips[0] == catalogue.chip("google-tpu-v5e").ref
    assert chips[1:] == [chip.ref for chip in catalogue.chips if chip.ref in chips[1:]]
    assert sorted(chips + excluded) == sorted(chip.ref for chip in catalogue.chips)
    assert {error["code"] for each in document["excluded"] for error in each["errors"]} == {"unsupported-dtype"}


def test_a_case_without_a_target_meets_every_chip_by_id(client: Client, catalogue: Catalogue) -> None:
    op = {"kind": "elementwise", "n": 1000, "dtype": "fp32"}
    document = client.post("/v1/compare", json={"cases": [{"op": op}], "chips": "all"}).json()
    met = sorted([*(case["target"]["chip"] for case in document["cases"]), *(each["chip"] for each in document["excluded"])])
    assert met == sorted(chip.ref for chip in catalogue.chips)
    assert document["cases"][0]["ratios"]["time"] == 1.0


HUGE = {"kind": "einsum", "equation": "abcdefghijklmnopqr->a", "dtype": "fp32", "dims": dict.fromkeys("abcdefghijklmnopqr", 2**53 - 1)}
SLOW = {"vector_peak_flops_per_s": {"fp32": 1}, "hbm": {"bandwidth_bytes_per_s": 1}}
FAST = {"vector_peak_flops_per_s": {"fp32": 1e30}, "hbm": {"bandwidth_bytes_per_s": 1e30}}
REFUSED: dict[str, tuple[Any, int, str, list[str]]] = {
    "other chips": ({"cases": [BASE], "chips": "some"}, 422, "out-of-range", ["/chips"]),
    "a list of chips": ({"cases": [BASE], "chips": ["nvidia-h100-sxm"]}, 422, "wrong-type", ["/chips"]),
    "no cases": ({"cases": []}, 422, "out-of-range", ["/cases"]),
    "cases left out": ({}, 422, "missing", ["/cases"]),
    "one case": ({"cases": [BASE]}, 422, "out-of-range", ["/cases"]),
    "two cases on all chips": ({"cases": [BASE, BASE], "chips": "all"}, 422, "invalid-request", ["/cases/1"]),
    "101 cases": ({"cases": [BASE] * 101}, 413, "too-many-rows", []),
    "no target": ({"cases": [BASE, {"op": MATMUL}]}, 422, "missing", ["/cases/1/target"]),
    "columns": ({"cases": [BASE, {**BASE, "op": {**MATMUL, "m": [1, 2]}}]}, 422, "wrong-type", ["/cases/1/op/m"]),
    "a list of ops": (
        {"cases": [BASE, {"ops": [MATMUL], "target": {"chip": CHIP}}]}, 422, "invalid-request", ["/cases/1/ops", "/cases/1/op"]
    ),
    "an unknown chip": ({"cases": [BASE, {"op": MATMUL, "target": {"chip": SECRET}}]}, 422, "unknown-chip", ["/cases/1/target/chip"]),
    "an unknown op": ({"cases": [{**BASE, "op": {"kind": SECRET}}, BASE]}, 422, "unknown-op", ["/cases/0/op/kind"]),
    "faults of several cases": (
        {"cases": [{"op": MATMUL, "target": {"chip": SECRET}}, {"op": {**MATMUL, "dtype": "fp8"}, "target": {"chip": CHIP}}]},
        422,
        "invalid-request",
        ["/cases/0/target/chip", "/cases/1/op/dtype"],
    ),
    "an unknown member": ({"cases": [BASE, {**BASE, SECRET: 1}]}, 422, "unknown-member", [f"/cases/1/{SECRET}"]),
    "a sharding": (
        {"cases": [BASE, {**BASE, "sharding": {}}]}, 422, "missing", [f"/cases/1/sharding/{name}" for name in ("a", "b", "out")]
    ),
    "a measured time of 0": ({"cases": [BASE, {**BASE, "measured_s": 0}]}, 422, "out-of-range", ["/cases/1/measured_s"]),
    "formats that agree on no chip": (
        {"cases": [{"op": {**MATMUL, "a_dtype": "fp16"}}], "chips": "all"}, 422, "ambiguous-compute-dtype", ["/cases/0/op/compute_dtype"]
    ),
    "a ratio beyond all numbers": (
        {"cases": [{"op": {"kind": "dot", "n": 1, "dtype": "fp32"}, "target": {"chip": FAST}}, {"op": HUGE, "target": {"chip": SLOW}}]},
        422,
        "too-large",
        ["/cases/1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("question", "status", "code", "pointers"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused(client: Client, question: Any, status: int, code: str, pointers: list[str]) -> None:
    answer = client.post("/v1/compare", json=question)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code)
    assert [error["pointer"] for error in problem.get("errors", [])] == pointers
    assert SECRET not in "".join(error["detail"] for error in problem.get("errors", []))
