"""Questions that wait at the same time, answered with as few calls of the engine as there are kinds of them.

Questions about one op that differ in its numbers alone are the rows of one column, as the ops of a list are. Each answer is
cut out of the report of all of them, and is what its question gets by itself, byte for byte. So is every refusal: where
something is wrong with one of several, each of them is asked by itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from ..catalogue import Catalogue
from ..engine import batch
from ..engine.collective import Collective
from ..engine.ops.attention import Attention
from ..schemas.evaluate import Question, TileModel
from . import evaluate
from .evaluate import Answer, OneOp
from .expected import row_by_row
from .kernels import width_of
from .listing import stacked

Outcome = Answer | Exception
"""An answer, or what is raised in its place."""


def answers(questions: Sequence[Question], catalogue: Catalogue) -> list[Outcome]:
    """What `evaluate.answer` gives for each question by itself, or raises, in their order."""
    if len(questions) == 1:
        return [_alone(questions[0], catalogue)]
    groups: dict[Hashable, dict[int, OneOp]] = {}
    for at, question in enumerate(questions):
        op = _row(question, catalogue)
        if op is not None:
            groups.setdefault(_alike(op), {})[at] = op
    found: dict[int, Outcome] = {}
    for group in groups.values():
        found |= _of_rows(group, catalogue)
    return [found[at] if at in found else _alone(question, catalogue) for at, question in enumerate(questions)]


def _alone(question: Question, catalogue: Catalogue) -> Outcome:
    try:
        return evaluate.answer(question, catalogue)
    except Exception as fault:  # noqa: BLE001 - of this question alone, and raised where that waits
        return fault


def _row(question: Question, catalogue: Catalogue) -> OneOp | None:
    """A question that may be a row among others; None for one that is not: lists, meshes, a tile that is given, what is refused."""
    if question.op is None or question.target.mesh is not None or question.sharding is not None:
        return None
    if isinstance(question.options.tile, TileModel):
        return None
    try:
        op = evaluate.read_one(question, question.op, catalogue)
    except Exception:  # noqa: BLE001 - found again, and then raised, where the question is asked by itself
        return None
    return None if op.asked.columns is not None or isinstance(op.asked.term, Collective) else op


def _alike(op: OneOp) -> Hashable:
    """What the rows of a report have in common. Chips of the catalogue are one object each; one in place has a row of its own."""
    term, setting = op.asked.term, op.setting
    width = width_of(term).item() if isinstance(term, Attention) else None
    return op.asked.choices, width, id(setting.target), setting.options


def _of_rows(group: Mapping[int, OneOp], catalogue: Catalogue) -> dict[int, Outcome]:
    """The answers of questions that are rows of one report; none where something is wrong with one of them."""
    first, rows = next(iter(group.values())), len(group)
    if rows == 1:
        return {}
    term, setting = stacked([op.asked for op in group.values()]), first.setting
    try:
        report = batch.evaluate(
            term, setting.target.machine, setting.fabric, is_class_asked=first.asked.is_class_asked, overlap=setting.options.overlap
        )
        if batch.too_large(report) is not None:
            return {}
        reports = batch.rows_of(report, rows)
        foreseen = row_by_row(term, report, reports, setting.target, setting.options)
        return {
            at: evaluate.written(op, each, time, catalogue) for (at, op), each, time in zip(group.items(), reports, foreseen, strict=True)
        }
    except Exception:  # noqa: BLE001 - whatever it is, it is of some of them, and is found again where each is asked by itself
        return {}
