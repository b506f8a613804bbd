"""From the sharding of a question to how its op lies on the mesh: the layouts read, the plan derived or the fastest one taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engine.fabric import Fabric
from ..engine.hbm import traffic
from ..engine.instead import alternatives
from ..engine.sharding import Choice, arrays, plan, read, sizes
from ..engine.sharding import alternatives as others
from ..errors import InvalidInput, refuse
from ..schemas.evaluate import OptionsModel
from ..schemas.sharding import ShardingModel
from .targets import Target
from .terms import Asked, placed

CHEAPEST = "cheapest"


def lay(asked: Asked, sharding: ShardingModel | None, target: Target, options: OptionsModel, pointer: str = "") -> Fabric:
    """The op of a question on its mesh; `pointer` is where the question stands.

    Raises `InvalidInput`: into the sharding as `sharding.read` does, bad-sharding where the op has no layouts, use-batches where the
    fastest plan is asked for with columns; into the op what its evaluation would find wrong.
    """
    if options.plan == CHEAPEST and asked.columns is not None:
        raise refuse(f"{pointer}/options/plan", "use-batches", "The fastest plan is looked for in one question; columns may need many.")
    repeated = Fabric(target.wired.mesh, options.collectives)
    if sharding is None:
        return repeated
    dims = arrays(asked.term)
    if not dims:
        raise refuse(f"{pointer}/sharding", "bad-sharding", "A matmul and an einsum have layouts; this op runs whole on every chip.")
    laid = read(
        sharding.specs,
        dims,
        sizes(asked.term),
        target.wired.mesh,
        pointer=f"{pointer}/sharding",
    )
    try:
        by_rules = _by_rules(asked, replace(repeated, sharding=laid))
        return _fastest(asked, by_rules, target) if options.plan == CHEAPEST else by_rules
    except InvalidInput as error:
        raise placed(error, asked.pointer, asked.model) from error


def _by_rules(asked: Asked, fabric: Fabric) -> Fabric:
    """The plan of every row by the rules, and what else could be done."""
    assert fabric.sharding is not None
    demand, dims = asked.term.demand(), sizes(asked.term)
    choices = plan(fabric.sharding, dims, traffic(demand, asked.term.storages(demand), {}).by_operand)
    return replace(fabric, choices=choices, others=others(fabric.sharding, dims, choices))


def _fastest(asked: Asked, by_rules: Fabric, target: Target) -> Fabric:
    """The plan with the least time, of equal ones that with the least sum of times, then the first; the one by the rules is first."""
    candidates = (*by_rules.choices, *by_rules.others)
    every = replace(by_rules, others=candidates)
    found = alternatives(asked.term, target.machine, every, is_class_asked=asked.is_class_asked)
    best = min(range(len(found)), key=lambda at: (found[at].lower.item(), found[at].upper.item()))
    rest = tuple([_everywhere(each) for at, each in enumerate(candidates) if at != best])
    return replace(by_rules, choices=(_everywhere(candidates[best]),), others=rest)


def _everywhere(choice: Choice) -> Choice:
    return choice._replace(rows=np.ones(1, np.bool_))
