"""The roofline of a term and no more: the least time, what binds, what is exchanged. `report` adds levers and thresholds to the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import roofline
from .arrays import Code, Real
from .fabric import Fabric, Network
from .hbm import traffic
from .machine import Machine, under
from .report import ONE_CHIP, Limits, core
from .term import Term


class Least(NamedTuple):
    """Columns over rows; a column of one value is that of all rows."""

    flops: Real
    """of one chip [FLOP]"""
    bytes_total: Real
    """between its HBM and it [B]"""
    lower: Real
    """least time [s]"""
    upper: Real
    """longest time, nothing overlapped [s]"""
    longest: Code
    """longest paths, see `roofline.longest_paths`"""
    network: Network
    devices: Real

    @property
    def total_flops(self) -> Real:
        """Operations of all chips, repeated ones included [FLOP]."""
        return self.flops * self.devices


def least(term: Term, machine: Machine, fabric: Fabric = ONE_CHIP, *, is_class_asked: bool = False) -> Least:
    """The roofline of a resolved term as it lies on `fabric`, bit for bit that of its report. Raises `InvalidInput` as that does."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        demand = fabric.local(term).demand()
        storages = term.storages(demand)
        placed, bandwidth = under(machine, demand, term.arithmetic, is_asked=is_class_asked)
        network = fabric.exchanged(term, lambda: traffic(term.demand(), storages, {}).by_operand)
        found = core(demand, storages, Limits(placed.peak, bandwidth, network.path), {})
        upper = roofline.upper(found.times)
    return Least(found.flops, found.moved.total, found.lower, upper, found.longest, network, fabric.devices)
