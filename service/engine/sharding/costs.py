"""What the collectives of a plan take on a mesh; times of several collectives of one op add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add

from ..arrays import Real
from ..collective import ONE, Cost
from ..demand import NOTHING
from ..mesh import Mesh
from ..network import cost
from ..wiring import Form
from .plan import Plan


def costs(plan: Plan, whole: Mapping[str, Real], mesh: Mesh, *, form: Form = "exact", link: Real = ONE) -> tuple[Cost, ...]:
    """The cost of each collective of `plan`, in order; `whole` are the bytes of each whole array [B]."""
    return tuple([cost(step.kind, step.volume(whole[step.operand]), step.axes, mesh, form=form, link=link) for step in plan.collectives])


def total(found: Sequence[Cost]) -> Real:
    """Time of all together [s]."""
    return reduce(add, [each.time for each in found], NOTHING)
