"""From the sharding of a question to how its op lies on the mesh: the layouts read, the plan derived or the fastest one taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engine.arrays import column
from ..engine.fabric import Fabric
from ..engine.hbm import traffic
from ..engine.instead import alternatives
from ..engine.memory import even_step
from ..engine.sharding import Choice, Plan, Sharding, arrays, plan, read, sizes
from ..engine.sharding import alternatives as others
from ..engine.sharding.rules import candidates
from ..engine.term import Term
from ..errors import InvalidInput, refuse
from ..schemas.evaluate import PlanModel
from ..schemas.sharding import ShardingModel
from .targets import Target
from .terms import Asked, placed

CHEAPEST = "cheapest"
MANY_PLANS = "The fastest plan is looked for in one question; columns may need many."


def lay(asked: Asked, sharding: ShardingModel | None, target: Target, options: PlanModel, pointer: str = "") -> Fabric:
    """The op of a question on its mesh, with the other plans that there are; `pointer` is where the question stands.

    Raises `InvalidInput` as `by_rules` does, and use-batches where the fastest plan is asked for with columns.
    """
    if options.plan == CHEAPEST and asked.columns is not None:
        raise refuse(f"{pointer}/options/plan", "use-batches", MANY_PLANS)
    laid = by_rules(asked, sharding, target, options, pointer)
    if laid.sharding is None:
        return laid
    with_others = replace(laid, others=others(laid.sharding, sizes(asked.term), laid.choices))
    return _fastest(asked, with_others, target) if options.plan == CHEAPEST else with_others


def by_plan(asked: Asked, sharding: ShardingModel | None, target: Target, options: PlanModel, pointer: str = "") -> Fabric:
    """The op of a question on its mesh by the plan that is asked for; other plans are only looked at where that needs it."""
    return (lay if options.plan == CHEAPEST else by_rules)(asked, sharding, target, options, pointer)


def by_rules(asked: Asked, sharding: ShardingModel | None, target: Target, options: PlanModel, pointer: str = "") -> Fabric:
    """The op of a question on its mesh as the layouts call for; `pointer` is where the question stands.

    Raises `InvalidInput` with pointers into the sharding, as `sharding.read` does; bad-sharding where the op has no layouts.
    """
    repeated = Fabric(target.wired.mesh, options.collectives)
    if sharding is None:
        return repeated
    dims = arrays(asked.term)
    if not dims:
        raise refuse(f"{pointer}/sharding", "bad-sharding", "A matmul and an einsum have layouts; this op runs whole on every chip.")
    laid = read(sharding.specs, dims, sizes(asked.term), target.wired.mesh, pointer=f"{pointer}/sharding")
    try:
        return replace(repeated, sharding=laid, choices=plans(asked.term, laid))
    except InvalidInput as error:
        raise placed(error, asked.pointer, asked.model) from error


def plans(term: Term, laid: Sharding) -> tuple[Choice, ...]:
    """The plan by the rules of every row of a term."""
    demand = term.demand()
    return plan(laid, sizes(term), traffic(demand, term.storages(demand), {}).by_operand)


def plans_for_batches(term: Term, laid: Sharding) -> list[Plan]:
    """The plans by the rules between which the size of the batch alone decides, as far as all of them can cut it."""
    found: list[Plan] = []
    for among in (candidates(laid), candidates(laid, may_leave_out=True)):
        columns = term.batch_of(column(even_step(term, laid, among))).columns()
        found = found or [each for each in among if each.divides({dim: columns[dim] for dim in laid.dims}).all()]
    return found


def _fastest(asked: Asked, by_rules: Fabric, target: Target) -> Fabric:
    """The plan with the least time, of equal ones that with the least sum of times, then the first; the one by the rules is first."""
    every = (*by_rules.choices, *by_rules.others)
    try:
        found = alternatives(asked.term, target.machine, replace(by_rules, others=every), is_class_asked=asked.is_class_asked)
    except InvalidInput as error:
        raise placed(error, asked.pointer, asked.model) from error
    best = min(range(len(found)), key=lambda at: (found[at].lower.item(), found[at].upper.item()))
    rest = tuple([everywhere(each.plan) for at, each in enumerate(every) if at != best])
    return replace(by_rules, choices=(everywhere(every[best].plan),), others=rest)


def everywhere(plan: Plan) -> Choice:
    """A plan for all rows."""
    return Choice(plan, np.ones(1, np.bool_))
