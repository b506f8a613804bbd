"""The use case of `POST /v1/fit`: whether what an op needs fits the memory of each chip, what takes most, which batch still fits.

No time is asked for, so a chip in place may state its capacity alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..catalogue import Catalogue
from ..engine import ENGINE_VERSION
from ..engine.arrays import column
from ..engine.fabric import Fabric
from ..engine.memory import even_step, largest_batch
from ..engine.memory import total as total_bytes
from ..engine.term import Term
from ..errors import OverLimit
from ..schemas.fit import FitQuestion
from ..schemas.limits import MAX_OPS
from . import canonical
from .cells import cells_of
from .evaluate import DOCUMENT_VERSION, ROWS_PER_OP, left_out, members_of
from .layouts import CHEAPEST, by_plan, everywhere, plans, plans_for_batches
from .listing import count, read_all
from .magnitude import check
from .memory import Part, capacity, parts, total, without_columns, written
from .targets import Target, resolve
from .terms import Asked, read

ROWS_PER_SEARCH = 2_000
"""What looking for the largest batch costs, in rows of columns."""

ROWS_PER_LAYOUT = 10_000
"""What it costs where every size may have a plan of its own."""

WHOLE_HBM = "limit_bytes is the whole HBM; what a runtime, an allocator and fragmentation take of it is not counted."
AT_ONCE = "Everything counts as held at once; a kernel that frees or overwrites arrays while it runs needs less."
COPIES = "Each collective writes a copy beside the array that it reads."
LISTED = (
    "Every execution of every op counts with arrays of its own, all held at once; what ops share or free a list does not say. "
    "The need lies between largest_op and bytes_total."
)
NO_COMMON_BATCH = "largest_batch is null: the ops of a list have sizes of their own."
NO_BATCH = "largest_batch is null: the op has no dim in which more of the same is asked for."
PLAN_HELD = "largest_batch keeps the plan that is the fastest at this size; at that size another one may be."
EVERY_PLAN = "largest_batch is what fits with every plan between which sizes decide."


@dataclass(frozen=True)
class Need:
    """What the chips hold for a question: members of the answer, by their names."""

    asked: Mapping[str, Any]
    """the op with its layouts, or the ops, as understood"""
    parts: list[dict[str, Any]]
    total: int
    batch: Mapping[str, Any]
    more: Mapping[str, Any]
    """members that only a list has"""
    assumed: list[Mapping[str, Any]]
    notes: list[str]


def rows(question: FitQuestion) -> int:
    """The cost of a question, in rows of columns."""
    if question.ops is not None:
        return ROWS_PER_OP * len(question.ops)
    return ROWS_PER_SEARCH if question.sharding is None else ROWS_PER_LAYOUT


def fit(question: FitQuestion, catalogue: Catalogue) -> bytes:
    """What fits, as JSON. Raises `OverLimit` (too-many-rows) and `InvalidInput` with pointers into the question."""
    if question.ops is not None and len(question.ops) > MAX_OPS:
        raise OverLimit(f"A list holds at most {MAX_OPS} ops. Ask in several requests.")
    target = resolve(question.target, catalogue)
    limit = capacity(target, "/target")
    need = _of_one(question, target, limit) if question.ops is None else _of_many(question, target)
    return canonical.text(
        {
            **need.asked,
            "target": target.document,
            "options": members_of(question.options),
            "devices": written(int(target.wired.mesh.devices)),
            "parts": need.parts,
            "bytes_total": written(need.total),
            "limit_bytes": written(limit),
            "headroom_bytes": written(limit - need.total),
            "fits": need.total <= limit,
            "largest": max(need.parts, key=lambda part: part["bytes"], default=None),
            **need.more,
            **need.batch,
            "assumed": [*need.assumed, *target.assumed, *left_out(question.options)],
            "notes": [*need.notes, WHOLE_HBM],
            "engine_version": ENGINE_VERSION,
            "document_version": DOCUMENT_VERSION,
            "catalogue_digest": catalogue.digest,
            "target_digest": target.digest,
        }
    )


def _of_one(question: FitQuestion, target: Target, limit: int) -> Need:
    assert question.op is not None
    asked = read(question.op, "/op")
    without_columns(asked, "A fit")
    fabric = by_plan(asked, question.sharding, target, question.options)
    found = parts(asked, fabric)
    batch, said = _batch(asked, fabric, limit, is_held=question.options.plan == CHEAPEST and fabric.sharding is not None)
    op = asked.document(asked.term.arithmetic, cells_of(asked.columns))
    return Need(
        asked={"op": op, **({} if question.sharding is None else {"sharding": question.sharding.document()})},
        parts=[_document(each) for each in found],
        total=total(found),
        batch=batch,
        more={},
        assumed=asked.assumed(op),
        notes=[*said, *([COPIES] if any(each.made_by for each in found) else []), AT_ONCE],
    )


def _of_many(question: FitQuestion, target: Target) -> Need:
    asked = read_all(question.ops or ())
    fabric = Fabric(target.wired.mesh)
    found = [(at, count(each), parts(each, fabric)) for at, each in enumerate(asked)]
    whole = sum(times * total(of_op) for _, times, of_op in found)
    check("/ops", "The bytes of these ops", whole)
    at, _, most = max(found, key=lambda each: total(each[2]))
    ops = [each.document(each.term.arithmetic, cells_of(each.columns)) for each in asked]
    return Need(
        asked={"ops": [{**op, "count": times} for op, (_, times, _) in zip(ops, found, strict=True)]},
        parts=[{"op": at, "count": times, **_document(each, times)} for at, times, of_op in found for each in of_op],
        total=whole,
        batch={"batch_dim": None, "largest_batch": None},
        more={"largest_op": {"op": at, "bytes": written(total(most))}},
        assumed=[each for one, op in zip(asked, ops, strict=True) for each in one.assumed(op)],
        notes=[NO_COMMON_BATCH, LISTED],
    )


def _document(part: Part, times: int = 1) -> dict[str, Any]:
    return {"array": part.array, "made_by": part.made_by, "bytes": written(times * part.bytes)}


def _batch(asked: Asked, fabric: Fabric, limit: int, *, is_held: bool) -> tuple[dict[str, Any], list[str]]:
    """The largest size of the dim in which more of the same is asked for, and what must be said of it."""
    dim = asked.term.batch_dim
    if dim is None:
        return {"batch_dim": None, "largest_batch": None}, [NO_BATCH]
    found, said = _largest(asked.term, fabric, limit, is_held=is_held)
    if not found:
        return {"batch_dim": dim, "largest_batch": None}, [f"largest_batch is null: no {dim} was found with which everything fits."]
    return {"batch_dim": dim, "largest_batch": found}, said


def _largest(term: Term, fabric: Fabric, limit: int, *, is_held: bool) -> tuple[int, list[str]]:
    """The largest batch with the plan of the question where `is_held`, else with the plan that the rules choose at that size."""
    laid = fabric.sharding
    if laid is None:
        return largest_batch(term, [fabric], limit, 1), []
    if is_held:
        return largest_batch(term, [fabric], limit, even_step(term, laid, [each.plan for each in fabric.choices])), [PLAN_HELD]
    possible = plans_for_batches(term, laid)
    ways, step = [fabric.instead(everywhere(each)) for each in possible], even_step(term, laid, possible)
    for found in sorted({largest_batch(term, [way], limit, step) for way in ways}, reverse=True):
        grown = term.batch_of(column(found))
        if found and (total_bytes(grown, replace(fabric, choices=plans(grown, laid))) <= limit).all():
            return found, []
    return largest_batch(term, ways, limit, step), [EVERY_PLAN]
