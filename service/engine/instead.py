"""What other plans would take: the same result, with other collectives or other work on every chip."""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Real
from .batch import in_chunks
from .fabric import Fabric, Network, Rows
from .least import least
from .machine import Machine
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
    found = [(other, least(term, machine, fabric.instead(other), is_class_asked=is_class_asked)) for other in fabric.others]
    return tuple([Alternative(other.plan.name, other.rows, each.lower, each.upper, each.network) for other, each in found])
