"""What else could be done: plans that compute the same with other collectives.

There is a choice about an axis where the plan by the rules communicates over it, or repeats the work over it. Such an axis may instead

    split a dim that some array splits by it   slice the other operands for free and reduce afterwards instead of gathering before
                                               (case 2), keep the other of two dims (case 4)
    split nothing                              gather operands before instead of the result afterwards; the work repeats
    split any dim, where it splits none so far an idle axis shares the work, its result is gathered or reduced

Axes that all arrays treat alike are taken together, as gathers over several axes of a mesh are faster than over one. All combinations
are given while there are at most `rules.MOST`; beyond, those that change one group of axes.

Two more differ in their steps alone: operands whose axis goes over from a summed dim to another dim exchange it in place of a gather
and a slice; and what is gathered is first sliced over axes that repeat it, so that more links carry it.
Source: How to Scale Your Model, "Sharded Matrices": problems on alternatives to the four cases, gathers over unused axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from ..arrays import Real
from .layout import Sharding
from .plan import Assignment, Plan, build
from .rules import Choice, combinations

Group = tuple[str, ...]


def alternatives(sharding: Sharding, sizes: Mapping[str, Real], chosen: Sequence[Choice]) -> tuple[Choice, ...]:
    """The other plans to each of those `chosen` by the rules, with the rows whose dims they divide; none twice."""
    found: dict[tuple[object, ...], Choice] = {}
    for choice in chosen:
        for plan in _others(sharding, tuple(choice.plan.assigned.items())):
            rows = choice.rows & plan.divides(sizes)
            if rows.any():
                same = (plan.name, plan.deeds)
                found[same] = Choice(plan, found[same].rows | rows if same in found else rows)
    return tuple(found.values())


@lru_cache(maxsize=512)
def _others(sharding: Sharding, by_rules: tuple[tuple[str, str | None], ...]) -> tuple[Plan, ...]:
    """Every plan but the one by the rules; kept for the next sizes, as `candidates` are."""
    rules = build(sharding, dict(by_rules))
    found: dict[tuple[object, ...], Plan] = {}
    for assigned in chain([rules.assigned], _assignments(sharding, rules)):
        changed = [axis for axis in sharding.axes if assigned[axis] != rules.assigned[axis]]
        chosen = changed or sharding.axes
        name = _name(sharding, assigned, changed)
        plan = build(sharding, assigned, name=name, moves_sums=True, chosen=chosen, chosen_after=chosen)
        found.setdefault(plan.deeds, plan)
    axes = sharding.axes
    wide = build(sharding, rules.assigned, name="gather over idle axes too", is_wide=True, chosen=axes, chosen_after=axes)
    found.setdefault(wide.deeds, wide)
    found.pop(rules.deeds, None)
    return tuple(found.values())


def _assignments(sharding: Sharding, rules: Plan) -> Iterator[Assignment]:
    """Assignments of axes to dims about which there is a choice."""
    options = {group: _options(sharding, rules.assigned[group[0]], group[0]) for group in _groups(sharding, rules)}
    for dims in combinations(options):
        yield _changed(rules.assigned, dims)


def _changed(assigned: Assignment, by: Mapping[Group, str | None]) -> Assignment:
    return {**assigned, **{axis: dim for group, dim in by.items() for axis in group}}


def _groups(sharding: Sharding, rules: Plan) -> tuple[Group, ...]:
    """Axes about which there is a choice, those together that all arrays treat alike."""
    busy = {axis for step in rules.collectives for axis in step.axes}
    groups: dict[tuple[object, ...], Group] = {}
    for axis in sharding.axes:
        if axis not in sharding.unreduced and (axis in busy or rules.assigned[axis] is None):
            role = (*_claims(sharding, axis), rules.assigned[axis])
            groups[role] = (*groups.get(role, ()), axis)
    return tuple(groups.values())


def _claims(sharding: Sharding, axis: str) -> tuple[str | None, ...]:
    """The dim that `axis` splits in every operand and in the result."""
    return tuple([array.dim_over(axis) for array in (*sharding.operands, sharding.out)])


def _options(sharding: Sharding, current: str | None, axis: str) -> tuple[str | None, ...]:
    """What `axis` may split, the current choice first."""
    dims = sharding.dims if current is None else _claims(sharding, axis)
    return tuple(dict.fromkeys((current, *(dim for dim in dims if dim is not None), None)))


def _name(sharding: Sharding, assigned: Assignment, changed: Sequence[str]) -> str:
    """What a plan does otherwise, in words."""
    if not changed:
        return "exchange instead of gathering"
    parts = [f"split {dim} over {' and '.join(axes)}" for dim in sharding.dims if (axes := [a for a in changed if assigned[a] == dim])]
    if idle := [axis for axis in changed if assigned[axis] is None]:
        parts.append(f"repeat the work over {' and '.join(idle)}")
    return ", ".join(parts)
