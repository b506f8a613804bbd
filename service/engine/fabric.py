"""How a term lies on a mesh: repeated on every chip, split as the layouts of its arrays say, or an exchange between chips itself.

    fabric.local(term)                      what one chip computes
    fabric.exchanged(term, moved, link)     what the chips exchange for it, and how long that takes

Times of several collectives of one op add; whether they hide behind the product is for the roofline to say.
Source: How to Scale Your Model, "Sharded Matrices"; "All About Rooflines" (the network as another path).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import Real, column, row
from .collective import ONE, Collective, Cost, cost_of
from .mesh import Mesh
from .sharding import Choice, Sharding, costs, local, sizes
from .sharding.route import Step
from .term import Term
from .wiring import Form

Rows = NDArray[np.bool_]


class Exchange(NamedTuple):
    """A collective of a term."""

    cost: Cost
    step: Step | None
    """the step of the plan that it is; None where it is what was asked for"""
    rows: Rows | None = None
    """the rows that have it; None where all do"""


class Network(NamedTuple):
    """What the chips exchange, and how long it takes."""

    exchanges: tuple[Exchange, ...]
    time: Real
    """of all together [s]"""
    wire_bytes: Real
    """what one chip sends [B]"""

    @property
    def path(self) -> Real | None:
        """`time`, where anything is exchanged: else the network is no path."""
        return self.time if self.exchanges else None


SINGLE = np.ones(1)

NO_EXCHANGE = Network((), np.zeros(1), np.zeros(1))


@dataclass(frozen=True, eq=False)
class Fabric:
    """A mesh, how its collectives are costed, and the layouts of a term on it, if they are given."""

    mesh: Mesh = Mesh()
    form: Form = "exact"
    sharding: Sharding | None = None
    choices: tuple[Choice, ...] = ()
    """the plan of every row"""
    others: tuple[Choice, ...] = ()
    """plans that compute the same otherwise"""

    @property
    def devices(self) -> Real:
        """Chips of the mesh, a column of one row."""
        return column(self.mesh.devices) if self.mesh.axes else SINGLE

    def cut(self, part: slice) -> Fabric:
        """The rows of `part`; what all rows share stays."""
        if self.sharding is None:
            return self
        return replace(self, choices=_cut(self.choices, part), others=_cut(self.others, part))

    def instead(self, other: Choice) -> Fabric:
        """The same with another plan for all rows; in those that lack it, what comes of it means nothing."""
        return replace(self, choices=(other,), others=())

    def local(self, term: Term) -> Term:
        """The term of one chip."""
        if not self.choices:
            return term
        if len(self.choices) == 1:
            return local(term, self.choices[0].plan)
        columns = {
            dim: size / by_rows(self.choices, lambda choice, dim=dim: np.full(1, float(choice.plan.divisors[dim])))  # type: ignore[misc]
            for dim, size in sizes(term).items()
        }
        return term.with_columns(columns)

    def exchanged(self, term: Term, moved: Callable[[], Mapping[str, Real]], link: Real = ONE) -> Network:
        """What the chips exchange for `term`; `link` multiplies the bandwidth of every link.

        `moved` gives the bytes of each whole array [B]; it is asked only where arrays are exchanged.
        """
        if isinstance(term, Collective):
            cost = cost_of(term, self.mesh, self.form, link)
            return Network((Exchange(cost, None),), cost.time, cost.wire_bytes)
        if not self.choices or not any(choice.plan.collectives for choice in self.choices):
            return NO_EXCHANGE
        whole = moved()
        found = {id(choice): costs(choice.plan, whole, self.mesh, form=self.form, link=link) for choice in self.choices}
        alone = len(self.choices) == 1
        exchanges = [
            Exchange(cost, step, None if alone else choice.rows)
            for choice in self.choices
            for cost, step in zip(found[id(choice)], choice.plan.collectives, strict=True)
        ]
        time = by_rows(self.choices, lambda choice: _total([cost.time for cost in found[id(choice)]]))
        wire = by_rows(self.choices, lambda choice: _total([cost.wire_bytes for cost in found[id(choice)]]))
        return Network(tuple(exchanges), time, wire)


def by_rows(choices: Sequence[Choice], value: Callable[[Choice], Real]) -> Real:
    """`value` of the choice that each row has."""
    found = value(choices[0])
    for choice in choices[1:]:
        found = np.where(choice.rows, value(choice), found)
    return found


def first(network: Network) -> Network:
    """The first variant of a block, the question itself."""
    if not network.exchanges:
        return network
    exchanges = [each._replace(cost=_first(each.cost)) for each in network.exchanges]
    return Network(tuple(exchanges), row(network.time, 0), row(network.wire_bytes, 0))


def _first(cost: Cost) -> Cost:
    columns = {name: row(getattr(cost, name), 0) for name in ("volume", "wire_bytes", "bandwidth_s", "latency_s", "time", "payload")}
    return cost._replace(**columns)


def _total(columns: Sequence[Real]) -> Real:
    return reduce(add, columns, np.zeros(1))


def _cut(choices: tuple[Choice, ...], part: slice) -> tuple[Choice, ...]:
    return tuple([each._replace(rows=each.rows[part] if each.rows.size > 1 else each.rows) for each in choices])
