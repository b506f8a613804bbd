"""`/v1/charts/roofline`: roofs as series, cases and saved analyses as points, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Client

SECRET = "hunter2"  # noqa: S105 - stands for what must not come back
PATH = "/v1/charts/roofline"
CHIP: dict[str, Any] = {
    "peak_flops_per_s": {"bf16": 1e14},
    "vector_peak_flops_per_s": {"fp32": 5e12},
    "hbm": {"bandwidth_bytes_per_s": 1e12},
}
MATMUL: dict[str, Any] = {"kind": "matmul", "m": 64, "k": 4096, "n": 4096, "dtype": "bf16"}
COPY: dict[str, Any] = {"kind": "copy", "rows": 4, "cols": 8, "dtype": "bf16"}
CASE: dict[str, Any] = {"op": MATMUL, "target": {"chip": CHIP}}


def roof(label: str, peak: float, bandwidth: float, on_chip: float | None = None) -> dict[str, Any]:
    """A roof of two points, as every chart has it: from 1/1024 of the ridge to 64 times the ridge; and that of the stores on the chip."""
    lines = [("hbm", label, bandwidth), *([] if on_chip is None else [("on_chip", f"{label} on-chip", on_chip)])]
    hbm, *others = [{"path": path, "kind": "bandwidth", "label": called, "value": value} for path, called, value in lines]
    return {
        "ceilings": [hbm, {"path": "compute", "kind": "peak", "label": label, "value": peak}, *others],
        "ridges": [{"path": path, "label": called, "x": peak / value, "y": peak} for path, called, value in lines],
        "series": [
            {
                "path": path,
                "label": called,
                "x": pytest.approx([peak / value / 1024, peak / value * 64]),
                "y": pytest.approx([peak / 1024, peak]),
            }
            for path, called, value in lines
        ],
    }


def test_the_roof_of_a_chip_bends_at_the_ridge(client: Client) -> None:
    """TPU v5e: 197 TFLOP/s over 819 GB/s meet at 240.5 FLOP/B; over the 17.8 TB/s of its VMEM at 11."""
    answer = client.get(PATH, params={"chip": "google-tpu-v5e", "dtype": "bf16", "points": 2})
    assert answer.status_code == 200
    assert answer.json() == {
        "chip": "google-tpu-v5e@1",
        "dtype": "bf16",
        **roof("google-tpu-v5e@1 bf16 (matrix)", 1.97e14, 8.19e11, 1.78e13),
        "points": [],
    }


@pytest.mark.parametrize("points", [2, 3, 64, 2048])
def test_series_are_spaced_evenly_on_a_logarithmic_axis(client: Client, points: int) -> None:
    series = client.get(PATH, params={"chip": "nvidia-h100-sxm@1", "dtype": "fp8_e5m2", "points": points}).json()["series"][0]
    assert len(series["x"]) == len(series["y"]) == points
    assert {round(b / a, 9) for a, b in zip(series["x"], series["x"][1:], strict=False)} == {round(65536 ** (1 / (points - 1)), 9)}
    assert series["y"] == [min(1.9789e15, 3.35e12 * x) for x in series["x"]]


def test_cases_stand_on_their_roofs_and_an_op_without_operations_on_none(client: Client) -> None:
    question = {"cases": [{**CASE, "measured_s": 1e-4}, {"op": COPY, "target": {"chip": CHIP}}], "points": 2}
    answer = client.post(PATH, json=question)
    assert answer.status_code == 200
    assert answer.json() == {
        "chip": "chip in place",
        "dtype": "bf16",
        **roof("chip in place bf16 (matrix)", 1e14, 1e12),
        "points": [
            {
                "case": 0,
                "kind": "matmul",
                "path": "hbm",
                "roof": "chip in place bf16 (matrix)",
                "bound": "hbm",
                "x": 2147483648 / 34603008,
                "y": 2147483648 / (34603008 / 1e12),
                "tile": {"x": 2147483648 / 42467328, "y": 2147483648 / (42467328 / 1e12)},
                "measured_flops_per_s": 2147483648 / 1e-4,
            },
            {
                "case": 1,
                "kind": "copy",
                "path": "hbm",
                "roof": None,
                "bound": "hbm",
                "x": 0,
                "y": 0,
                "tile": None,
                "measured_flops_per_s": None,
            },
        ],
    }


def test_each_roof_stands_once_and_has_a_label_of_its_own(client: Client) -> None:
    """Two chips in place differ in their bandwidth alone, and one more is a chip of the catalogue with another bandwidth."""
    faster = {**CHIP, "hbm": {"bandwidth_bytes_per_s": 2e12}}
    changed = {"base": "google-tpu-v5e", "hbm": {"bandwidth_bytes_per_s": 1e12}}
    targets = [CHIP, faster, CHIP, "google-tpu-v5e", changed]
    document = client.post(PATH, json={"cases": [{"op": MATMUL, "target": {"chip": chip}} for chip in targets]}).json()
    labels = [f"{chip} bf16 (matrix)" for chip in ("chip in place", "chip in place", "google-tpu-v5e@1", "google-tpu-v5e@1, changed")]
    labels[1] += " #2"
    for lines in (document["series"], document["ridges"]):
        assert [each["label"] for each in lines if each["path"] == "hbm"] == labels
        assert [each["label"] for each in lines if each["path"] != "hbm"] == [f"{label} on-chip" for label in labels[2:]]
    assert [point["roof"] for point in document["points"]] == [labels[0], labels[1], labels[0], labels[2], labels[3]]


def test_saved_analyses_are_points_each_op_of_a_list_one(client: Client) -> None:
    one = client.post("/v1/analyses", json={**CASE, "measured_s": 1e-3}).json()["id"]
    ops = client.post("/v1/analyses", json={"ops": [MATMUL, COPY], "target": {"chip": "nvidia-h100-sxm"}}).json()["id"]
    points = client.post(PATH, json={"cases": [CASE], "analyses": [ops, one, ops]}).json()["points"]
    assert [(each.get("case"), each.get("analysis"), each.get("op"), each["kind"]) for each in points] == [
        (0, None, None, "matmul"),
        (None, ops, 0, "matmul"),
        (None, ops, 1, "copy"),
        (None, one, None, "matmul"),
        (None, ops, 0, "matmul"),
        (None, ops, 1, "copy"),
    ]
    assert points[3]["measured_flops_per_s"] == 2147483648 / 1e-3
    assert {name: value for name, value in points[3].items() if name not in {"analysis", "measured_flops_per_s"}} == {
        name: value for name, value in points[0].items() if name not in {"case", "measured_flops_per_s"}
    }


QUERIES = [
    ("dtype=bf16", 422, "missing", ["/query/chip"]),
    ("chip=nvidia-h100-sxm", 422, "missing", ["/query/dtype"]),
    ("chip=&dtype=bf16", 422, "out-of-range", ["/query/chip"]),
    (f"chip={SECRET}&dtype=bf16", 422, "unknown-chip", ["/query/chip"]),
    ("chip=nvidia-h100-sxm@99&dtype=bf16", 422, "unknown-revision", ["/query/chip"]),
    ("chip=%3Cscript%3E&dtype=bf16", 422, "unknown-chip", ["/query/chip"]),
    ("chip=" + "x" * 201 + "&dtype=bf16", 422, "out-of-range", ["/query/chip"]),
    ("chip=%00&dtype=bf16", 422, "out-of-range", ["/query/chip"]),
    (f"chip=nvidia-h100-sxm&dtype={SECRET}", 422, "unknown-dtype", ["/query/dtype"]),
    ("chip=nvidia-a100-sxm-80gb&dtype=fp8", 422, "unsupported-dtype", ["/query/dtype"]),
    ("chip=nvidia-h100-sxm&dtype=bf16&points=1", 422, "out-of-range", ["/query/points"]),
    ("chip=nvidia-h100-sxm&dtype=bf16&points=-2", 422, "out-of-range", ["/query/points"]),
    ("chip=nvidia-h100-sxm&dtype=bf16&points=2.0", 422, "wrong-type", ["/query/points"]),
    ("chip=nvidia-h100-sxm&dtype=bf16&points=2049", 413, "too-many-rows", []),
    ("chip=nvidia-h100-sxm&dtype=bf16&dtype=bf16", 422, "invalid-request", ["/query/dtype"]),
    ("chip=nvidia-h100-sxm&dtype=bf16&point=4", 422, "unknown-parameter", ["/query/point"]),
]
BODIES: dict[str, tuple[Any, int, str, list[str]]] = {
    "nothing to draw": ({}, 422, "missing", ["/cases"]),
    "empty lists": ({"cases": [], "analyses": []}, 422, "missing", ["/cases"]),
    "1 point": ({"cases": [CASE], "points": 1}, 422, "out-of-range", ["/points"]),
    "2,049 points": ({"cases": [CASE], "points": 2049}, 413, "too-many-rows", []),
    "true points": ({"cases": [CASE], "points": True}, 422, "wrong-type", ["/points"]),
    "101 cases": ({"cases": [CASE] * 101}, 413, "too-many-rows", []),
    "101 analyses": ({"analyses": ["an_x"] * 101}, 413, "too-many-rows", []),
    "no target": ({"cases": [CASE, {"op": MATMUL}]}, 422, "missing", ["/cases/1/target"]),
    "an unknown chip": ({"cases": [{"op": MATMUL, "target": {"chip": SECRET}}]}, 422, "unknown-chip", ["/cases/0/target/chip"]),
    "a format that the chip lacks": (
        {"cases": [{**CASE, "op": {**MATMUL, "dtype": "fp8"}}]}, 422, "unsupported-dtype", ["/cases/0/op/dtype"]
    ),
    "unknown analyses": ({"analyses": [SECRET, "'; DROP TABLE analyses; --"]}, 422, "unknown-analysis", ["/analyses/0", "/analyses/1"]),
    "faults of both": (
        {"cases": [{"op": MATMUL, "target": {"chip": SECRET}}], "analyses": ["an_x"]},
        422,
        "invalid-request",
        ["/cases/0/target/chip", "/analyses/0"],
    ),
    "no id": ({"analyses": [""]}, 422, "out-of-range", ["/analyses/0"]),
    "a number for an id": ({"analyses": [5]}, 422, "wrong-type", ["/analyses/0"]),
    "a long id": ({"analyses": ["x" * 101]}, 422, "out-of-range", ["/analyses/0"]),
    "an unknown member": ({"cases": [CASE], SECRET: 1}, 422, "unknown-member", [f"/{SECRET}"]),
    "a time too short for its op": (
        {"cases": [{"op": {"kind": "einsum", "equation": "abcdefghijklmnopqrs->a", "dtype": "fp32",
                           "dims": {**dict.fromkeys("abcdefghijklmnopqr", 2**53 - 1), "s": 10**12}},
                    "target": {"chip": {"vector_peak_flops_per_s": {"fp32": 1}, "hbm": {"bandwidth_bytes_per_s": 1}}},
                    "measured_s": 1e-12}]},
        422,
        "too-large",
        ["/cases/0/measured_s"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("query", "status", "code", "pointers"), QUERIES)
def test_a_chart_of_a_chip_is_refused(client: Client, query: str, status: int, code: str, pointers: list[str]) -> None:
    check(client.get(f"{PATH}?{query}"), status, code, pointers)


@pytest.mark.parametrize(("question", "status", "code", "pointers"), BODIES.values(), ids=BODIES)
def test_a_chart_of_cases_is_refused(client: Client, question: Any, status: int, code: str, pointers: list[str]) -> None:
    check(client.post(PATH, json=question), status, code, pointers)


def check(answer: Any, status: int, code: str, pointers: list[str]) -> None:
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code)
    assert [error["pointer"] for error in problem.get("errors", [])] == pointers
    assert SECRET not in problem["detail"] + "".join(error["detail"] for error in problem.get("errors", []))
