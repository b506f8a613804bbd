"""What `POST /v1/evaluate` refuses, each with its code: never a 500, never with the value that was refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.api.codes import CODES

from .conftest import Client

SECRET = "hunter2"  # noqa: S105 - stands for what must not come back
MATMUL: dict[str, Any] = {"kind": "matmul", "m": 64, "k": 8192, "n": 8192, "dtype": "bf16"}
CHIP: dict[str, Any] = {"chip": "nvidia-h100-sxm"}
IN_PLACE: dict[str, Any] = {"peak_flops_per_s": {"bf16": 1.97e14}, "hbm": {"bandwidth_bytes_per_s": 8.2e11}}


def question(op: dict[str, Any] | None = None, target: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    return {"op": {**MATMUL, **(op or {})}, "target": target or CHIP, **members}


def without(name: str) -> dict[str, Any]:
    return {"op": {member: value for member, value in MATMUL.items() if member != name}, "target": CHIP}


def chip(**numbers: Any) -> dict[str, Any]:
    return question(target={"chip": {**IN_PLACE, **numbers}})


RING: dict[str, Any] = {"name": "x", "size": 4, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10}
GATHER: dict[str, Any] = {"kind": "all_gather", "bytes": 2**20, "axes": ["x"]}
WHOLE: dict[str, Any] = {"a": [None, None], "b": [None, None], "out": [None, None]}


def meshed(mesh: Any, op: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"op": op or MATMUL, "target": {**CHIP, "mesh": mesh}}


def sharded(sharding: dict[str, Any], **op: Any) -> dict[str, Any]:
    return {**meshed([RING], {**MATMUL, **op}), "sharding": sharding}


Refusal = tuple[Any, int, str, list[str]]
DOCUMENTS: dict[str, Refusal] = {
    "unknown chip": (question(target={"chip": SECRET}), 422, "unknown-chip", ["/target/chip"]),
    "unknown revision": (question(target={"chip": "nvidia-h100-sxm@99"}), 422, "unknown-revision", ["/target/chip"]),
    "unknown base": (question(target={"chip": {"base": SECRET}}), 422, "unknown-chip", ["/target/chip/base"]),
    "unknown op": (question({"kind": SECRET}), 422, "unknown-op", ["/op/kind"]),
    "unknown dtype": (question({"dtype": SECRET}), 422, "unknown-dtype", ["/op/dtype"]),
    "unknown class of a peak": (chip(peak_flops_per_s={SECRET: 1e12}), 422, "unknown-dtype", [f"/target/chip/peak_flops_per_s/{SECRET}"]),
    "unknown member": (question({"dtyp": SECRET}), 422, "unknown-member", ["/op/dtyp"]),
    "unknown member of the target": (question(target={**CHIP, "chi": SECRET}), 422, "unknown-member", ["/target/chi"]),
    "unknown member of a chip": (chip(core=SECRET), 422, "unknown-member", ["/target/chip/core"]),
    "unknown option": (question(options={"overlp": 0.5}), 422, "unknown-member", ["/options/overlp"]),
    "a format that the chip lacks": (
        question({"dtype": "fp8"}, {"chip": "nvidia-a100-sxm-80gb"}), 422, "unsupported-dtype", ["/op/dtype"]
    ),
    "formats without an agreed class": (
        question({"a_dtype": "bf16", "b_dtype": "fp16"}), 422, "ambiguous-compute-dtype", ["/op/compute_dtype"]
    ),
    "no target": ({"op": MATMUL}, 422, "missing", ["/target"]),
    "no chip": (question(target={"x": 1}), 422, "invalid-request", ["/target/x", "/target/chip"]),
    "no op": ({"target": CHIP}, 422, "missing", ["/op"]),
    "no kind": (without("kind"), 422, "missing", ["/op/kind"]),
    "no k": (without("k"), 422, "missing", ["/op/k"]),
    "no m": (without("m"), 422, "missing", ["/op/m"]),
    "op and ops": (question(ops=[MATMUL]), 422, "invalid-request", ["/ops"]),
    "no ops": ({"ops": [], "target": CHIP}, 422, "out-of-range", ["/ops"]),
    "true for a number": (question({"m": True}), 422, "wrong-type", ["/op/m"]),
    "a string for a number": (question({"m": SECRET}), 422, "wrong-type", ["/op/m"]),
    "a point in a whole number": (question({"m": 512.0}), 422, "wrong-type", ["/op/m"]),
    "null for a number": (question({"k": None}), 422, "wrong-type", ["/op/k"]),
    "an object for a number": (question({"k": {SECRET: 1}}), 422, "wrong-type", ["/op/k"]),
    "a number for an op": ({"op": 5, "target": CHIP}, 422, "wrong-type", ["/op"]),
    "a list for a question": ([SECRET], 422, "wrong-type", [""]),
    "a string for a question": (SECRET, 422, "wrong-type", [""]),
    "a string for true": (question(options={"explain": "true"}), 422, "wrong-type", ["/options/explain"]),
    "zero": (question({"m": 0}), 422, "out-of-range", ["/op/m"]),
    "minus one": (question({"n": -1}), 422, "out-of-range", ["/op/n"]),
    "2^53": (question({"n": 2**53}), 422, "out-of-range", ["/op/n"]),
    "2^64": (question({"n": 2**64}), 422, "out-of-range", ["/op/n"]),
    "300 digits": (question({"n": 10**300}), 422, "out-of-range", ["/op/n"]),
    "overlap above 1": (question(options={"overlap": 1.5}), 422, "out-of-range", ["/options/overlap"]),
    "a peak below 1": (chip(peak_flops_per_s={"bf16": 0.5}), 422, "out-of-range", ["/target/chip/peak_flops_per_s/bf16"]),
    "a bandwidth above 1e30": (chip(hbm={"bandwidth_bytes_per_s": 1e31}), 422, "out-of-range", ["/target/chip/hbm/bandwidth_bytes_per_s"]),
    "a capacity of 2^63": (
        chip(hbm={"bandwidth_bytes_per_s": 1e12, "capacity_bytes": 2**63}), 422, "out-of-range", ["/target/chip/hbm/capacity_bytes"]
    ),
    "lists of two lengths": (question({"m": [1, 2, 3], "k": [1, 2]}), 422, "column-length", ["/op/k"]),
    "a bad row": (question({"m": [1] * 17 + [0]}), 422, "out-of-range", ["/op/m/17"]),
    "a string in a list": (question({"m": [1, SECRET]}), 422, "wrong-type", ["/op/m/1"]),
    "an empty list": (question({"m": []}), 422, "out-of-range", ["/op/m"]),
    "a list in a list of ops": ({"ops": [{**MATMUL, "m": [1, 2]}], "target": CHIP}, 422, "wrong-type", ["/ops/0/m"]),
    "too large a count": (
        {"op": {"kind": "einsum", "equation": "abcdefghijklmnopqrst->a", "dtype": "fp32",
                "dims": dict.fromkeys("abcdefghijklmnopqrst", 2**53 - 1)}, "target": CHIP}, 422, "too-large", ["/op"]
    ),
    "an empty mesh": (question(target={**CHIP, "mesh": []}), 422, "out-of-range", ["/target/mesh"]),
    "an axis of no chips": (meshed([{**RING, "size": 0}]), 422, "out-of-range", ["/target/mesh/0/size"]),
    "an axis larger than the domain": (meshed([{"name": "gpu", "size": 9}]), 422, "out-of-range", ["/target/mesh/0/size"]),
    "a link that the chip lacks": (meshed([{"name": SECRET, "size": 2}]), 422, "unknown-axis", ["/target/mesh/0/name"]),
    "an axis twice in the mesh": (meshed([RING, RING]), 422, "axis-repeated", ["/target/mesh/1/name"]),
    "an unknown topology": (meshed([{**RING, "topology": SECRET}]), 422, "out-of-range", ["/target/mesh/0/topology"]),
    "an unknown cluster": (meshed({"cluster": SECRET, "sizes": {"gpu": 8}}), 422, "unknown-cluster", ["/target/mesh/cluster"]),
    "a cluster of other chips": (meshed({"cluster": "hgx-h200-8", "sizes": {"gpu": 8}}), 422, "invalid-request", ["/target/mesh/cluster"]),
    "a collective without a mesh": ({"op": GATHER, "target": CHIP}, 422, "unknown-axis", ["/op/axes/0"]),
    "a collective over an unknown axis": (meshed([RING], {**GATHER, "axes": [SECRET]}), 422, "unknown-axis", ["/op/axes/0"]),
    "a collective over an axis twice": (meshed([RING], {**GATHER, "axes": ["x", "x"]}), 422, "axis-repeated", ["/op/axes/1"]),
    "a collective of nothing": (meshed([RING], {**GATHER, "bytes": 0}), 422, "out-of-range", ["/op/bytes"]),
    "a send along two axes": (
        meshed([RING, {**RING, "name": "y"}], {**GATHER, "kind": "send", "axes": ["x", "y"]}), 422, "out-of-range", ["/op/axes"]
    ),
    "a sharding without layouts": (question(sharding={}), 422, "missing", ["/sharding/a", "/sharding/b", "/sharding/out"]),
    "a sharding without its result": (question(sharding={"a": [None, None]}), 422, "missing", ["/sharding/b", "/sharding/out"]),
    "a sharding without an operand": (sharded({"a": [None, None], "out": [None, None]}), 422, "missing", ["/sharding/b"]),
    "a sharding over an unknown axis": (sharded({**WHOLE, "a": [SECRET, None]}), 422, "unknown-axis", ["/sharding/a/0"]),
    "a sharding of an unknown array": (sharded({**WHOLE, SECRET: [None]}), 422, "unknown-member", [f"/sharding/{SECRET}"]),
    "an axis twice in an array": (sharded({**WHOLE, "a": ["x", "x"]}), 422, "axis-repeated", ["/sharding/a/1"]),
    "a spec of another length": (sharded({**WHOLE, "a": [None]}), 422, "bad-sharding", ["/sharding/a"]),
    "a dim that does not divide": (sharded({**WHOLE, "a": ["x", None]}, m=63), 422, "not-divisible", ["/sharding/a/0"]),
    "sums over an axis that splits none": (sharded({**WHOLE, "out_unreduced": ["x"]}), 422, "bad-sharding", ["/sharding/out_unreduced/0"]),
    "a sharding of an op without layouts": (
        {"op": {"kind": "dot", "n": 64, "dtype": "fp32"}, "target": CHIP, "sharding": {"out": []}}, 422, "bad-sharding", ["/sharding"]
    ),
    "a sharding of a list": ({"ops": [MATMUL], "target": CHIP, "sharding": {"out": []}}, 422, "invalid-request", ["/sharding"]),
    "the cheapest of columns": (question({"m": [64, 128]}, options={"plan": "cheapest"}), 422, "use-batches", ["/options/plan"]),
    "the fastest plan in a format that the chip lacks": (
        {**sharded(WHOLE), "op": {**MATMUL, "dtype": "fp32"}, "options": {"plan": "cheapest"}}, 422, "unsupported-dtype", ["/op/dtype"]
    ),
    "a measured time of 0": (question(measured_s=0), 422, "out-of-range", ["/measured_s"]),
    "a measured time before its start": (question(measured_s=-1.0), 422, "out-of-range", ["/measured_s"]),
    "a measured time of ages": (question(measured_s=1e13), 422, "out-of-range", ["/measured_s"]),
    "a measured time in words": (question(measured_s=SECRET), 422, "wrong-type", ["/measured_s"]),
    "a measured time for true": (question(measured_s=True), 422, "wrong-type", ["/measured_s"]),
    "one measured time for many rows": (question({"m": [1, 2]}, measured_s=1.0), 422, "use-batches", ["/measured_s"]),
    "a quantised activation": (question({"a_quantized_from": SECRET}), 422, "unknown-dtype", ["/op/a_quantized_from"]),
    "a tile in a word": (question(options={"tile": SECRET}), 422, "out-of-range", ["/options/tile"]),
    "a tile without k": (question(options={"tile": {"m": 1, "n": 1}}), 422, "missing", ["/options/tile/k"]),
    "a tile of no rows": (question(options={"tile": {"m": 0, "n": 1, "k": 1}}), 422, "out-of-range", ["/options/tile/m"]),
    "a tile in a list": (question(options={"tile": [1, 1, 1]}), 422, "wrong-type", ["/options/tile"]),
    "a plan": (question(options={"plan": SECRET}), 422, "out-of-range", ["/options/plan"]),
    "collectives": (question(options={"collectives": SECRET}), 422, "out-of-range", ["/options/collectives"]),
    "a launch": (question(options={"launch": SECRET}), 422, "out-of-range", ["/options/launch"]),
    "a cache": (question(options={"cache": SECRET}), 422, "out-of-range", ["/options/cache"]),
    "two faults": ({"target": {"chip": 5}, "op": {**MATMUL, "m": -1}}, 422, "invalid-request", ["/target/chip", "/op/m"]),
    "1,001 ops": ({"ops": [MATMUL] * 1001, "target": CHIP}, 413, "too-many-rows", []),
    "100,001 rows": (question({"m": [1] * 100_001}), 413, "too-many-rows", []),
}  # fmt: skip
TEXTS: dict[str, Refusal] = {
    "nothing": (b"", 400, "malformed-json", []),
    "syntax": (b'{"op": ' + SECRET.encode(), 400, "malformed-json", []),
    "NaN": (b'{"op": {"kind": "matmul", "m": NaN}}', 400, "malformed-json", []),
    "infinity": (b'{"options": {"overlap": Infinity}}', 400, "malformed-json", []),
    "a member twice": (b'{"op": {"m": 1, "m": 2}}', 400, "malformed-json", []),
    "a NUL in a name": (b'{"op": {"\\u0000": 1}}', 400, "malformed-json", []),
    "half of a pair": (b'{"op": "\\ud800"}', 400, "malformed-json", []),
    "33 deep": (b'{"op":' * 33 + b"1" + b"}" * 33, 400, "too-deep", []),
    "8 MiB of brackets": (b"[" * 2**23, 400, "too-deep", []),
    "latin-1": ('{"op": "é"}'.encode("latin-1"), 400, "not-utf8", []),
    "a byte order mark": (b"\xef\xbb\xbf{}", 400, "not-utf8", []),
    "1e999": (b'{"op": {"kind": "matmul", "m": 1e999}}', 422, "not-finite", ["/op/m"]),
    "1e-320": (b'{"options": {"overlap": 1e-320}}', 422, "out-of-range", ["/options/overlap"]),
    "5,000 digits": (b'{"op": {"m": ' + b"7" * 5000 + b"}}", 422, "out-of-range", ["/op/m"]),
    "10,000 unknown members": (
        json.dumps({f"{index:07}": 0 for index in range(10_000)}).encode(), 422, "unknown-member", [f"/{index:07}" for index in range(100)]
    ),
}  # fmt: skip
REFUSALS = {
    **{name: (json.dumps(document).encode(), *rest) for name, (document, *rest) in DOCUMENTS.items()},
    **TEXTS,
}


@pytest.mark.parametrize(("text", "status", "code", "pointers"), REFUSALS.values(), ids=REFUSALS.keys())
def test_it_is_refused(client: Client, text: bytes, status: int, code: str, pointers: list[str]) -> None:
    answer = client.post("/v1/evaluate", content=text, headers={"content-type": "application/json", "x-request-id": "ours"})
    body = answer.json()
    errors = body.pop("errors", [])
    detail = body.pop("detail")
    assert body == {"type": f"/problems/{code}", "title": CODES[code].title, "status": status, "code": code, "request_id": "ours"}
    assert answer.status_code == status
    assert [error["pointer"] for error in errors] == pointers
    assert all(set(error) == {"pointer", "code", "detail", "suggestions"} and error["code"] in CODES for error in errors)
    assert SECRET not in detail + "".join(error["detail"] + "".join(error["suggestions"]) for error in errors)
    assert "Traceback" not in answer.text
    assert "pydantic" not in answer.text.lower()
