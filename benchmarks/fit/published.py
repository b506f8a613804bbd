"""The parameters that NCCL publishes for its planner, as those of a pace: a ring, its low-latency protocol and its simple one.

start, step            base latency, and hardware latency on NVLink, of ring and LL; outer_step that over a network
low_share              half of the bus, as LL sends a flag with every word
bulk_start, bulk_step  what ring and Simple take more
bulk_share             the rate at which it plans with a link, of the link's own
"""

from __future__ import annotations

from typing import Any

from service.catalogue import Catalogue

LINK = 25e9
"""One NVLink of an H100, one way [B/s]; NCCL plans with `planned-nvlink-bandwidth` of sm90."""

DERIVED = "ring: LL, and what Simple takes more; half of the planned rate of a link for LL, all of it for Simple"


def pace(catalogue: Catalogue) -> dict[str, float]:
    """Parameters of `engine.pace.Pace` by name, in SI."""
    tables = next(each for each in catalogue.collective_constants if each.id == "nccl").file.tables
    base: Any = tables["base-latency"].si["ring"]
    hardware: Any = tables["hardware-latency"].si
    inside, outside = hardware["nvlink"]["ring"], hardware["net"]["ring"]
    planned = tables["planned-nvlink-bandwidth"].si["sm90"] / LINK
    return {
        "start": base["ll"],
        "step": inside["ll"],
        "outer_step": outside["ll"],
        "low_share": planned / 2.0,
        "bulk_start": base["simple"] - base["ll"],
        "bulk_step": inside["simple"] - inside["ll"],
        "bulk_outer_step": outside["simple"] - outside["ll"],
        "bulk_share": planned,
    }
