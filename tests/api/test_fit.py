"""`POST /v1/fit`: whole answers, what fits and what does not, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from service.catalogue import Catalogue

from .conftest import Client

SECRET = "hunter2"  # noqa: S105 - stands for what must not come back
MATMUL: dict[str, Any] = {"kind": "matmul", "m": 1024, "k": 1024, "n": 1024, "dtype": "bf16"}
UNDERSTOOD: dict[str, Any] = {**MATMUL, "batch": 1, "a_dtype": "bf16", "b_dtype": "bf16", "out_dtype": "bf16", "compute_dtype": "bf16"}
AXIS: dict[str, Any] = {"name": "x", "size": 2, "topology": "ring", "bandwidth_bytes_per_s": 1e10, "latency_s": 0.0}
GATHERED: dict[str, Any] = {"a": ["x", None], "b": ["x", None], "out": ["x", None]}
MIB = 2**20
WHOLE_HBM = "limit_bytes is the whole HBM; what a runtime, an allocator and fragmentation take of it is not counted."
AT_ONCE = "Everything counts as held at once; a kernel that frees or overwrites arrays while it runs needs less."
LISTED = (
    "Every execution of every op counts with arrays of its own, all held at once; what ops share or free a list does not say. "
    "The need lies between largest_op and bytes_total."
)


def holding(capacity: int) -> dict[str, Any]:
    return {"hbm": {"capacity_bytes": capacity}, "cores": 1}


def defaults(*options: str) -> list[dict[str, Any]]:
    values = {"collectives": "exact", "plan": "rules"}
    return [
        {"pointer": "/op/batch", "value": 1},
        *({"pointer": f"/op/{name}_dtype", "value": "bf16"} for name in ("a", "b", "out", "compute")),
        *({"pointer": f"/options/{name}", "value": values[name]} for name in options),
    ]


def test_gathered_weights(client: Client, catalogue: Catalogue) -> None:
    """A chip of two has 1 MiB each of a, b and out, and 2 MiB of b once it is gathered: of 8 MiB 5 are for rows, 2 KiB each."""
    target = {"chip": holding(8 * MIB), "mesh": [AXIS]}
    answer = client.post("/v1/fit", json={"op": MATMUL, "target": target, "sharding": GATHERED})
    body = answer.json()
    assert answer.status_code == 200
    assert len(body.pop("target_digest")) == 64
    assert body == {
        "op": UNDERSTOOD,
        "sharding": GATHERED,
        "target": target,
        "options": {"collectives": "exact", "plan": "rules"},
        "devices": 2,
        "parts": [
            {"array": "a", "made_by": None, "bytes": MIB},
            {"array": "b", "made_by": None, "bytes": MIB},
            {"array": "b", "made_by": "all_gather", "bytes": 2 * MIB},
            {"array": "out", "made_by": None, "bytes": MIB},
        ],
        "bytes_total": 5 * MIB,
        "limit_bytes": 8 * MIB,
        "headroom_bytes": 3 * MIB,
        "fits": True,
        "largest": {"array": "b", "made_by": "all_gather", "bytes": 2 * MIB},
        "batch_dim": "m",
        "largest_batch": 5 * MIB // 2**11,
        "assumed": defaults("collectives", "plan"),
        "notes": ["Each collective writes a copy beside the array that it reads.", AT_ONCE, WHOLE_HBM],
        "engine_version": "0.1.0",
        "document_version": 4,
        "catalogue_digest": catalogue.digest,
    }


def test_what_does_not_fit_is_answered(client: Client) -> None:
    answer = client.post("/v1/fit", json={"op": MATMUL, "target": {"chip": holding(2 * MIB)}, "options": {"plan": "rules"}})
    body = answer.json()
    assert answer.status_code == 200
    assert (body["fits"], body["headroom_bytes"], body["largest_batch"]) == (False, -4 * MIB, None)
    assert body["notes"] == ["largest_batch is null: no m was found with which everything fits.", AT_ONCE, WHOLE_HBM]
    assert body["assumed"] == defaults("collectives")


def test_a_list(client: Client, catalogue: Catalogue) -> None:
    ops = [{**MATMUL, "count": 2}, {"kind": "copy", "rows": 1024, "cols": 1024, "dtype": "bf16"}]
    body = client.post("/v1/fit", json={"ops": ops, "target": {"chip": "nvidia-h100-sxm"}}).json()
    limit = 80 * 2**30
    assert {name: body[name] for name in body if name not in {"assumed", "ops", "target_digest"}} == {
        "target": {"chip": catalogue.chip("nvidia-h100-sxm").ref},
        "options": {"collectives": "exact", "plan": "rules"},
        "devices": 1,
        "parts": [
            *({"op": 0, "count": 2, "array": name, "made_by": None, "bytes": 4 * MIB} for name in ("a", "b", "out")),
            {"op": 1, "count": 1, "array": "x", "made_by": None, "bytes": 2 * MIB},
            {"op": 1, "count": 1, "array": "out", "made_by": None, "bytes": 2 * MIB},
        ],
        "bytes_total": 16 * MIB,
        "limit_bytes": limit,
        "headroom_bytes": limit - 16 * MIB,
        "fits": True,
        "largest": {"op": 0, "count": 2, "array": "a", "made_by": None, "bytes": 4 * MIB},
        "largest_op": {"op": 0, "bytes": 6 * MIB},
        "batch_dim": None,
        "largest_batch": None,
        "notes": [
            "largest_batch is null: the ops of a list have sizes of their own.",
            LISTED,
            WHOLE_HBM,
        ],
        "engine_version": "0.1.0",
        "document_version": 4,
        "catalogue_digest": catalogue.digest,
    }
    assert [(op["kind"], op["count"]) for op in body["ops"]] == [("matmul", 2), ("copy", 1)]


REFUSED: dict[str, tuple[Any, int, str, list[str]]] = {
    "nothing": ({}, 422, "missing", ["/target", "/op"]),
    "no op": ({"target": {"chip": holding(1)}}, 422, "missing", ["/op"]),
    "columns": ({"op": {**MATMUL, "n": [1, 2]}, "target": {"chip": holding(1)}}, 422, "use-batches", ["/op/n"]),
    "no capacity in place": ({"op": MATMUL, "target": {"chip": {}}}, 422, "missing", ["/target/chip/hbm/capacity_bytes"]),
    "no capacity known": ({"op": MATMUL, "target": {"chip": "amd-epyc-9654"}}, 422, "missing", ["/target/chip"]),
    "an unknown chip": ({"op": MATMUL, "target": {"chip": SECRET}}, 422, "unknown-chip", ["/target/chip"]),
    "an unknown axis": (
        {"op": MATMUL, "target": {"chip": holding(1), "mesh": [AXIS]}, "sharding": {**GATHERED, "a": [SECRET, None]}},
        422, "unknown-axis", ["/sharding/a/0"],
    ),
    "a dim that does not divide": (
        {"op": {**MATMUL, "m": 3}, "target": {"chip": holding(1), "mesh": [AXIS]}, "sharding": GATHERED},
        422, "not-divisible", ["/sharding/a/0", "/sharding/out/0"],
    ),
    "a collective over an unknown axis": (
        {"op": {"kind": "all_gather", "bytes": 8, "axes": [SECRET]}, "target": {"chip": holding(1)}}, 422, "unknown-axis", ["/op/axes/0"]
    ),
    "a sharding of a list": (
        {"ops": [MATMUL], "target": {"chip": holding(1)}, "sharding": GATHERED}, 422, "invalid-request", ["/sharding"]
    ),
    "an option that changes nothing": (
        {"op": MATMUL, "target": {"chip": holding(1)}, "options": {"explain": True}}, 422, "unknown-member", ["/options/explain"]
    ),
    "scales that do not fit": (
        {"op": {**MATMUL, "b_scale": {"block": [8], "dtype": "fp32"}}, "target": {"chip": holding(1)}},
        422, "out-of-range", ["/op/b_scale/block"],
    ),
    "1,001 ops": ({"ops": [MATMUL] * 1001, "target": {"chip": holding(1)}}, 413, "too-many-rows", []),
}  # fmt: skip


@pytest.mark.parametrize(("question", "status", "code", "pointers"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused(client: Client, question: Any, status: int, code: str, pointers: list[str]) -> None:
    answer = client.post("/v1/fit", json=question)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code)
    assert [error["pointer"] for error in problem.get("errors", [])] == pointers
    assert SECRET not in "".join(error["detail"] for error in problem.get("errors", []))
