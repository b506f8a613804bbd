"""What a chip holds while an op runs, and the largest batch with which that fits.

    array   an operand as it lies before anything happens to it, the result as the product writes it
    copy    what each collective of the plan writes: the array after its gather, its exchange, its scatter, its reduction

All of it is held at once. Nothing is freed, nothing is written over what is read, so that a kernel which does either needs less and
what fits by this count fits. A slice is a view: it takes no room, and what it is cut from stays.
Source: How to Scale Your Model, "Sharded Matrices": an array takes its bytes over the axes that split it, on each chip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import lcm
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import Real, column
from .collective import Collective
from .demand import NOTHING, Operand
from .fabric import Fabric, by_rows
from .hbm import operand_bytes
from .mesh import chips
from .sharding import Array, Choice, Plan, Sharding, Step
from .term import LARGEST_DIM, Term

PROBES = 64
"""Sizes that are tried at once: so many rows take little longer than one."""

Parts = dict[str, int]
"""Into how many blocks each dim of an array is cut."""


class Held(NamedTuple):
    """Something that takes room."""

    array: str
    made_by: str | None
    """the collective whose copy it is; None for the array itself"""
    bytes: Real


def held(term: Term, fabric: Fabric) -> tuple[Held, ...]:
    """All that one chip holds, in the order of the op's arrays; where rows have plans of their own, see `total`."""
    with np.errstate(over="ignore", invalid="ignore"):
        if isinstance(term, Collective):
            before, after = term.held(chips(fabric.mesh.select(term.axes)))
            return Held("in", None, np.ceil(before)), Held("out", None, np.ceil(after))
        if fabric.sharding is None:
            storages = term.storages(term.demand())
            return tuple([Held(each.name, None, operand_bytes(each, storages[each.name])) for each in term.residents()])
        (choice,) = fabric.choices
        return _laid(term, fabric.sharding, choice)


def total(term: Term, fabric: Fabric) -> Real:
    """The bytes of all that one chip holds [B], each row by its plan."""
    if fabric.sharding is None:
        return _sum(held(term, fabric))
    return by_rows(fabric.choices, lambda choice: _sum(held(term, fabric.instead(choice))))


def _sum(parts: tuple[Held, ...]) -> Real:
    return reduce(add, [each.bytes for each in parts], NOTHING)


def _laid(term: Term, sharding: Sharding, choice: Choice) -> tuple[Held, ...]:
    plan, storages = choice.plan, term.storages(term.demand())
    product = {dim: plan.divisors[dim] for dim in sharding.out.dims}
    starts = [(array, {dim: sharding.chips(axes) for dim, axes in array.layout.items()}) for array in sharding.operands]
    return tuple(
        [
            Held(array.name, made_by, operand_bytes(_block(term, array, parts), storages[array.name]))
            for array, start in (*starts, (sharding.out, product))
            for made_by, parts in _states(start, [step for step in plan.steps if step.operand == array.name], sharding)
        ]
    )


def _states(start: Parts, steps: list[Step], sharding: Sharding) -> list[tuple[str | None, Parts]]:
    """How an array is cut before its steps, and after each that writes a copy."""
    parts = dict(start)
    found: list[tuple[str | None, Parts]] = [(None, dict(parts))]
    for step in steps:
        over = sharding.chips(step.axes)
        if step.kind in {"all_gather", "all_to_all"} and step.dim is not None:
            parts[step.dim] //= over
        if step.kind in {"slice", "reduce_scatter"} and step.dim is not None:
            parts[step.dim] *= over
        if step.kind == "all_to_all" and step.to is not None:
            parts[step.to] *= over
        if not step.is_free:
            found.append((step.kind, dict(parts)))
    return found


def _block(term: Term, array: Array, parts: Parts) -> Operand:
    """An array cut into `parts`."""
    columns = term.columns()
    local = term.with_columns({dim: columns[dim] / count for dim, count in parts.items()})
    return next(each for each in local.residents() if each.name == array.name)


def largest_batch(term: Term, laid: Sequence[Fabric], limit: float, step: int) -> int:
    """The largest multiple of `step` as the size of the op's `batch_dim` with which all is held in `limit` [B]; 0 where there is none.

    `laid` are the ways in which the op may lie on the mesh, each by one plan that cuts multiples of `step`; it has to fit in all of them.
    Along one plan bytes never fall, as every array grows with each of its dims.
    """

    def fits(sizes: Real) -> NDArray[np.bool_]:
        grown = term.batch_of(sizes)
        return reduce(np.logical_and, [total(grown, each) <= limit for each in laid])

    return step * _largest(lambda counts: fits(step * counts), LARGEST_DIM // step)


def even_step(term: Term, sharding: Sharding, plans: Sequence[Plan]) -> int:
    """Of what the size of `batch_dim` must be a multiple for all layouts as written, and for all of `plans`."""
    layouts = [{dim: sharding.chips(axes) for dim, axes in array.layout.items()} for array in (*sharding.operands, sharding.out)]
    found: Parts = {}
    for cuts in (*layouts, *[each.cuts for each in plans]):
        found |= {dim: lcm(found.get(dim, 1), parts) for dim, parts in cuts.items()}
    return term.batch_step(found)


def _largest(fits: Callable[[Real], NDArray[np.bool_]], most: int) -> int:
    """The largest whole number up to `most` that fits, as all smaller ones do; 0 where none does."""
    low, high = 0, most + 1
    while high - low > 1:
        stride = max(1, (high - low) // PROBES)
        tried = range(low + stride, high, stride)
        fine = int(np.count_nonzero(fits(column(tried))))
        low, high = (tried[fine - 1] if fine else low), (tried[fine] if fine < len(tried) else high)
    return low
