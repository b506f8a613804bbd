"""A result held against another: ratios, verdicts that moved, what the estimates add, causes that offset each other.

It reads documents, so that answers of this moment and saved ones are held against each other by the same code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

Result = Mapping[str, Any]

LAYERS = ("hbm", "tile", "network")
"""Layers that have a verdict of their own."""

NOTICEABLE = 0.05
"""A factor this far from 1 changes something; a product this close to 1 cancels."""


def ratio(value: float | None, base: float | None) -> float | None:
    """`value` over `base`; None where one of them does not exist, or the base is nothing."""
    return value / base if value is not None and base else None


def move(before: str | None, after: str | None) -> str | None:
    """The name of a verdict that moved; None where it stayed, or where one of the two is none.

    >>> move("hbm", "network"), move("hbm", "hbm"), move(None, "hbm")
    ('hbm → network', None, None)
    """
    return None if before is None or after is None or before == after else f"{before} → {after}"


def moves(base: Result, other: Result) -> list[dict[str, Any]]:
    """The verdicts that moved: of all layers together, then of each."""
    verdicts = [("all", base["bound"], other["bound"]), *((layer, _bound(base, layer), _bound(other, layer)) for layer in LAYERS)]
    return [
        {"layer": layer, "from": before, "to": after, "name": name}
        for layer, before, after in verdicts
        if (name := move(before, after)) is not None
    ]


def _bound(result: Result, layer: str) -> str | None:
    found = result["layers"].get(layer)
    return None if found is None else found["bound"]


def threshold(result: Result) -> tuple[str, float | None, float | None]:
    """The first threshold: its variable, exact and approximate value."""
    first = result["thresholds"][0] if result["thresholds"] else {}
    return first.get("variable", ""), first.get("exact"), first.get("approximate")


def estimate_factors(base: tuple[Result, float | None], other: tuple[Result, float | None]) -> list[dict[str, Any]]:
    """What multiplies to the ratio of the estimates; nothing where one of them is missing.

    Each side is the times of a result and the time that its tiles take [s], where they are known. `lower_s` is the ratio of the least
    times, which has causes of its own; `tile` what the tiles lose against them; `kernel` what is left: rates that kernels were
    measured to reach, launches, exchanges one after another.
    """
    (first, first_tiled), (second, second_tiled) = base, other
    if not all((first["estimate_s"], second["estimate_s"], first["lower_s"], second["lower_s"])):
        return []
    steps = [("lower_s", first["lower_s"], second["lower_s"])]
    if first_tiled and second_tiled:
        steps.append(("tile", first_tiled, second_tiled))
    steps.append(("kernel", first["estimate_s"], second["estimate_s"]))
    found, whole = [], 1.0
    for cause, before, after in steps:
        upto = after / before
        found.append({"cause": cause, "factor": upto / whole})
        whole = upto
    return found


def tiled_s(result: Result) -> float | None:
    """The time that the tiles take, the network beside them [s]; None where there are none."""
    tile = result["layers"].get("tile")
    if tile is None:
        return None
    times = [tile["compute_time_s"], tile["hbm_time_s"], result["layers"]["network"]["time_s"]]
    return max((each for each in times if each is not None), default=None)


def cancels(base: Result, other: Result) -> list[dict[str, Any]]:
    """Pairs of causes that move the approximate threshold C·w/(2·W) in opposite directions and leave it where it was."""
    pairs = []
    for (one, x), (another, y) in combinations(_threshold_factors(base, other).items(), 2):
        matters = min(abs(math.log(x)), abs(math.log(y))) > math.log1p(NOTICEABLE)
        if matters and abs(math.log(x * y)) <= math.log1p(NOTICEABLE):
            pairs.append({"causes": [one, another], "factors": [x, y], "product": x * y, "in": "threshold"})
    return pairs


def _threshold_factors(base: Result, other: Result) -> Mapping[str, float]:
    """What bytes, peak and bandwidth each do to the approximate threshold; nothing where one of the two has none."""
    (_, _, before), (_, _, after) = threshold(base), threshold(other)
    peaks = [result["layers"]["compute"]["peak_flops_per_s"] for result in (base, other)]
    bandwidths = [result["layers"]["hbm"]["bandwidth_bytes_per_s"] for result in (base, other)]
    if before is None or after is None or None in peaks or None in bandwidths:
        return {}
    faster, slower_memory = peaks[1] / peaks[0], bandwidths[0] / bandwidths[1]
    return {
        "dtype_bytes": after / before / faster / slower_memory,
        "peak_flops_per_s": faster,
        "hbm_bandwidth_bytes_per_s": slower_memory,
    }
