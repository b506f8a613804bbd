"""Levers and probes: the variants of a question that are evaluated beside it, as further rows of the same columns.

Row 0 is the question. Then one row per lever: a single change that a reader may wish for (twice the peak, half the bytes of b,
twice the rows). Then, for each dim in which a threshold is asked, a row where it is 0; then as many where it is large. From
those two `thresholds` reads how operations and bytes depend on that dim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .arrays import ONE, Code, Real, any_of, constant, row, shared
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

LINKS = "link_bandwidth_bytes_per_s"
"""The change that only a mesh has."""

SHRINKS: Mapping[str, str] = {"b_bytes": "b"}
"""The operand whose bytes a change multiplies."""

MORE_WORK = ("m", "batch")
"""Changes that ask for more work: their speedup is that of the rate [FLOP/s]."""

PROBE = constant(2.0**20)
"""Where a dim is probed: large, so that rounding to whole bytes does not show in the slope."""

SMALL = 64
"""Numbers in a block below which NumPy's broadcasting costs more than the arithmetic."""


@dataclass(frozen=True, eq=False)
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
    shrink: Mapping[str, Real] = field(repr=False)
    """factors on the bytes of operands"""
    changed: slice
    """the rows of the changes"""
    zeros: slice
    """the rows in which a probed dim is 0, in the order of the dims"""
    probes: slice
    """the rows in which it is `PROBE`"""

    def factor(self, change: str) -> Real:
        return self.factors.get(change, ONE)


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
    columns, factors = term.columns(), term.factors
    without = [change for change, operand in SHRINKS.items() if operand not in factors]
    without += [dim for dim in MORE_WORK if dim not in columns]
    if "batch" in columns and not any_of(columns["batch"] > ONE):
        without.append("batch")
    if not has_links:
        without.append(LINKS)
    return _built(tuple(without), term.grows)


@lru_cache(maxsize=1024)
def _built(without: tuple[str, ...], probed: tuple[str, ...]) -> Variants:
    """All changes but those `without`, and two probes of each dim in `probed`."""
    changes = tuple(change for change in FACTORS if change not in without)
    zeros = 1 + len(changes)
    probes, rows = zeros + len(probed), zeros + 2 * len(probed)
    factors = {name: np.ones((rows, 1)) for name in (*changes, *probed)}
    offsets = {name: np.zeros((rows, 1)) for name in probed}
    for at, change in enumerate(changes, start=1):
        factors[change][at] = FACTORS[change]
    for at, variable in enumerate(probed):
        factors[variable][[zeros + at, probes + at]] = 0.0
        offsets[variable][probes + at] = PROBE
    work = np.array([[FACTORS[change] if change in MORE_WORK else 1.0] for change in changes])
    same = np.ones((rows, 1))
    for each in (*factors.values(), *offsets.values(), work, same):
        each.setflags(write=False)
    return Variants(
        changes=changes,
        probed=probed,
        factors=factors,
        offsets=offsets,
        same=same,
        work=work,
        shrink={operand: factors[change] for change, operand in SHRINKS.items() if change in changes},
        changed=slice(1, zeros),
        zeros=slice(zeros, probes),
        probes=slice(probes, rows),
    )


def spread(term: Term, over: Variants) -> Term:
    """The term with its variants on a leading axis: the dims that vary become [variants, rows].

    In a small block all dims do, since arrays of one shape are multiplied in a third of the time that broadcasting takes.
    """
    columns, same = term.columns(), over.same
    is_small = same.size * max([each.size for each in columns.values()]) <= SMALL
    changed = {name: shared(each) * over.factors.get(name, same) for name, each in columns.items() if is_small or name in over.factors}
    for name, offset in over.offsets.items():
        changed[name] = changed[name] + offset
    return term.with_columns(changed)


def levers(over: Variants, lower: Real, longest: Code) -> Levers:
    """Read the levers from the evaluated block: least times [s] and longest paths, [variants, rows]."""
    before, after = shared(row(lower, 0)), lower[over.changed]
    gain = before / after if any_of(before > 0) else np.ones_like(after)
    return Levers(over.changes, after, longest[over.changed], over.work * gain)
