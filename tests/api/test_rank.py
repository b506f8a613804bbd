"""`POST /v1/rank`: a whole answer, and what is refused as a whole."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from service.catalogue import Catalogue

from .conftest import Client

SECRET = "hunter2"  # noqa: S105 - stands for what must not come back
CHIP: dict[str, Any] = {
    "cores": 1,
    "peak_flops_per_s": {"bf16": 1e15},
    "vector_peak_flops_per_s": {"fp32": 1e13},
    "hbm": {"bandwidth_bytes_per_s": 1e12, "capacity_bytes": 2**30},
}
AXIS: dict[str, Any] = {"name": "x", "size": 2, "topology": "ring", "bandwidth_bytes_per_s": 1e10}
MATMUL: dict[str, Any] = {"kind": "matmul", "m": 1024, "k": 1024, "n": 1024, "dtype": "bf16"}
ROWS: dict[str, Any] = {"a": ["x", None], "b": [None, None], "out": ["x", None]}
SUMS: dict[str, Any] = {"a": [None, "x"], "b": ["x", None], "out": [None, None]}
PAIR: dict[str, Any] = {"chip": CHIP, "mesh": [AXIS]}
ALONE: dict[str, Any] = {"id": "alone", "target": {"chip": CHIP}}
AXIS_WHOLE: dict[str, Any] = {**AXIS, "latency_s": 0.0}


def test_three_places_for_one_product(client: Client, catalogue: Catalogue) -> None:
    """6 MiB at 1 TB/s bind one chip; two that split the rows read 4 MiB each; sums over 2 MiB take the links longest."""
    question = {
        "op": MATMUL,
        "candidates": [
            ALONE,
            {"id": "sums", "target": PAIR, "sharding": SUMS},
            {"id": "rows", "target": PAIR, "sharding": ROWS},
            {"id": "four", "target": PAIR, "sharding": {**ROWS, "a": [None, "y"]}},
            {"id": "tight", "target": {"chip": {**CHIP, "hbm": {"bandwidth_bytes_per_s": 1e12, "capacity_bytes": 2**22}}}},
        ],
        "constraints": {"fits": True},
    }
    answer = client.post("/v1/rank", json=question)
    body = answer.json()
    digests = [item.pop("target_digest") for item in body["items"]]
    assert answer.status_code == 200
    assert len(set(digests)) == 2
    mib, limit = 2**20, 2**30
    pair: dict[str, Any] = {"target": {"chip": CHIP, "mesh": [AXIS_WHOLE]}, "devices": 2, "fits": True, "notes": []}
    assert body == {
        "op": {**MATMUL, "batch": 1, "a_dtype": "bf16", "b_dtype": "bf16", "out_dtype": "bf16", "compute_dtype": "bf16"},
        "objective": "time",
        "constraints": {"fits": True},
        "options": {"collectives": "exact", "plan": "rules"},
        "items": [
            {
                **pair,
                "rank": 1,
                "id": "rows",
                "bound": "hbm",
                "time_s": 4 * mib / 1e12,
                "chip_time_s": 8 * mib / 1e12,
                "headroom_bytes": limit - 4 * mib,
                "ratio_to_best": 1.0,
            },
            {
                "rank": 2,
                "id": "alone",
                "bound": "hbm",
                "time_s": 6 * mib / 1e12,
                "chip_time_s": 6 * mib / 1e12,
                "devices": 1,
                "fits": True,
                "headroom_bytes": limit - 6 * mib,
                "ratio_to_best": 1.5,
                "target": {"chip": CHIP},
                "notes": [],
            },
            {
                **pair,
                "rank": 3,
                "id": "sums",
                "bound": "network",
                "time_s": 2 * mib / 2e10,
                "chip_time_s": 4 * mib / 2e10,
                "headroom_bytes": limit - 6 * mib,
                "ratio_to_best": (2 * mib / 2e10) / (4 * mib / 1e12),
            },
        ],
        "excluded": [
            {
                "id": "four",
                "reasons": ["problem"],
                "errors": [
                    {
                        "pointer": "/candidates/3/sharding/a/1",
                        "code": "unknown-axis",
                        "detail": "The mesh has no axis of this name.",
                        "suggestions": ["x"],
                    }
                ],
            },
            {
                "id": "tight",
                "reasons": ["does-not-fit"],
                "errors": [],
                "time_s": 6 * mib / 1e12,
                "chip_time_s": 6 * mib / 1e12,
                "devices": 1,
                "bound": "hbm",
                "fits": False,
                "headroom_bytes": 2**22 - 6 * mib,
            },
        ],
        "order": "time_s, the least first; of equal ones fewer devices first; of those by id, in the order of code points",
        "assumed": [
            {"pointer": "/op/batch", "value": 1},
            *({"pointer": f"/op/{name}_dtype", "value": "bf16"} for name in ("a", "b", "out", "compute")),
            {"pointer": "/candidates/1/target/mesh/0/latency_s", "value": 0.0},
            {"pointer": "/candidates/2/target/mesh/0/latency_s", "value": 0.0},
            {"pointer": "/objective", "value": "time"},
            {"pointer": "/options/collectives", "value": "exact"},
            {"pointer": "/options/plan", "value": "rules"},
        ],
        "engine_version": "0.1.0",
        "document_version": 4,
        "catalogue_digest": catalogue.digest,
    }


def test_256_candidates_are_ranked_at_once(client: Client, catalogue: Catalogue) -> None:
    """Well under a second on a machine of its own; the limit here leaves room for tests that run beside this one."""
    chips = [chip.id for chip in catalogue.chips]
    candidates = [{"id": f"{at:03}", "target": {"chip": chips[at % len(chips)], "mesh": [AXIS]}, "sharding": SUMS} for at in range(256)]
    client.post("/v1/rank", json={"op": MATMUL, "candidates": candidates[:1]})
    began = time.process_time()
    body = client.post("/v1/rank", json={"op": MATMUL, "candidates": candidates}).json()
    assert time.process_time() - began < 3
    assert len(body["items"]) + len(body["excluded"]) == 256


def test_256_bad_candidates_are_all_left_out(client: Client) -> None:
    candidates = [{"id": str(at), "target": {"chip": SECRET}} for at in range(256)]
    answer = client.post("/v1/rank", json={"op": MATMUL, "candidates": candidates})
    assert answer.status_code == 200
    assert answer.json()["items"] == []
    assert len(answer.json()["excluded"]) == 256
    assert SECRET not in answer.text


DEEP: Any = "x"
for _ in range(40):
    DEEP = [DEEP]
REFUSED: dict[str, tuple[Any, int, str, list[str]]] = {
    "no candidates": ({"op": MATMUL}, 422, "missing", ["/candidates"]),
    "an empty list": ({"op": MATMUL, "candidates": []}, 422, "out-of-range", ["/candidates"]),
    "257 candidates": ({"op": MATMUL, "candidates": [{**ALONE, "id": str(at)} for at in range(257)]}, 413, "too-many-rows", []),
    "one id three times": (
        {"op": MATMUL, "candidates": [ALONE, ALONE, ALONE]}, 422, "invalid-request", ["/candidates/1/id", "/candidates/2/id"]
    ),
    "no id": ({"op": MATMUL, "candidates": [{"target": {"chip": CHIP}}]}, 422, "missing", ["/candidates/0/id"]),
    "an empty id": ({"op": MATMUL, "candidates": [{**ALONE, "id": ""}]}, 422, "out-of-range", ["/candidates/0/id"]),
    "a long id": ({"op": MATMUL, "candidates": [{**ALONE, "id": "x" * 201}]}, 422, "out-of-range", ["/candidates/0/id"]),
    "no target": ({"op": MATMUL, "candidates": [{"id": "a"}]}, 422, "missing", ["/candidates/0/target"]),
    "no op": ({"candidates": [ALONE]}, 422, "missing", ["/op"]),
    "op and ops": ({"op": MATMUL, "ops": [MATMUL], "candidates": [ALONE]}, 422, "invalid-request", ["/ops"]),
    "columns": ({"op": {**MATMUL, "m": [1, 2]}, "candidates": [ALONE]}, 422, "use-batches", ["/op/m"]),
    "columns in dims": (
        {"op": {"kind": "einsum", "equation": "i->i", "dims": {"i": [1]}, "dtype": "fp32"}, "candidates": [ALONE]},
        422, "use-batches", ["/op/dims/i"],
    ),
    "a bad op": ({"op": {**MATMUL, "b_dtype": "fp16"}, "candidates": [ALONE]}, 422, "ambiguous-compute-dtype", ["/op/compute_dtype"]),
    "bad ops": (
        {"ops": [MATMUL, {**MATMUL, "m": None}, {**MATMUL, "b_dtype": "fp16"}], "candidates": [ALONE]},
        422, "invalid-request", ["/ops/1/m", "/ops/2/compute_dtype"],
    ),
    "a sharding of a list": (
        {"ops": [MATMUL], "candidates": [{**ALONE, "sharding": SUMS}]}, 422, "invalid-request", ["/candidates/0/sharding"]
    ),
    "an axis of no chips": (
        {"op": MATMUL, "candidates": [{"id": "a", "target": {"chip": CHIP, "mesh": [{**AXIS, "size": 0}]}}]},
        422, "out-of-range", ["/candidates/0/target/mesh/0/size"],
    ),
    "an unknown objective": ({"op": MATMUL, "candidates": [ALONE], "objective": SECRET}, 422, "out-of-range", ["/objective"]),
    "a constraint in words": (
        {"op": MATMUL, "candidates": [ALONE], "constraints": {"max_time_s": SECRET}}, 422, "wrong-type", ["/constraints/max_time_s"]
    ),
    "no time at all": (
        {"op": MATMUL, "candidates": [ALONE], "constraints": {"max_time_s": 0.0}}, 422, "out-of-range", ["/constraints/max_time_s"]
    ),
    "an unknown constraint": (
        {"op": MATMUL, "candidates": [ALONE], "constraints": {SECRET: 1}}, 422, "unknown-member", [f"/constraints/{SECRET}"]
    ),
    "an option that changes nothing": (
        {"op": MATMUL, "candidates": [ALONE], "options": {"overlap": 0.5}}, 422, "unknown-member", ["/options/overlap"]
    ),
    "an unknown member": ({"op": MATMUL, "candidates": [{**ALONE, SECRET: 1}]}, 422, "unknown-member", [f"/candidates/0/{SECRET}"]),
    "40 lists in each other": ({"op": MATMUL, "candidates": DEEP}, 400, "too-deep", []),
}  # fmt: skip


@pytest.mark.parametrize(("question", "status", "code", "pointers"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused(client: Client, question: Any, status: int, code: str, pointers: list[str]) -> None:
    answer = client.post("/v1/rank", content=json.dumps(question), headers={"content-type": "application/json"})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code)
    assert [error["pointer"] for error in problem.get("errors", [])] == pointers
    assert SECRET not in "".join(error["detail"] for error in problem.get("errors", []))
