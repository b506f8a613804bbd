"""Ops that can be sharded, as the planner sees them: arrays with named dims, and what one chip is left with.

Sharded can be a matmul and an einsum; a matmul with more than one pair has `batch` as the first dim of every array.
"""

from __future__ import annotations

from ..arrays import Real
from ..ops.einsum import Einsum
from ..ops.matmul import Matmul
from ..term import Term
from .plan import Plan


def arrays(term: Term) -> dict[str, tuple[str, ...]]:
    """The dims of every operand and of `out`, in order; empty where the op cannot be sharded."""
    if isinstance(term, Matmul):
        pairs = ("batch",) if term.batch.max() > 1 else ()
        return {"a": (*pairs, "m", "k"), "b": (*pairs, "k", "n"), "out": (*pairs, "m", "n")}
    if isinstance(term, Einsum):
        equation = term.parts
        return {**{name: tuple(part) for name, part in zip(term.factors, equation.operands, strict=True)}, "out": tuple(equation.out)}
    return {}


def sizes(term: Term) -> dict[str, Real]:
    """The size of every dim of `arrays`; asks for a resolved term."""
    columns = term.columns()
    return {dim: columns[dim] for dims in arrays(term).values() for dim in dims}


def local(term: Term, plan: Plan) -> Term:
    """The product that one chip computes: operands after their gathers, the result before anything happens to it."""
    return term.with_columns({dim: size / plan.divisors[dim] for dim, size in sizes(term).items()})
