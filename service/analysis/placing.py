"""An op, or a list of ops, in one place: the least time, what binds, and what each chip holds. No more than a ranking needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..engine.collective import Collective
from ..engine.fabric import Fabric
from ..engine.least import Least, least
from ..engine.roofline import BOUNDS
from ..schemas.evaluate import PlanModel
from ..schemas.sharding import ShardingModel
from .cells import OneRow
from .layouts import by_plan
from .listing import count, in_groups, stacked
from .magnitude import check
from .memory import parts, total
from .targets import Target
from .terms import Asked

SEVERAL_BOUNDS = "bound is null: not every op of the list is bound by the same."


@dataclass(frozen=True)
class Placed:
    """What a ranking knows of a place."""

    target: Target
    time_s: float
    """least time [s], of all executions"""
    bound: str | None
    """of every op; None where they differ, or take no time"""
    held_bytes: int
    """by each chip"""
    notes: tuple[str, ...]

    @property
    def devices(self) -> int:
        return int(self.target.wired.mesh.devices)

    @property
    def chip_time_s(self) -> float:
        return self.time_s * self.devices

    @property
    def headroom_bytes(self) -> int | None:
        """What is left of the HBM, or below 0 what is missing [B]; None where its capacity is not known."""
        return None if self.target.hbm_bytes is None else self.target.hbm_bytes - self.held_bytes

    @property
    def fits(self) -> bool | None:
        return None if self.headroom_bytes is None else self.headroom_bytes >= 0


def one(asked: Asked, sharding: ShardingModel | None, target: Target, options: PlanModel, pointer: str) -> Placed:
    """One op in a place; `pointer` is where target and sharding stand. Raises `InvalidInput`."""
    fabric = by_plan(asked, sharding, target, options, pointer)
    ((_, found),) = _least([asked], target, fabric)
    bound = OneRow().name(found.longest, BOUNDS)
    return Placed(target, found.lower.item(), bound, total(parts(asked, fabric)), _said(target, [found]))


def many(asked: Sequence[Asked], lasting: int, target: Target, options: PlanModel) -> Placed:
    """A list of ops in a place, on every chip of it; `lasting` is what `lasting_bytes` gives. Raises `InvalidInput`."""
    fabric = Fabric(target.wired.mesh, options.collectives)
    lower, bounds = [0.0] * len(asked), set()
    together = _least(asked, target, fabric)
    for places, found in together:
        bounds |= {BOUNDS[code] for code in found.longest.tolist()}
        for place, seconds in zip(places, np.broadcast_to(found.lower, len(places)).tolist(), strict=True):
            lower[place] = seconds
    time_s = sum(count(each) * seconds for each, seconds in zip(asked, lower, strict=True))
    exchanged = sum(count(each) * total(parts(each, fabric)) for each in asked if isinstance(each.term, Collective))
    check("/ops", "A total of these ops", time_s, lasting + exchanged)
    alike = len(bounds) == 1
    notes = _said(target, [found for _, found in together])
    return Placed(target, time_s, bounds.pop() if alike else None, lasting + exchanged, notes if alike else (*notes, SEVERAL_BOUNDS))


def _least(asked: Sequence[Asked], target: Target, fabric: Fabric) -> list[tuple[list[int], Least]]:
    """The roofline of ops, in groups."""
    return in_groups(asked, lambda group: least(stacked(group), target.machine, fabric, is_class_asked=group[0].is_class_asked))


def lasting_bytes(asked: Sequence[Asked]) -> int:
    """What the ops of a list that compute hold on a chip, which is the same in every place. Raises `InvalidInput` (too-large)."""
    return sum(count(each) * total(parts(each, Fabric())) for each in asked if not isinstance(each.term, Collective))


def _said(target: Target, found: Sequence[Least]) -> tuple[str, ...]:
    """What must be said of the axes on which something is exchanged."""
    return tuple(target.wired.said([exchange.cost for each in found for exchange in each.network.exchanges]))
