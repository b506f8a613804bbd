"""The plan that the layouts as written call for.

Each axis is looked at alone. It may go on splitting a dim that some operand has split by it:

    a summed dim         only if it splits that dim in every operand that has it; where it splits it in some of them only, those are
                         gathered, as partial sums of unlike blocks add up to nothing (the textbook's case 2)
    a dim of the result  always: operands that have the dim whole are sliced, for free

Of one such dim nothing has to be decided (cases 1 and 3; a result that wants the axis elsewhere or nowhere gets it there afterwards).
Of several, one axis splits only one (case 4): the one that the result splits by it, or sums pending over it, else the one with fewest
bytes sent. Of none, the axis splits the dim that the result splits by it, if any; otherwise the work repeats over it.

Where the dims of a row cannot be cut by all axes so found together, some are left out: as many chips as can share the work, then the
fewest bytes. Where more than `MOST` combinations of choices are left, one is changed at a time.
Source: How to Scale Your Model, "Sharded Matrices": the four cases; more than two operands by the same reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Real
from .layout import Sharding
from .plan import Plan, build

MOST = 64
"""Combinations of choices that are all looked at."""

K = TypeVar("K")
V = TypeVar("V")


class Choice(NamedTuple):
    """A plan and the rows for which it stands; one value where all rows share it."""

    plan: Plan
    rows: NDArray[np.bool_]


def plan(sharding: Sharding, sizes: Mapping[str, Real], whole: Mapping[str, Real]) -> tuple[Choice, ...]:
    """The plans by the rules: every row has exactly one of them.

    `sizes` are the dims, `whole` the bytes of each whole array; both in columns.
    """
    plans = candidates(sharding)
    fits = _fits(plans, sizes)
    if not fits.any(axis=0).all():
        plans = candidates(sharding, may_leave_out=True)
        fits = _fits(plans, sizes)
    if len(plans) == 1:
        return (Choice(plans[0], fits[0]),)
    shares = np.array([[float(each.work_divisor)] for each in plans])
    most = fits & (shares == np.where(fits, shares, 0.0).max(axis=0))
    sent = np.stack(np.broadcast_arrays(*(each.sent(whole) for each in plans)))
    at = np.argmin(np.where(most, sent, np.inf), axis=0)
    return tuple([Choice(plans[index], at == index) for index in np.unique(at)])


def _fits(plans: tuple[Plan, ...], sizes: Mapping[str, Real]) -> NDArray[np.bool_]:
    """Which plans [first axis] cut the dims of which rows into equal blocks."""
    return np.stack(np.broadcast_arrays(*(each.divides(sizes) for each in plans)))


@lru_cache(maxsize=512)
def candidates(sharding: Sharding, *, may_leave_out: bool = False) -> tuple[Plan, ...]:
    """All plans between which sizes decide; `may_leave_out`: with those in which some axes split nothing in the product.

    Layouts are asked about again and again while sizes vary, and laying out the steps takes longer than all arithmetic on one row.
    """
    options = {axis: _options(sharding, axis) for axis in sharding.axes}
    contested = [axis for axis in options if len(_tenable(sharding, axis)) > 1]
    if not may_leave_out:
        return tuple([build(sharding, assigned, chosen=contested) for assigned in combinations(options)])
    fewer = {axis: dims if axis in sharding.unreduced else tuple(dict.fromkeys((*dims, None))) for axis, dims in options.items()}
    none = {axis: dims[-1] for axis, dims in fewer.items()}
    return tuple([build(sharding, assigned, chosen=contested) for assigned in (*combinations(fewer), none)])


def combinations(options: Mapping[K, tuple[V, ...]]) -> Iterator[dict[K, V]]:
    """One option for each key: every way while there are at most `MOST`, beyond that those that take the first but for one key."""
    if prod(map(len, options.values())) <= MOST:
        for each in product(*options.values()):
            yield dict(zip(options, each, strict=True))
        return
    first = {key: of[0] for key, of in options.items()}
    yield first
    for key, of in options.items():
        for other in of[1:]:
            yield {**first, key: other}


def _tenable(sharding: Sharding, axis: str) -> tuple[str, ...]:
    """The dims of operands that `axis` may go on splitting in the product."""
    claimed = dict.fromkeys(dim for array in sharding.operands if (dim := array.dim_over(axis)) is not None)
    return tuple([dim for dim in claimed if not sharding.is_summed(dim) or sharding.splits_everywhere(axis, dim)])


def _options(sharding: Sharding, axis: str) -> tuple[str | None, ...]:
    """The dims that `axis` may split in the product, by the rules."""
    tenable = _tenable(sharding, axis)
    if axis in sharding.unreduced:
        return tuple([dim for dim in tenable if sharding.is_summed(dim)])
    wanted = sharding.out.dim_over(axis)
    return (wanted,) if wanted in tenable or not tenable else tenable
