"""What other plans would take: the same result, with other collectives or other work on every chip."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import roofline
from .arrays import Real
from .batch import in_chunks
from .fabric import Fabric, Network, Rows
from .hbm import traffic
from .machine import Machine, place
from .report import Limits, core
from .term import Term


class Alternative(NamedTuple):
    """Another plan."""

    name: str
    """what it does otherwise; `rules` for the plan by the rules where another one was taken"""
    rows: Rows
    """the rows whose dims it divides"""
    lower: Real
    """least time [s]"""
    upper: Real
    network: Network


def alternatives(term: Term, machine: Machine, fabric: Fabric, *, is_class_asked: bool = False) -> tuple[Alternative, ...]:
    """The other plans of `fabric`, in order."""
    if not fabric.others:
        return ()
    return in_chunks(term, machine, fabric, lambda t, m, f: _alternatives(t, m, f, is_class_asked=is_class_asked))


def _alternatives(term: Term, machine: Machine, fabric: Fabric, *, is_class_asked: bool) -> tuple[Alternative, ...]:
    demand = term.demand()
    storages = term.storages(demand)
    peak = place(machine, demand, term.arithmetic, is_asked=is_class_asked).peak
    whole = traffic(demand, storages, {}).by_operand
    found = []
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for other in fabric.others:
            laid = fabric.instead(other)
            network = laid.exchanged(term, lambda: whole)
            times = core(laid.local(term).demand(), storages, Limits(peak, machine.memory, network.path), {}).times
            found.append(Alternative(other.plan.name, other.rows, roofline.lower(times), roofline.upper(times), network))
    return tuple(found)
