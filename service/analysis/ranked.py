"""A ranking as a document: the candidates in a total order, those that are left out, and what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..engine import ENGINE_VERSION
from ..errors import Fault
from ..schemas.rank import RankQuestion
from .cells import cells_of
from .evaluate import DOCUMENT_VERSION, left_out, members_of
from .listing import count
from .magnitude import check
from .memory import written
from .placing import Placed
from .terms import Asked

MEASURES = {"time": "time_s", "chip_time": "chip_time_s"}
"""What is least in the best candidate, by objective."""

ORDER = "{measure}, the least first; of equal ones fewer devices first; of those by id, in the order of code points"

PROBLEM, DOES_NOT_FIT, TOO_SLOW = "problem", "does-not-fit", "too-slow"
"""Why a candidate is left out: it cannot be evaluated, or misses a constraint."""

NO_CAPACITY = "fits and headroom_bytes are null: no capacity of the HBM is known."
NO_TIME = "bound is null: nothing is computed, moved or sent, so it takes no time."
NO_RATIO = "ratio_to_best is null: the best takes no time."


@dataclass(frozen=True)
class Out:
    """A candidate that is left out, and why."""

    id: str
    reasons: tuple[str, ...]
    faults: tuple[Fault, ...] = ()
    placed: Placed | None = None


def document(
    question: RankQuestion, asked: Sequence[Asked], placed: Mapping[str, Placed], out: Sequence[Out], catalogue_digest: str
) -> dict[str, Any]:
    """The answer; `placed` are the candidates that are ranked, by their ids and in the order of the question."""
    ops = [each.document(each.term.arithmetic, cells_of(each.columns)) for each in asked]
    measure = MEASURES[question.objective]
    of_ops = (member for each, op in zip(asked, ops, strict=True) for member in each.assumed(op))
    of_targets = (member for each in placed.values() for member in each.target.assumed)
    return {
        **(
            {"op": ops[0]} if question.ops is None else {"ops": [{**op, "count": count(each)} for op, each in zip(ops, asked, strict=True)]}
        ),
        "objective": question.objective,
        "constraints": question.constraints.model_dump(exclude_none=True),
        "options": members_of(question.options),
        "items": _items(placed, measure),
        "excluded": [_excluded(each) for each in sorted(out, key=lambda each: each.id)],
        "order": ORDER.format(measure=measure),
        "assumed": [*of_ops, *of_targets, *_left_out(question)],
        "engine_version": ENGINE_VERSION,
        "document_version": DOCUMENT_VERSION,
        "catalogue_digest": catalogue_digest,
    }


def _asked(question: RankQuestion, asked: Sequence[Asked], ops: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The op, or the ops, as understood."""
    if question.ops is None:
        return {"op": ops[0]}
    return {"ops": [{**op, "count": count(each)} for op, each in zip(ops, asked, strict=True)]}


def _left_out(question: RankQuestion) -> Iterator[Mapping[str, Any]]:
    if "objective" not in question.model_fields_set:
        yield {"pointer": "/objective", "value": question.objective}
    if "fits" not in question.constraints.model_fields_set:
        yield {"pointer": "/constraints/fits", "value": question.constraints.fits}
    yield from left_out(question.options)


def _items(placed: Mapping[str, Placed], measure: str) -> list[dict[str, Any]]:
    """The candidates in their order. Raises `InvalidInput` (too-large) where they are too far apart to be compared."""

    def measured(name: str) -> float:
        found: float = getattr(placed[name], measure)
        return found

    ordered = sorted(placed, key=lambda name: (measured(name), placed[name].devices, name))
    best = measured(ordered[0]) if ordered else 0.0
    ratios = [measured(name) / best if best else None for name in ordered]
    check("/candidates", "The ratio of a candidate to the best", *ratios)
    return [_item(at, name, placed[name], ratio) for at, (name, ratio) in enumerate(zip(ordered, ratios, strict=True), start=1)]


def _item(at: int, name: str, found: Placed, ratio: float | None) -> dict[str, Any]:
    nulls = ((NO_TIME, not found.time_s), (NO_CAPACITY, found.fits is None), (NO_RATIO, ratio is None))
    return {
        "rank": at,
        "id": name,
        **_figures(found),
        "ratio_to_best": ratio,
        "target": found.target.document,
        "target_digest": found.target.digest,
        "notes": [*found.notes, *(note for note, is_due in nulls if is_due)],
    }


def _excluded(out: Out) -> dict[str, Any]:
    errors = [
        {"pointer": each.pointer, "code": each.code, "detail": each.detail, "suggestions": list(each.suggestions)} for each in out.faults
    ]
    return {"id": out.id, "reasons": list(out.reasons), "errors": errors, **({} if out.placed is None else _figures(out.placed))}


def _figures(found: Placed) -> dict[str, Any]:
    """What a candidate is judged by."""
    return {
        "time_s": found.time_s,
        "chip_time_s": found.chip_time_s,
        "devices": written(found.devices),
        "bound": found.bound,
        "fits": found.fits,
        "headroom_bytes": None if found.headroom_bytes is None else written(found.headroom_bytes),
    }
