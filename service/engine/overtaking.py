"""Thresholds of the network path of a term on its mesh: those of every plan, put together row by row.

Source: `sharding.thresholds`, which solves for one plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .arrays import Real, any_of
from .collective import Cost
from .fabric import Fabric, Network, Rows
from .ops.matmul import Matmul
from .sharding import Choice, Plan, Sharding, costs, sizes
from .sharding.thresholds import axis_size, crossing, is_tensor_parallel, textbook, variables
from .term import Term
from .thresholds import Threshold

AXIS_SIZE = "axis_size"
PATH = "network"


class Laid(NamedTuple):
    """A plan and what its collectives take, as asked and in the textbook's approximation."""

    choice: Choice
    exact: Sequence[Cost]
    approximate: Sequence[Cost]


def overtaking(
    term: Term, fabric: Fabric, network: Network, compute_s: Real, moved: Callable[[], Mapping[str, Real]]
) -> tuple[Threshold, ...]:
    """Where the product of a term, which takes `compute_s`, takes as long as its collectives; nowhere if either takes no time.

    `moved` gives the bytes of its whole arrays [B]; it is asked only where arrays are exchanged.
    """
    if fabric.sharding is None or network.path is None or not any_of(compute_s > 0):
        return ()
    whole = moved()
    found: dict[tuple[str, str | None], list[tuple[Rows, Real, Real]]] = {}
    for laid in _laid(fabric, network, whole):
        for variable, axis, exact, approximate in _of_one(term, fabric, fabric.sharding, laid, compute_s):
            found.setdefault((variable, axis), []).append((laid.choice.rows, exact, approximate))
    return tuple([_joined(term, variable, axis, parts) for (variable, axis), parts in found.items()])


def _laid(fabric: Fabric, network: Network, whole: Mapping[str, Real]) -> Iterator[Laid]:
    left = [exchange.cost for exchange in network.exchanges]
    for choice in fabric.choices:
        count = len(choice.plan.collectives)
        yield Laid(choice, left[:count], costs(choice.plan, whole, textbook(fabric.mesh), form="asymptotic"))
        left = left[count:]


def _of_one(term: Term, fabric: Fabric, sharding: Sharding, laid: Laid, compute_s: Real) -> Iterator[tuple[str, str | None, Real, Real]]:
    """Variable, axis, exact and approximate value, for one plan."""
    plan = laid.choice.plan
    for variable in variables(plan) if isinstance(term, Matmul) else ():
        size = sizes(term)[variable]
        exact, near = [
            crossing(plan, sharding, variable, size=size, compute_s=compute_s, found=costs) for costs in (laid.exact, laid.approximate)
        ]
        yield variable, None, exact, near
    for name in _parallel(plan):
        axis, round_axis = [mesh.select([name])[0] for mesh in (fabric.mesh, textbook(fabric.mesh))]
        exact = axis_size(axis, compute_s=compute_s, cost=laid.exact[0], form=fabric.form)
        exact = np.where(exact >= 1.0, exact, np.nan)  # an axis has a chip at least
        yield AXIS_SIZE, name, exact, axis_size(round_axis, compute_s=compute_s, cost=laid.approximate[0], form="asymptotic")


def _parallel(plan: Plan) -> list[str]:
    """The axis for which a degree of parallelism is asked, if there is one."""
    return [axis for step in plan.collectives for axis in step.axes if is_tensor_parallel(plan, axis)]


def _joined(term: Term, variable: str, axis: str | None, parts: Sequence[tuple[Rows, Real, Real]]) -> Threshold:
    exact = approximate = np.full(1, np.nan)
    for rows, one, other in parts:
        exact, approximate = np.where(rows, one, exact), np.where(rows, other, approximate)
    if axis is not None:
        return Threshold(PATH, variable, exact, approximate, axis)
    return Threshold(PATH, term.asks(variable), term.answer(variable, exact), term.answer(variable, approximate))
