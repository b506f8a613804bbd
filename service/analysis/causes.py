"""Why one question takes another least time than the next, as documents say it: a factor for each cause, in their fixed order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..engine.factors import Side
from ..engine.report import Report
from .single import Setting
from .terms import Asked

CAUSES: Final = ("op_counts", "dtype_bytes", "peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "mesh_and_sharding", "tile", "engine")
"""In the order in which they are applied. The least time is that of whole blocks, so that a tile leaves it where it is."""


def side(asked: Asked, report: Report, setting: Setting) -> Side:
    """A question as one of two whose causes are told apart."""
    term = asked.term
    return Side(term, term.storages(term.demand()), report.placement.peak, report.bandwidth, setting.fabric)


def documents(before: float, after: Mapping[str, float]) -> Sequence[dict[str, Any]]:
    """The factor of every cause: the first starts at the least time `before` [s], each ends at that `after` it [s].

    What is missing in `after` changes nothing.
    """
    found = []
    for cause in CAUSES:
        ends = after.get(cause, before)
        found.append({"cause": cause, "factor": ends / before, "lower_s_before": before, "lower_s_after": ends})
        before = ends
    return found
