"""A measured time against the roofline: where it lies between the bounds, what share of the roof it reaches, and, where it lies
below the least possible time, what may be wrong with it or with the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from ..errors import refuse
from .magnitude import check
from .targets import Target

HALF = 0.5
"""What the two commonest slips are worth: a sparse peak for a dense one, a multiply-add counted as one."""
OF_ONE = "One measured time belongs to one op, or to a list of ops; columns have many."

CAUSES = {
    "cache-resident-operands": "The timed loop found operands in a cache and did not fetch them from HBM.",
    "sparse-peak": "The kernel used structured sparsity, or the time follows from a sparse peak; peaks here are dense.",
    "macs-for-flops": "The time follows from a count of multiply-adds; one multiply-add is 2 FLOP here.",
    "wrong-unit": "The time is in another unit than seconds, or of another op, shape or chip than described.",
}
"""What commonly puts a measurement above the roof, in the order in which to check."""


@dataclass(frozen=True)
class Roof:
    """What a measured time is held against, summed over the executions that were timed."""

    flops: float
    moved_bytes: float
    compute_s: float
    hbm_s: float
    network_s: float
    lower_s: float
    upper_s: float
    losses: Mapping[str, float] | None
    """seconds that kernels are expected to lose by each cause; None where an op has no tiles or no estimate"""


_SUMMED = tuple(name for name in Roof.__dataclass_fields__ if name != "losses")


def roof_of(result: Mapping[str, Any]) -> Roof:
    """The roof of one op, or of a list of ops, from its result."""
    if "per_op" in result:
        parts = [(each["count"], roof_of(each)) for each in result["per_op"]]
        sums = {name: sum(count * getattr(roof, name) for count, roof in parts) for name in _SUMMED}
        return Roof(**sums, losses=_sum(parts))
    layers, times = result["layers"], result["time"]
    return Roof(
        flops=result["flops"],
        moved_bytes=result["bytes"]["total"],
        compute_s=layers["compute"]["time_s"] or 0.0,
        hbm_s=layers["hbm"]["time_s"],
        network_s=layers["network"]["time_s"],
        lower_s=times["lower_s"],
        upper_s=times["upper_s"],
        losses=_losses(layers["tile"]),
    )


def _losses(tile: Mapping[str, Any] | None) -> Mapping[str, float] | None:
    return None if tile is None or None in tile["losses"].values() else tile["losses"]


def _sum(parts: Sequence[tuple[int, Roof]]) -> Mapping[str, float] | None:
    """What ops lose together; None where one of them does not say."""
    known = [(count, roof.losses) for count, roof in parts if roof.losses is not None]
    if len(known) < len(parts):
        return None
    return {name: sum(count * losses[name] for count, losses in known) for name in known[0][1]}


def with_measured(result: Mapping[str, Any], seconds: float, target: Target, pointer: str = "/measured_s") -> dict[str, Any]:
    """`result` with what a measured time [s] says, before its notes of what was assumed.

    Raises `InvalidInput` at `pointer` where the result has columns, which one time cannot belong to, or where a
    ratio to the time exceeds 1e300 (too-large).
    """
    if isinstance(result.get("flops"), list | np.ndarray | orjson.Fragment):
        raise refuse(pointer, "use-batches", OF_ONE)
    found = measured(seconds, roof_of(result), target)
    check(pointer, "A ratio to this time", found["position"], found["achieved_fraction"], found["achieved_flops_per_s"])
    return {**result, "measured": found}


def measured(seconds: float, roof: Roof, target: Target) -> dict[str, Any]:
    """The document of a measured time [s].

    `position` is 0 at the lower and 1 at the upper bound, and may lie outside; null where the two are one. `loss` is the largest
    of the losses that are expected, beside what there is to explain; null above the roof and where nothing is known of them.
    """
    above = seconds < roof.lower_s
    return {
        "measured_s": seconds,
        "position": None if roof.upper_s == roof.lower_s else (seconds - roof.lower_s) / (roof.upper_s - roof.lower_s),
        "achieved_fraction": roof.lower_s / seconds,
        "achieved_flops_per_s": roof.flops / seconds,
        "above_roof": above,
        "causes": _causes(seconds, roof, target.l2_bytes) if above else [],
        "loss": None if above or roof.losses is None else _largest(seconds, roof, roof.losses),
    }


def _largest(seconds: float, roof: Roof, losses: Mapping[str, float]) -> dict[str, Any] | None:
    """The loss that explains most of the distance from the roofline, and what no loss explains; None where nothing is lost."""
    name, lost = max(losses.items(), key=lambda each: each[1])
    if lost <= 0.0:
        return None
    distance = seconds - roof.lower_s
    return {
        "name": name,
        "expected_s": lost,
        "distance_s": distance,
        "unexplained_s": max(0.0, distance - sum(losses.values())),
    }


def _causes(seconds: float, roof: Roof, l2_bytes: float | None) -> list[dict[str, Any]]:
    """The causes, each with whether the numbers allow it."""
    slipped = seconds >= max(roof.compute_s * HALF, roof.hbm_s, roof.network_s)
    consistent = {
        "cache-resident-operands": seconds >= max(roof.compute_s, roof.network_s) and (l2_bytes is None or roof.moved_bytes <= l2_bytes),
        "sparse-peak": slipped,
        "macs-for-flops": slipped,
        "wrong-unit": True,
    }
    return [{"cause": cause, "detail": detail, "consistent": consistent[cause]} for cause, detail in CAUSES.items()]
