"""The use case of `POST /v1/analyses/{id}/recompute`: a kept answer beside today's, and what made the difference.

There are two steps from the one to the other. The first asks today's engine about the chip as it was, at its pinned revision; the second
asks the same engine about the chip's newest revision. So each time is changed by two factors, which multiply to the whole. A mesh stays as
it was understood when the question was kept, link by link; only the chip is looked up anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ..catalogue import Catalogue
from ..engine import ENGINE_VERSION
from ..errors import Conflict, InvalidInput
from ..schemas.evaluate import Question
from ..schemas.reading import validate
from ..storage import Analysis
from . import canonical, history
from .evaluate import Answer, answer

TIMES = ("lower_s", "upper_s", "overlapped_s", "estimate_s")
OUTDATED = "This version of the service no longer reads the question as it was kept; its answer stays as it is."
GONE = (
    "The chip of this analysis, or its revision, is no longer in the catalogue, so nothing can be computed anew; its answer stays as it is."
)
DELETED = "The chip of this analysis was deleted, so it has no newest revision to ask about; its revisions can still be named."


@dataclass(frozen=True)
class Step:
    """An answer on the way from the kept one to today's."""

    engine_version: str
    chip: str | None
    target_digest: str
    result: Mapping[str, Any]

    @property
    def times(self) -> Mapping[str, float | None]:
        result = self.result
        found: Mapping[str, float | None] = result.get("totals", result)["time"]
        return found

    @property
    def bound(self) -> Any:
        """What binds; of a list of ops one for each."""
        result = self.result
        return [each["bound"] for each in result["per_op"]] if "per_op" in result else result["bound"]


def recompute(kept: Analysis, catalogue: Catalogue) -> bytes:
    """The document: the kept answer, today's, and the difference by its causes. Nothing is stored.

    Raises `Conflict` where the question can no longer be asked: its chip was deleted, or this version does not read it.
    """
    asked = orjson.loads(kept.question)
    stored = _step(kept.answer)
    pinned = _step(_asked(asked, catalogue).text)
    newest = _asked(_unpinned(asked), catalogue, gone=DELETED)
    today = _step(newest.text)
    document = {
        "id": kept.id,
        "stored": _written(stored),
        "recomputed": {"id": history.identity(newest), **_written(today)},
        "difference": _difference(stored, pinned, today),
    }
    return canonical.text(document)


def _asked(question: Mapping[str, Any], catalogue: Catalogue, gone: str = GONE) -> Answer:
    try:
        return answer(validate(Question, question), catalogue)
    except InvalidInput as error:
        codes = {fault.code for fault in error.faults}
        raise Conflict(gone if codes <= {"unknown-chip", "unknown-revision"} else OUTDATED) from error


def _unpinned(question: Mapping[str, Any]) -> dict[str, Any]:
    """The question about the newest revision of its chip, or of the chip that its own was changed from."""
    target = question["target"]
    chip = target["chip"]
    if isinstance(chip, str):
        chip = chip.partition("@")[0]
    elif chip.get("base") is not None:
        chip = {**chip, "base": chip["base"].partition("@")[0]}
    return {**question, "target": {**target, "chip": chip}}


def _step(text: str | bytes) -> Step:
    document = orjson.loads(text)
    chip = document["target"]["chip"]
    name = chip if isinstance(chip, str) else chip.get("base")
    return Step(document["engine_version"], name, document["target_digest"], document["result"])


def _written(step: Step) -> dict[str, Any]:
    return {"engine_version": step.engine_version, "chip": step.chip, "target_digest": step.target_digest, "result": step.result}


def _difference(stored: Step, pinned: Step, today: Step) -> dict[str, Any]:
    changed = [cause for cause, is_other in (("engine", _differs(stored, pinned)), ("chip_revision", _differs(pinned, today))) if is_other]
    return {
        "attributed_to": changed,
        "engine": {"from": stored.engine_version, "to": ENGINE_VERSION},
        "chip_revision": {"from": stored.chip, "to": today.chip},
        "bound": {"from": stored.bound, "to": today.bound, "changed": stored.bound != today.bound},
        "times": {name: _change(name, stored, pinned, today) for name in TIMES},
    }


def _differs(one: Step, other: Step) -> bool:
    return bool(_found(one.result) != _found(other.result))


def _found(result: Any) -> Any:
    """A result without what it says of the question: a kept one has nothing left to assume or to note of a mesh, and cites a revision."""
    if isinstance(result, list):
        return [_found(each) for each in result]
    if not isinstance(result, Mapping):
        return result
    return {name: _found(value) for name, value in result.items() if name not in {"assumed", "explain", "notes"}}


def _change(name: str, stored: Step, pinned: Step, today: Step) -> dict[str, float | None]:
    before, between, after = (step.times.get(name) for step in (stored, pinned, today))
    return {
        "before_s": before,
        "after_s": after,
        "ratio": _ratio(after, before),
        "by_engine": _ratio(between, before),
        "by_chip_revision": _ratio(after, between),
    }


def _ratio(value: float | None, base: float | None) -> float | None:
    """value / base; None where there is none, or nothing took no time."""
    return None if value is None or not base else value / base
