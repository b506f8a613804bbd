"""Levers and probes: the variants of a question that are evaluated beside it, as further rows of the same columns.

Row 0 is the question. Then one row per lever: a single change that a reader may wish for (twice the peak, half the bytes of b,
twice the rows). Then two rows per dim for which a threshold is asked, from which `thresholds` reads how operations and bytes
depend on that dim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .arrays import Code, Real, any_of, row
from .term import Term

FACTORS: Mapping[str, float] = {
    "peak_flops_per_s": 2.0,
    "hbm_bandwidth_bytes_per_s": 2.0,
    "link_bandwidth_bytes_per_s": 2.0,
    "b_bytes": 0.5,
    "m": 2.0,
    "batch": 2.0,
}
"""The closed list of changes, in the order of the answer."""

MORE_WORK = ("m", "batch")
"""Changes that ask for more work: their speedup is that of the rate [FLOP/s]."""

PROBE = float(2**20)
"""Where a dim is probed: large, so that rounding to whole bytes does not show in the slope."""

ONE = np.ones(1)


SMALL = 64
"""Numbers in a block below which NumPy's broadcasting costs more than the arithmetic."""


@dataclass(frozen=True)
class Variants:
    """Which variants stand beside a question; every factor and offset is a column over the variants, [variants, 1]."""

    changes: tuple[str, ...]
    probed: tuple[str, ...]
    factors: Mapping[str, Real] = field(repr=False)
    """what each change multiplies; 0 for a dim in the rows that probe it"""
    offsets: Mapping[str, Real] = field(repr=False)
    """what is added to a dim: the value at which it is probed"""
    same: Real = field(repr=False)
    """a factor of 1 in all rows"""
    work: Real = field(repr=False)
    """how many times the work of the question each change asks for, [changes, 1]"""

    def factor(self, change: str) -> Real:
        return self.factors.get(change, ONE)

    @property
    def shrink(self) -> dict[str, Real]:
        """Factors on the bytes of operands."""
        return {"b": self.factors["b_bytes"]} if "b_bytes" in self.factors else {}

    def probe_rows(self, variable: str) -> tuple[int, int]:
        """The rows in which `variable` is 0 and `PROBE`."""
        first = 1 + len(self.changes) + 2 * self.probed.index(variable)
        return first, first + 1


class Levers(NamedTuple):
    """What single changes would do, [changes, rows]."""

    changes: tuple[str, ...]
    lower: Real
    """least time after the change [s]"""
    longest: Code
    """longest paths after the change, see `roofline.longest_paths`"""
    speedup: Real
    """of the time, or of the rate where the change asks for more work"""


def variants(term: Term, *, has_links: bool = False) -> Variants:
    """The levers and probes that apply to a term; `has_links` where it runs on a mesh."""
    columns = term.columns()
    has_batch = "batch" in columns and any_of(columns["batch"] > 1)
    applies = {"link_bandwidth_bytes_per_s": has_links, "b_bytes": "b" in term.factors, "m": "m" in columns, "batch": has_batch}
    return _built(
        tuple(change for change in FACTORS if applies.get(change, True)),
        term.grows,
    )


@lru_cache(maxsize=1024)
def _built(changes: tuple[str, ...], probed: tuple[str, ...]) -> Variants:
    rows = 1 + len(changes) + 2 * len(probed)
    factors = {name: np.ones((rows, 1)) for name in (*changes, *probed)}
    offsets = {name: np.zeros((rows, 1)) for name in probed}
    for at, change in enumerate(changes, start=1):
        factors[change][at] = FACTORS[change]
    for at, variable in enumerate(probed):
        zero = 1 + len(changes) + 2 * at
        factors[variable][zero : zero + 2] = 0.0
        offsets[variable][zero + 1] = PROBE
    work = np.array([[FACTORS[change] if change in MORE_WORK else 1.0] for change in changes])
    same = np.ones((rows, 1))
    for each in (*factors.values(), *offsets.values(), work, same):
        each.setflags(write=False)
    return Variants(changes, probed, factors, offsets, same, work)


def spread(term: Term, over: Variants) -> Term:
    """The term with its variants on a leading axis: the dims that vary become [variants, rows].

    In a small block all dims do, since arrays of one shape are multiplied in a third of the time that broadcasting takes.
    """
    columns, same = term.columns(), over.same
    is_small = same.size * max(each.size for each in columns.values()) <= SMALL
    changed = {name: values * over.factors.get(name, same) for name, values in columns.items() if is_small or name in over.factors}
    for name, offset in over.offsets.items():
        changed[name] = changed[name] + offset
    return term.with_columns(changed)


def levers(over: Variants, lower: Real, longest: Code) -> Levers:
    """Read the levers from the evaluated block: least times [s] and longest paths, [variants, rows]."""
    after = slice(1, 1 + len(over.changes))
    gain = np.where(lower[after] > 0.0, row(lower, 0) / lower[after], 1.0)
    return Levers(over.changes, lower[after], longest[after], over.work * gain)
