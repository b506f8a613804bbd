"""Sharding: from the layouts of arrays on a mesh to the local product and the collectives around it.

    sharding = read(specs, arrays(term), sizes(term), mesh)      the layouts, or `InvalidInput` with all faults
    chosen = plan(sharding, sizes(term), whole)                  the plan by the rules; rows that need different plans are told apart
    others = alternatives(sharding, sizes(term), chosen)         what else computes the same
    local(term, choice.plan)                                     the term of one chip
    costs(choice.plan, whole, mesh)                              its collectives, in order

The cheapest plan is that of `chosen` and `others` whose bound is least, the one by the rules where it is no longer than the rest.
Thresholds of the network path are in `thresholds`.

`whole` are the bytes of each whole array, scales included, by its name. A plan does not depend on rows but for the choice by fewest
bytes and for what divides; of `costs` the volumes do.
"""

from __future__ import annotations

from .alternatives import alternatives
from .costs import costs, total
from .layout import Array, Sharding
from .local import arrays, local, sizes
from .plan import Plan
from .reading import faults_of_axes, read
from .route import Step
from .rules import Choice, plan

__all__ = [
    "Array",
    "Choice",
    "Plan",
    "Sharding",
    "Step",
    "alternatives",
    "arrays",
    "costs",
    "faults_of_axes",
    "local",
    "plan",
    "read",
    "sizes",
    "total",
]
