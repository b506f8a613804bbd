"""Questions that wait at the same time, answered with as few calls of the engine as there are kinds of them.

Questions about one op that differ in its numbers alone are the rows of one column, as the rows of lists are, and their answers are
written as one document. Each is what its question gets by itself, byte for byte. So is every refusal: where something is wrong
with one of several, they are asked in halves, and it in the end by itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from ..catalogue import Catalogue
from ..engine.arrays import ONE
from ..engine.collective import Collective
from ..engine.kinds import KINDS
from ..engine.ops.attention import Attention
from ..engine.ops.mla import LatentAttention
from ..engine.term import Term
from ..schemas.evaluate import Question
from . import canonical, evaluate, single
from .cells import Flag
from .evaluate import OneOp
from .kernels import width_of
from .row_texts import EachRow, Unlike
from .terms import shape

Outcome = bytes | Exception
"""The text of an answer, or what is raised in its place."""


def answers(questions: Sequence[Question], catalogue: Catalogue) -> list[Outcome]:
    """The text of what `evaluate.answer` gives for each question by itself, or what it raises, in their order."""
    groups: dict[Hashable, list[int]] = {}
    for at, question in enumerate(questions):
        alike = _alike(question)
        groups.setdefault(at if alike is None else alike, []).append(at)
    found: dict[int, Outcome] = {}
    for places in groups.values():
        found |= zip(places, _of_group([questions[at] for at in places], catalogue), strict=True)
    return [found[at] for at in range(len(questions))]


def _alike(question: Question) -> Hashable:
    """What the rows of a document have in common; None for a question that is answered by itself."""
    op, options, chip = question.op, question.options, question.target.chip
    if op is None or question.target.mesh is not None or question.sharding is not None or question.measured_s is not None:
        return None
    if options.explain or not isinstance(chip, str) or issubclass(KINDS[op.kind], Collective):
        return None
    alike = shape(op)
    return None if alike is None else (chip, alike, options, frozenset(options.model_fields_set))


def _of_group(questions: Sequence[Question], catalogue: Catalogue) -> list[Outcome]:
    """The outcomes of questions that are alike."""
    if len(questions) == 1:
        return [_alone(questions[0], catalogue)]
    try:
        return [*_in_rows(questions, catalogue)]
    except Unlike as unlike:
        return _parted(questions, unlike.flags, catalogue)
    except Exception:  # noqa: BLE001 - whatever it is, it is of some of them, and is found again where each is asked by itself
        half = len(questions) // 2
        return [*_of_group(questions[:half], catalogue), *_of_group(questions[half:], catalogue)]


def _alone(question: Question, catalogue: Catalogue) -> Outcome:
    try:
        return evaluate.answer(question, catalogue).text
    except Exception as fault:  # noqa: BLE001 - of this question alone, and raised where that waits
        return fault


def _parted(questions: Sequence[Question], flags: Flag, catalogue: Catalogue) -> list[Outcome]:
    """The outcomes of questions of which those that are flagged have a document of their own."""
    sides = [[question for question, flag in zip(questions, flags.tolist(), strict=True) if flag is side] for side in (False, True)]
    others, flagged = (iter(_of_group(side, catalogue)) for side in sides)
    return [next(flagged if flag else others) for flag in flags.tolist()]


def _in_rows(questions: Sequence[Question], catalogue: Catalogue) -> list[bytes]:
    """The answers of questions that are the rows of one report. Raises whatever is wrong with one of them, and `Unlike`."""
    op, cells = _op(questions, catalogue), EachRow(len(questions))
    for flags in _apart(op.asked.term):
        cells.any_of(flags)
    answer = evaluate.written(op, single.reported(op.asked, op.setting), catalogue, cells)
    digests = [canonical.digest_of(text) for text in cells.cut(canonical.sorted_text(answer.input).encode())]
    return cells.cut(canonical.text(answer.identified_by(cells.text([b'"%b"' % digest.encode() for digest in digests]))))


def _op(questions: Sequence[Question], catalogue: Catalogue) -> OneOp:
    """The first question, about the ops of all."""
    first, *others = [op for each in questions if (op := each.op) is not None]
    return evaluate.read_one(questions[0], first, catalogue, others)


def _apart(term: Term) -> Iterator[Flag]:
    """Rows that other levers or other kernels are for."""
    if (batch := term.columns().get("batch")) is not None:
        yield batch > ONE
    if isinstance(term, Attention | LatentAttention):
        yield term.q_len == ONE
    if isinstance(term, Attention):
        widths = width_of(term)
        yield widths == widths[0]
