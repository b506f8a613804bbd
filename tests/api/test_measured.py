"""`measured_s`: a measured time against the roofline, and what may be wrong where it lies above the roof."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Client

CHIP: dict[str, Any] = {
    "peak_flops_per_s": {"bf16": 1e14},
    "hbm": {"bandwidth_bytes_per_s": 1e12},
    "l2": {"capacity_bytes": 50_000_000},
}
MATMUL: dict[str, Any] = {"kind": "matmul", "m": 64, "k": 4096, "n": 4096, "dtype": "bf16"}
FLOPS, COMPUTE_S, HBM_S = 2147483648, 2.147483648e-05, 3.4603008e-05


def measured(client: Client, seconds: float, **question: Any) -> dict[str, Any]:
    answer = client.post("/v1/evaluate", json={"op": MATMUL, "target": {"chip": CHIP}, "measured_s": seconds, **question})
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()["result"]["measured"]
    return found


def test_a_time_between_the_bounds_has_a_place_there(client: Client) -> None:
    """Halfway between all overlapping and nothing doing so."""
    seconds = HBM_S + COMPUTE_S / 2
    assert measured(client, seconds) == {
        "measured_s": seconds,
        "position": pytest.approx(0.5),
        "achieved_fraction": HBM_S / seconds,
        "achieved_flops_per_s": FLOPS / seconds,
        "above_roof": False,
        "causes": [],
        "loss": None,
    }


@pytest.mark.parametrize(
    ("seconds", "consistent"),
    [
        (2.5e-5, {"cache-resident-operands", "wrong-unit"}),  # not faster than compute, and all operands fit the cache
        (1.0e-5, {"wrong-unit"}),  # faster than compute, yet memory alone takes longer than half a peak would
    ],
)
def test_a_time_above_the_roof_comes_with_its_likely_causes(client: Client, seconds: float, consistent: set[str]) -> None:
    found = measured(client, seconds)
    assert (found["above_roof"], found["position"] < 0, found["achieved_fraction"] > 1) == (True, True, True)
    assert [each["cause"] for each in found["causes"]] == ["cache-resident-operands", "sparse-peak", "macs-for-flops", "wrong-unit"]
    assert {each["cause"] for each in found["causes"] if each["consistent"]} == consistent


def test_a_compute_bound_op_in_half_its_time_speaks_of_sparse_peaks(client: Client) -> None:
    op = {**MATMUL, "m": 4096}
    found = measured(client, 64 * COMPUTE_S * 0.6, op=op)
    assert {each["cause"] for each in found["causes"] if each["consistent"]} == {"sparse-peak", "macs-for-flops", "wrong-unit"}


def test_one_time_for_a_list_is_held_against_the_sums(client: Client) -> None:
    ops = [{**MATMUL, "count": 3}, {**MATMUL, "count": 2}]
    answer = client.post("/v1/evaluate", json={"ops": ops, "target": {"chip": CHIP}, "measured_s": 1e-3}).json()
    assert answer["result"]["measured"]["achieved_fraction"] == pytest.approx(5 * HBM_S / 1e-3)
    assert answer["result"]["measured"]["achieved_flops_per_s"] == pytest.approx(5 * FLOPS / 1e-3)
    assert answer["measured_s"] == 1e-3


def test_a_measured_time_is_part_of_what_is_kept(client: Client) -> None:
    question = {"op": MATMUL, "target": {"chip": CHIP}}
    plain, timed = (client.post("/v1/analyses", json={**question, **more}).json() for more in ({}, {"measured_s": 1e-4}))
    assert plain["id"] != timed["id"]
    assert (timed["question"]["measured_s"], timed["result"]["measured"]["measured_s"]) == (1e-4, 1e-4)
    assert client.get(f"/v1/analyses/{timed['id']}").json() == timed


def test_totals_beyond_all_numbers_are_refused(client: Client) -> None:
    letters = "abcdefghijklmnopqr"
    op = {"kind": "einsum", "equation": f"{letters}->a", "dtype": "fp32", "dims": dict.fromkeys(letters, 2**53 - 1), "count": 2**53 - 1}
    chip = {"vector_peak_flops_per_s": {"fp32": 1}, "hbm": {"bandwidth_bytes_per_s": 1}}
    problem = client.post("/v1/evaluate", json={"ops": [op], "target": {"chip": chip}}).json()
    assert (problem["code"], [error["pointer"] for error in problem["errors"]]) == ("too-large", ["/ops"])
