"""Thresholds of the network path of a term on its mesh: those of every plan, put together row by row.

Source: `sharding.thresholds`, which solves for one plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .arrays import Real
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


def overtaking(term: Term, fabric: Fabric, compute_s: Real, network: Network, whole: Mapping[str, Real]) -> tuple[Threshold, ...]:
    """Where the product of a term takes as long as its collectives.

    `compute_s` and `network` are of the term as asked, `whole` the bytes of its whole arrays.
    """
    found: dict[tuple[str, str | None], list[tuple[Rows, Real, Real]]] = {}
    if fabric.sharding is not None:
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
        exact, approximate = (crossing(plan, sharding, variable, size, compute_s, found) for found in (laid.exact, laid.approximate))
        yield variable, None, exact, approximate
    for name in _parallel(plan):
        exact_axis, near_axis = (next(axis for axis in mesh.axes if axis.name == name) for mesh in (fabric.mesh, textbook(fabric.mesh)))
        exact = axis_size(plan, exact_axis, compute_s, laid.exact[0], fabric.form)
        yield AXIS_SIZE, name, exact, axis_size(plan, near_axis, compute_s, laid.approximate[0], "asymptotic")


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
