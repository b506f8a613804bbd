"""A plan: which dim each axis of the mesh splits in the local product, and the steps before and after that product.

An axis splits one dim of the product or none. Every operand is brought to the layout in which each of its dims is split by just the
axes that split this dim of the product, so every chip multiplies equal blocks; a chip's block of the result is a partial sum over the
axes that split a summed dim, and is brought from there to the layout that is asked for. So the assignment of axes to dims decides all:

    local dim            dim / (chips of the axes that split it)
    work of one chip     1 / (chips of all axes that split a dim) of the whole
    repeated work        over the axes that split none
    steps                those of every operand in order, the product, those of the result
Source: How to Scale Your Model, "Sharded Matrices" (four cases), "All the Transformer Math" (repeated work).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from math import lcm, prod
from operator import add

import numpy as np
from numpy.typing import NDArray

from ..arrays import Real
from .layout import Sharding
from .route import Route, Step

Assignment = Mapping[str, str | None]
"""The dim that each axis of more than one chip splits in the product, or none."""


@dataclass(frozen=True)
class Plan:
    name: str
    """`rules`, or what this plan does otherwise"""
    assigned: Assignment
    splits: Mapping[str, tuple[str, ...]]
    """the axes that split each dim of the local product, the outermost first"""
    divisors: Mapping[str, int]
    """the blocks into which they cut each dim"""
    steps: tuple[Step, ...]
    devices: int
    repeated: tuple[str, ...]
    """axes of more than one chip over which the work repeats"""
    cuts: Mapping[str, int]
    """what the size of each dim has to be a multiple of, for equal blocks all along; dims that are never cut are left out"""

    @cached_property
    def collectives(self) -> tuple[Step, ...]:
        """The steps that send something."""
        return tuple([step for step in self.steps if not step.is_free])

    @cached_property
    def work_divisor(self) -> int:
        """Chips that share the work; `devices` over this is how often it is done."""
        return prod(self.divisors.values())

    def divides(self, sizes: Mapping[str, Real]) -> NDArray[np.bool_]:
        """In which rows every dim is cut into equal blocks all along."""
        return reduce(np.logical_and, [np.fmod(sizes[dim], parts) == 0 for dim, parts in self.cuts.items()], np.ones(1, np.bool_))

    @cached_property
    def deeds(self) -> tuple[object, ...]:
        """What is done, whatever the plan is called and whether forced or not."""
        return (tuple(self.splits.values()), *(step._replace(forced=False) for step in self.steps))

    def sent(self, whole: Mapping[str, Real]) -> Real:
        """The volumes of all collectives together, from the size of each whole array; an all-reduce counts twice."""
        volumes = [step.volume(whole[step.operand]) * (2.0 if step.kind == "all_reduce" else 1.0) for step in self.collectives]
        return reduce(add, volumes, np.zeros(1))


def build(
    sharding: Sharding,
    assigned: Assignment,
    *,
    name: str = "rules",
    moves_sums: bool = False,
    is_wide: bool = False,
    chosen: Iterable[str] = (),
    chosen_after: Iterable[str] = (),
) -> Plan:
    """The plan in which every axis splits the dim that it is `assigned`.

    `moves_sums` and `is_wide` as `Route.reach` has them. Collectives of operands over an axis of `chosen` are not forced, nor are
    those of the result over one of `chosen_after`.
    """
    splits = {dim: _ordered(sharding, dim, assigned) for dim in sharding.dims}
    routes = []
    for array in sharding.operands:
        route = Route(array.name, array.layout, sharding, chosen=chosen)
        route.reach({dim: splits[dim] for dim in array.dims}, moves_sums=moves_sums, is_wide=is_wide)
        routes.append(route)
    out = sharding.out
    pending = [axis for dim in sharding.dims if sharding.is_summed(dim) for axis in splits[dim]]
    route = Route(out.name, {dim: splits[dim] for dim in out.dims}, sharding, pending=pending, chosen=chosen_after)
    route.reduce(out.layout, sharding.unreduced)
    route.reach(out.layout, is_wide=is_wide)
    routes.append(route)
    return Plan(
        name=name,
        assigned=assigned,
        splits=splits,
        divisors={dim: sharding.chips(axes) for dim, axes in splits.items()},
        steps=tuple([step for each in routes for step in each.steps]),
        devices=sharding.devices,
        repeated=tuple([axis for axis in sharding.axes if assigned[axis] is None]),
        cuts=_least_multiples(routes),
    )


def _least_multiples(routes: Iterable[Route]) -> dict[str, int]:
    found: dict[str, int] = {}
    for route in routes:
        for dim, parts in route.cuts.items():
            found[dim] = lcm(found.get(dim, 1), parts)
    return {dim: parts for dim, parts in found.items() if parts > 1}


def _ordered(sharding: Sharding, dim: str, assigned: Assignment) -> tuple[str, ...]:
    """The axes that split `dim`, in the order in which the operands list them, then the result, then the mesh."""
    arrays = [*sharding.carriers(dim), sharding.out]
    listed = [axis for array in arrays for axis in array.layout.get(dim, ())]
    return tuple([axis for axis in dict.fromkeys((*listed, *sharding.axes)) if assigned[axis] == dim])
