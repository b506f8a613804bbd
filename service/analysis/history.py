"""The use cases of saved analyses: keep a question with its answer, read it back, list what is kept, change, delete.

An analysis is identified by what it asks: the same question to the same engine about the same numbers is the same analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import orjson

from ..catalogue import Catalogue
from ..engine import ENGINE_VERSION
from ..errors import NotFound, OverLimit, refuse
from ..schemas.analyses import MOST_LABELS, AnalysisChange, SavedQuestion
from ..schemas.kinds import LIST_OF_OPS
from ..storage import Analysis, AnalysisStore, Headline
from ..storage.analysis import SPACE
from . import canonical
from .evaluate import DOCUMENT_VERSION, Answer, answer
from .moments import moment, now_us
from .terms import lists_of

ONE_OR_LISTED = "An analysis keeps one op or a list of ops; columns are for batches."


@dataclass(frozen=True)
class Kept:
    """A saved analysis as it is sent, and whether this call made it."""

    analysis: Analysis
    is_new: bool

    @property
    def text(self) -> bytes:
        return envelope(self.analysis)


def prepare(question: SavedQuestion, catalogue: Catalogue, clock: Callable[[], int] = now_us) -> Analysis:
    """Evaluate a question for keeping.

    Raises `InvalidInput` as `evaluate.answer` does, and use-batches where a list stands for a number.
    """
    lists = [] if question.op is None else [step for step, _ in lists_of(question.op)]
    if lists:
        raise refuse(f"/op/{lists[0]}", "use-batches", ONE_OR_LISTED)
    return _analysis(question, answer(question, catalogue), clock())


def save(analysis: Analysis, store: AnalysisStore) -> Kept:
    """Keep a prepared analysis; one that is kept already gains the labels that it lacks. Committed when this returns.

    Raises `InvalidInput` where it would have too many.
    """
    return Kept(*store.add(analysis, most_labels=MOST_LABELS))


def read(name: str, store: AnalysisStore) -> Analysis:
    """The analysis of an id. Raises `NotFound`."""
    return store.get(name)


def answers(names: Sequence[str], store: AnalysisStore) -> dict[str, str]:
    """The answer text of each of `names` that exists."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        with suppress(NotFound):
            found[name] = store.get(name).answer
    return found


def several(names: Sequence[str], store: AnalysisStore, most_bytes: int) -> dict[str, Analysis]:
    """Those of `names` that exist. Raises `OverLimit` where their answers have more bytes together."""
    found: dict[str, Analysis] = {}
    room = most_bytes
    for name in dict.fromkeys(names):
        with suppress(NotFound):
            found[name] = store.get(name)
            room -= len(found[name].answer)
        if room < 0:
            raise OverLimit(f"The stored answers have more than {most_bytes} bytes in all. Ask for fewer of them at a time.")
    return found


Guard = Callable[[bytes], None]
"""Refuses, by raising, to have an analysis changed whose envelope is not the one that the caller means."""


def change(name: str, wanted: AnalysisChange, store: AnalysisStore, guard: Guard) -> Analysis:
    """Change labels and note of the analysis of an id, unless `guard` refuses it as it stands. Committed when this returns.

    Raises `NotFound`, and `InvalidInput` where it would have too many labels.
    """

    def revise(stored: Analysis) -> Analysis:
        guard(envelope(stored))
        return _changed(stored, wanted)

    return store.change(name, revise)


def remove(name: str, store: AnalysisStore, guard: Guard) -> None:
    """Delete the analysis of an id, unless `guard` refuses it as it stands. Committed when this returns. Raises `NotFound`."""
    store.remove(name, lambda stored: guard(envelope(stored)))


def summary(analysis: Headline) -> dict[str, Any]:
    """An analysis in a list: what was asked and what binds, without the documents."""
    chip = None if analysis.chip_id is None else f"{analysis.chip_id}@{analysis.chip_revision}"
    return {
        "id": analysis.id,
        "created_at": moment(analysis.created_us),
        "labels": dict(analysis.labels),
        "note": analysis.note,
        "kind": analysis.kind,
        "chip": chip,
        "dtype": analysis.dtype,
        "bound": analysis.bound,
        "lower_s": analysis.lower_s,
        "estimate_s": analysis.estimate_s,
        "engine_version": analysis.engine_version,
        "question_digest": analysis.question_digest,
        "target_digest": analysis.target_digest,
    }


def envelope(analysis: Analysis) -> bytes:
    """A saved analysis as it is sent: question and answer are the stored text, byte for byte."""
    about = {
        "id": analysis.id,
        "created_at": moment(analysis.created_us),
        "labels": dict(analysis.labels),
        "note": analysis.note,
        "question": orjson.Fragment(analysis.question),
        "answer": orjson.Fragment(analysis.answer),
        "result": orjson.loads(analysis.answer)["result"],
    }
    return canonical.text(about)


def identity(found: Answer) -> str:
    """The id under which today's service keeps an answer."""
    resolved = canonical.sorted_text({**found.question, "target_digest": found.target.digest})
    return "an_" + canonical.identity(SPACE, ENGINE_VERSION, resolved)


def _changed(stored: Analysis, wanted: AnalysisChange) -> Analysis:
    if "labels" in wanted.model_fields_set:
        merged = {} if wanted.labels is None else {**stored.labels, **wanted.labels}
        labels = {key: value for key, value in merged.items() if value is not None}
        if len(labels) > max(MOST_LABELS, len(stored.labels)):
            raise refuse("/labels", "out-of-range", f"An analysis has at most {MOST_LABELS} labels, those that stay included.")
        stored = replace(stored, labels=labels)
    return replace(stored, note=wanted.note) if "note" in wanted.model_fields_set else stored


def _analysis(question: SavedQuestion, found: Answer, created_us: int) -> Analysis:
    asked = found.question
    headline = _headline(found)
    return Analysis(
        id=identity(found),
        created_us=created_us,
        kind=asked["op"]["kind"] if "op" in asked else LIST_OF_OPS,
        chip_id=None if found.target.chip is None else found.target.chip.id,
        chip_revision=None if found.target.chip is None else found.target.chip.revision,
        engine_version=ENGINE_VERSION,
        question_digest=canonical.digest({**asked, "target_digest": found.target.digest}),
        target_digest=found.target.digest,
        document_version=DOCUMENT_VERSION,
        note=question.note,
        labels=question.labels,
        question=canonical.text(asked).decode(),
        answer=found.text.decode(),
        **headline,
    )


def _headline(found: Answer) -> dict[str, Any]:
    """What lists show of an answer: format, bound and times; of a list of ops the totals, and what all ops share."""
    result = found.result
    results: list[Mapping[str, Any]] = result.get("per_op", [result])
    formats = {each["layers"]["compute"]["dtype"] for each in results}
    bounds = {each["bound"] for each in results}
    times = result["totals"]["time"] if "totals" in result else result["time"]
    return {
        "dtype": formats.pop() if len(formats) == 1 else None,
        "bound": bounds.pop() if len(bounds) == 1 else None,
        "lower_s": times["lower_s"],
        "estimate_s": times["estimate_s"],
    }
