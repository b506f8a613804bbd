"""All that is wrong with a body, from the first refusal on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from pydantic import BaseModel

from ...catalogue import Catalogue
from ...errors import Fault, Gathered, InvalidInput, refuse
from ...schemas.analyses import SavedQuestion
from ...schemas.charts import ChartQuestion
from ...schemas.compare import Comparison
from ...schemas.evaluate import LISTS_ARE_WHOLE, PlanModel, Question
from ...schemas.fit import FitQuestion
from ...schemas.limits import MAX_CANDIDATES, MAX_CASES
from ...schemas.rank import RankQuestion
from ...schemas.reading import validate
from ...schemas.telling import MOST_FAULTS
from ...schemas.terms import OP_MODELS, PLAIN_MODELS
from ..history import ONE_OR_LISTED
from ..memory import capacity, without_columns
from ..rank import repeated
from ..terms import Asked, lists_of
from . import questions
from .agreeing import joined
from .questions import Shape

Judge = Callable[[Mapping[str, Any], Catalogue], list[Fault]]

OP: Final = {"kind": "dot", "n": 1, "dtype": "fp32"}
TARGET: Final = {"chip": "x"}
SOUND: Final[dict[str, Any]] = {
    "op": OP,
    "ops": [OP],
    "target": TARGET,
    "sharding": {"out": []},
    "measured_s": 1.0,
    "candidates": [{"id": "x", "target": TARGET}],
    "cases": [{"op": OP, "target": TARGET}] * 2,
    "analyses": ["x"],
}
"""Members in which nothing is wrong."""


def whole(refusal: InvalidInput, model: type[BaseModel], sent: object, catalogue: Catalogue) -> InvalidInput:
    """`refusal`, with what else is wrong with `sent`, which was to be a `model`.

    Who has been told of as many faults as are told at all is not told of more.
    """
    judge = _JUDGES.get(model)
    if judge is None or not isinstance(sent, dict) or refusal.count >= MOST_FAULTS:
        return refusal
    return joined(refusal, [*_rules(model, sent), *judge(sent, catalogue)])


def _rules(model: type[BaseModel], sent: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with the members together: the rules of the model, with sound members in the place of those that were sent."""
    fields = {name: field for name, field in model.model_fields.items() if name in SOUND}
    shown = {name: SOUND[name] for name, field in fields.items() if field.is_required() or sent.get(name) is not None}
    for name in ("cases", "analyses"):
        if name in fields and isinstance(sent.get(name), list):
            shown[name] = [_alike(each) for each in sent[name][:MAX_CASES]]
    if sent.get("chips") in (None, "all"):
        found = Gathered()
        found.of(lambda: validate(model, {**shown, **({"chips": "all"} if sent.get("chips") else {})}))
        return found.faults
    return []


def _alike(sent: object) -> object:
    """A sound case, or id of an analysis, with a target where the one that was sent has one."""
    if isinstance(sent, str):
        return "x"
    return {"op": OP} if isinstance(sent, dict) and sent.get("target") is None else {"op": OP, "target": TARGET}


def _cases(sent: Mapping[str, Any], catalogue: Catalogue) -> Iterator[Fault]:
    """What is wrong with each case of a comparison or a chart."""
    cases = sent.get("cases")
    if isinstance(cases, list) and len(cases) <= MAX_CASES:
        for at, case in enumerate(cases):
            if isinstance(case, dict):
                yield from questions.faults(case, CASE, catalogue, f"/cases/{at}")


def _candidates(sent: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with candidates together. One that cannot run the op is left out of a ranking, and no reason to refuse it."""
    candidates = sent.get("candidates")
    if isinstance(candidates, list):
        yield from repeated([each.get("id") if isinstance(each, dict) else None for each in candidates[:MAX_CANDIDATES]])
        for at, each in enumerate(candidates[:MAX_CANDIDATES]):
            if sent.get("ops") is not None and sent.get("op") is None and isinstance(each, dict) and each.get("sharding") is not None:
                yield Fault(f"/candidates/{at}/sharding", "invalid-request", LISTS_ARE_WHOLE)


def _alone(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The ops of a ranking, without a place."""
    return {name: sent.get(name) for name in ("op", "ops", "options")}


def _without_columns(asked: Asked) -> None:
    if lists := lists_of(asked.model):
        raise refuse(f"{asked.pointer}/{lists[0][0]}", "use-batches", ONE_OR_LISTED)


ASKED: Final = Shape(OP_MODELS)
KEPT: Final = Shape(OP_MODELS, columns=_without_columns)
HELD: Final = Shape(OP_MODELS, PlanModel, target=capacity, columns=partial(without_columns, what="A fit"))
RANKED: Final = Shape(OP_MODELS, PlanModel, columns=partial(without_columns, what="A ranking"))
CASE: Final = Shape(PLAIN_MODELS)

_JUDGES: Final[Mapping[type[BaseModel], Judge]] = {
    Question: lambda sent, catalogue: questions.faults(sent, ASKED, catalogue),
    SavedQuestion: lambda sent, catalogue: questions.faults(sent, KEPT, catalogue),
    FitQuestion: lambda sent, catalogue: questions.faults(sent, HELD, catalogue),
    RankQuestion: lambda sent, catalogue: [*_candidates(sent), *questions.faults(_alone(sent), RANKED, catalogue)],
    Comparison: lambda sent, catalogue: [*_cases(sent, catalogue)],
    ChartQuestion: lambda sent, catalogue: [*_cases(sent, catalogue)],
}
