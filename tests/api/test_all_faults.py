"""A refusal tells all that is wrong with a request at once, wherever it lies: query, body, parts of a question that hide each other."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Client

MATMUL: dict[str, Any] = {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}
H100: dict[str, Any] = {"chip": "nvidia-h100-sxm"}
AMBIGUOUS: dict[str, Any] = {**MATMUL, "a_dtype": "int8", "b_dtype": "fp8"}
CASE: dict[str, Any] = {"op": MATMUL, "target": H100}
AXIS: dict[str, Any] = {"size": 2, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10}


def told(client: Client, path: str, body: Any = None) -> list[tuple[str, str]]:
    answer = client.get(path) if body is None else client.post(path, json=body)
    assert answer.status_code == 422, answer.text
    return [(each["pointer"], each["code"]) for each in answer.json()["errors"]]


QUERIES: dict[str, list[tuple[str, str]]] = {
    "/v1/analyses?limit=0&zz=1": [("/query/limit", "out-of-range"), ("/query/zz", "unknown-parameter")],
    "/v1/analyses?zz=1&limit=0&chip=nope": [
        ("/query/zz", "unknown-parameter"),
        ("/query/limit", "out-of-range"),
        ("/query/chip", "unknown-chip"),
    ],
    "/v1/analyses?kind=zz&chip=nope": [("/query/kind", "unknown-op"), ("/query/chip", "unknown-chip")],
    "/v1/exports/analyses?kind=zz&chip=nope": [("/query/kind", "unknown-op"), ("/query/chip", "unknown-chip")],
    "/v1/charts/roofline?chip=nope&dtype=nope": [("/query/chip", "unknown-chip"), ("/query/dtype", "unknown-dtype")],
    "/v1/charts/roofline?points=1&dtype=nope&chip=nope": [
        ("/query/points", "out-of-range"),
        ("/query/dtype", "unknown-dtype"),
        ("/query/chip", "unknown-chip"),
    ],
    "/v1/cell/fits?op=dot&n=64&dtype=bf16&chip=nope&decimals=2": [("/query/chip", "unknown-chip"), ("/query/decimals", "out-of-range")],
    "/v1/cells.csv?metrics=time_us,bound&op=dot&n=1,2&dtype=bf16&chip=nope&unit=ns": [
        ("/query/chip", "unknown-chip"),
        ("/query/unit", "out-of-range"),
    ],
}


@pytest.mark.parametrize("path", QUERIES)
def test_all_parameters_are_told_of(client: Client, path: str) -> None:
    assert told(client, path) == QUERIES[path]


BODIES: dict[str, tuple[str, Any, list[tuple[str, str]]]] = {
    "nothing": ("/v1/evaluate", {}, [("/target", "missing"), ("/op", "missing")]),
    "nothing to keep": ("/v1/analyses?zz=1", {}, [("/query/zz", "unknown-parameter"), ("/target", "missing"), ("/op", "missing")]),
    "nothing that is to fit": ("/v1/fit", {}, [("/target", "missing"), ("/op", "missing")]),
    "nothing to rank": ("/v1/rank", {}, [("/candidates", "missing"), ("/op", "missing")]),
    "no member of an op": (
        "/v1/evaluate",
        {"op": {"kind": "matmul"}, "target": H100},
        [("/op/k", "missing"), ("/op/n", "missing"), ("/op/m", "missing"), ("/op/dtype", "missing")],
    ),
    "an op of no kind": (
        "/v1/evaluate",
        {"op": {"kind": "zzz"}, "target": H100, "sharding": {"a": ["zzz"], "out": [None]}},
        [("/op/kind", "unknown-op"), ("/sharding/a/0", "unknown-axis")],
    ),
    "a mesh by a wrong name": (
        "/v1/evaluate",
        {"op": MATMUL, "target": {**H100, "meshh": []}, "sharding": {"a": ["x", None], "b": [None, None], "out": [None]}},
        [("/target/meshh", "unknown-member"), ("/sharding/out", "bad-sharding")],
    ),
    "both an op and ops": (
        "/v1/evaluate",
        {"op": MATMUL, "ops": [MATMUL], "target": {"chip": "zzz"}, "options": {"overlap": 2}},
        [("/ops", "invalid-request"), ("/target/chip", "unknown-chip"), ("/options/overlap", "out-of-range")],
    ),
    "a sharded list": (
        "/v1/evaluate",
        {"ops": [MATMUL, AMBIGUOUS], "sharding": {"out": []}, "target": {"chip": "zzz"}},
        [("/ops/1/compute_dtype", "ambiguous-compute-dtype"), ("/sharding", "invalid-request"), ("/target/chip", "unknown-chip")],
    ),
    "chip and mesh": (
        "/v1/evaluate",
        {"op": AMBIGUOUS, "target": {"mesh": [{"name": "x", **AXIS}, {"name": "x", **AXIS}], "chip": "zzz"}},
        [
            ("/op/compute_dtype", "ambiguous-compute-dtype"),
            ("/target/mesh/1/name", "axis-repeated"),
            ("/target/chip", "unknown-chip"),
        ],
    ),
    "scales of both operands": (
        "/v1/evaluate",
        {"op": {**MATMUL, "b_scale": {"dtype": "fp32", "block": [1]}, "a_scale": {"dtype": "mxfp8", "group_size": 32}}, "target": H100},
        [("/op/b_scale/block", "out-of-range"), ("/op/a_scale/dtype", "invalid-request")],
    ),
    "an axis twice, first in what it does not cut": (
        "/v1/evaluate",
        {
            "op": {**MATMUL, "m": 5},
            "target": {**H100, "mesh": [{"name": "x", **AXIS}]},
            "sharding": {"a": ["x", "x"], "b": ["x", None], "out": [None, None]},
        },
        [("/sharding/a/0", "not-divisible"), ("/sharding/a/1", "axis-repeated")],
    ),
    "an equation and sizes": (
        "/v1/evaluate",
        {"op": {"kind": "einsum", "equation": "ab,bc->ad", "dims": {"a": 0}, "dtype": "bf16"}, "target": {"chip": "zzz"}},
        [("/op/equation", "wrong-type"), ("/op/dims/a", "out-of-range"), ("/target/chip", "unknown-chip")],
    ),
    "a class beside too many experts": (
        "/v1/evaluate",
        {
            "op": {"kind": "grouped_matmul", "tokens": 8, "k": 8, "n": 8, "experts": 2, "top_k": 4, "a_dtype": "int8", "b_dtype": "fp8"},
            "target": H100,
        },
        [("/op/top_k", "out-of-range"), ("/op/compute_dtype", "ambiguous-compute-dtype")],
    ),
    "a chip in place without numbers": (
        "/v1/evaluate",
        {"op": MATMUL, "target": {"chip": {"cores": 4}}},
        [("/target/chip/peak_flops_per_s", "missing"), ("/target/chip/hbm/bandwidth_bytes_per_s", "missing")],
    ),
    "columns that are to be kept": (
        "/v1/analyses",
        {"op": {**MATMUL, "n": [1, 2]}, "measured_s": 1.0, "target": {"chip": "zzz"}},
        [("/op/n", "use-batches"), ("/measured_s", "use-batches"), ("/target/chip", "unknown-chip")],
    ),
    "what fits where": (
        "/v1/fit",
        {"op": {**AMBIGUOUS, "m": [1, 2]}, "target": {"chip": "zzz"}},
        [("/op/m", "use-batches"), ("/op/compute_dtype", "ambiguous-compute-dtype"), ("/target/chip", "unknown-chip")],
    ),
    "candidates": (
        "/v1/rank",
        {"candidates": [{"id": "x", "target": H100}, {"id": "x", "target": H100}], "op": AMBIGUOUS, "objective": "zzz"},
        [("/candidates/1/id", "invalid-request"), ("/op/compute_dtype", "ambiguous-compute-dtype"), ("/objective", "out-of-range")],
    ),
    "cases": (
        "/v1/compare",
        {"cases": [{**CASE, "target": {"chip": "zzz"}}, {**CASE, "op": {**MATMUL, "m": 0}}, {"op": MATMUL}, {**CASE, "op": AMBIGUOUS}]},
        [
            ("/cases/0/target/chip", "unknown-chip"),
            ("/cases/1/op/m", "out-of-range"),
            ("/cases/2/target", "missing"),
            ("/cases/3/op/compute_dtype", "ambiguous-compute-dtype"),
        ],
    ),
    "cases of a chart": (
        "/v1/charts/roofline",
        {"points": 1, "cases": [{**CASE, "target": {"chip": "zzz"}}, {"op": MATMUL}]},
        [("/points", "out-of-range"), ("/cases/0/target/chip", "unknown-chip"), ("/cases/1/target", "missing")],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_all_members_are_told_of(client: Client, name: str) -> None:
    path, body, due = BODIES[name]
    assert told(client, path, body) == due


def test_a_hundred_faults_are_listed_wherever_they_are_found(client: Client) -> None:
    problem = client.post("/v1/evaluate", json={"ops": [AMBIGUOUS] * 1000, "target": H100}).json()
    assert problem["detail"] == "1000 problems, of which 100 are listed."
    assert [each["pointer"] for each in problem["errors"]] == [f"/ops/{at}/compute_dtype" for at in range(100)]


def test_beside_a_body_that_cannot_be_read_the_query_is_told_of(client: Client) -> None:
    answer = client.post("/v1/evaluate?zz=1", content=b"{", headers={"content-type": "application/json"})
    assert [each["pointer"] for each in answer.json()["errors"]] == ["/query/zz"]
