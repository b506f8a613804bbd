"""The numbers of a saved answer beside those of the base: value, ratio and difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import against
from ..magnitude import check
from .saved import Document, Saved

Numbers = Mapping[str, float | None]

TIMES = ("lower_s", "overlapped_s", "upper_s", "estimate_s")
OF_TILES = ("hbm_bytes", "compute_time_s", "hbm_time_s", "intensity_flops_per_byte", "padding_efficiency", "wave_efficiency")


def metrics(base: Saved, other: Saved, pointer: str) -> list[dict[str, Any]]:
    """Every number that one of the two has; of lists of ops the totals. Raises `InvalidInput` (too-large) at `pointer`."""
    before, after = numbers(base), numbers(other)
    names = [name for name in dict.fromkeys((*before, *after)) if before.get(name) is not None or after.get(name) is not None]
    return [{"metric": name, **_beside(before.get(name), after.get(name), pointer)} for name in names]


def thresholds(base: Saved, other: Saved, pointer: str) -> list[dict[str, Any]]:
    """Where the verdict of each path turns in each dim that both have, exactly. Lists of ops have none of their own."""
    if base.is_list or other.is_list:
        return []
    before, after = _exact(base.result), _exact(other.result)
    return [{**dict(turn), **_beside(before[turn], after[turn], pointer)} for turn in before if turn in after]


def _exact(result: Document) -> dict[tuple[tuple[str, str], ...], float | None]:
    """The exact thresholds by what they are of: path, variable, and the axis where the variable is its size."""
    return {
        tuple((name, each[name]) for name in ("path", "variable", "axis") if name in each): each["exact"] for each in result["thresholds"]
    }


def _beside(base: float | None, value: float | None, pointer: str) -> dict[str, float | None]:
    """Null where one of the two does not exist, and a ratio to nothing."""
    ratio = against.ratio(value, base)
    delta = None if base is None or value is None else value - base
    check(pointer, "A ratio or difference to the base", ratio, delta)
    return {"base": base, "value": value, "ratio": ratio, "delta": delta}


def numbers(saved: Saved) -> dict[str, float | None]:
    """The numbers of an answer by name, as the answer names them."""
    found: dict[str, float | None] = {name: saved.times[name] for name in TIMES}
    found["measured_s"] = saved.answer.get("measured_s")
    return {**found, **(dict(_of_list(saved.result["totals"])) if saved.is_list else dict(_of_op(saved.result)))}


def _of_list(totals: Document) -> Iterator[tuple[str, float | None]]:
    for name in ("flops", "vector_flops", "bytes_total"):
        yield name, totals[name]


def _of_op(result: Document) -> Iterator[tuple[str, float | None]]:
    layers = result["layers"]
    hbm, network, tile = layers["hbm"], layers.get("network") or {}, layers.get("tile") or {}
    yield "flops", result["flops"]
    yield "vector_flops", result["vector_flops"]
    yield "bytes_total", result["bytes"]["total"]
    yield "intensity_flops_per_byte", hbm["intensity_flops_per_byte"]
    yield "critical_intensity_flops_per_byte", hbm["critical_intensity_flops_per_byte"]
    yield "peak_flops_per_s", layers["compute"]["peak_flops_per_s"]
    yield "hbm_bandwidth_bytes_per_s", hbm["bandwidth_bytes_per_s"]
    yield "compute_time_s", layers["compute"]["time_s"]
    yield "hbm_time_s", hbm["time_s"]
    yield "network_time_s", network.get("time_s")
    yield "network_intensity_flops_per_byte", network.get("intensity_flops_per_byte")
    yield "network_critical_intensity_flops_per_byte", network.get("critical_intensity_flops_per_byte")
    yield "attainable_flops_per_s", result["attainable_flops_per_s"]
    yield "utilization", result["utilization"]
    for name in OF_TILES:
        yield f"tile_{name}", tile.get(name)
