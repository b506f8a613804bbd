"""Why a saved analysis takes another least time than the base: the causes of `engine.factors`, op by op, and the engines.

A stored question is put to the engine of this moment with the numbers of its stored answer: peaks and bandwidth as its layers state
them, the mesh as it was understood. So no catalogue has a part in it, and a chip that is no longer there stands as it did. Where that
engine finds another least time than the one that was kept, what is left of the ratio is the factor `engine`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...catalogue import Catalogue
from ...engine import ENGINE_VERSION, factors
from ...engine.fabric import Fabric
from ...engine.factors import Side
from ...errors import InvalidInput
from ...schemas.evaluate import Question
from ...schemas.reading import validate
from .. import causes, single
from ..layouts import by_plan
from ..single import Setting
from ..targets import resolve
from ..terms import Asked, read
from .saved import Document, Saved

EXCHANGES = ("collectives", "plan")
"""The options on which the least time depends."""

NO_TIME = "There are no factors: one of the two takes no time."
NO_PAIRS = "There are no factors: the lists have {} and {} ops, and no op of one stands for one of the other."
NOT_UNDERSTOOD = "There are no factors: the engine of this service does not take the stored question of {}: {}"
OTHER_ENGINE = "The factors are those of engine {}; `engine` is what the stored answers, by engine {} and {}, have beyond them."


@dataclass(frozen=True)
class Split:
    """The factors of a ratio, none where they could not be formed, and what must be said of them."""

    factors: Sequence[dict[str, Any]]
    notes: tuple[str, ...] = ()


def split(base: Sides, other: Sides) -> Split:
    """What multiplies to the ratio of the least times."""
    first, last = base.saved.times["lower_s"], other.saved.times["lower_s"]
    if not first or not last:
        return Split((), (NO_TIME,))
    if len(base.saved.ops) != len(other.saved.ops):
        return Split((), (NO_PAIRS.format(len(base.saved.ops), len(other.saved.ops)),))
    refusals = tuple(each.refusal for each in (base, other) if each.refusal is not None)
    if refusals:
        return Split((), refusals)
    counts = [[each.runs for each in saved.ops] for saved in (base.saved, other.saved)]
    pairs = zip(base.every, other.every, strict=True)
    before, after = _chain(counts, [factors.factors(*pair) for pair in pairs])
    # In one engine this is 1 exactly, and every step is what the engine found.
    scale = first / before
    steps = {cause: scale * seconds for cause, seconds in after.items()}
    return Split(causes.documents(first, {**steps, "engine": last}), tuple(_notes(base.saved, other.saved)))


@dataclass(frozen=True)
class Sides:
    """A saved analysis, and each of its ops as the engine sees it today; none, and why, where it does not."""

    saved: Saved
    every: Sequence[Side] = ()
    refusal: str | None = None

    @classmethod
    def of(cls, saved: Saved, catalogue: Catalogue) -> Sides:
        try:
            return cls(saved, _sides(saved, catalogue))
        except InvalidInput as error:
            return cls(saved, refusal=NOT_UNDERSTOOD.format(saved.analysis.id, error.faults[0].detail))


def _chain(counts: Sequence[Sequence[int]], found: Sequence[tuple[factors.Factor, ...]]) -> tuple[float, dict[str, float]]:
    """The least time of all ops [s] before the first cause, and after each; how often an op runs is part of its counts."""
    first, second = counts
    before = sum(count * steps[0].before.item() for count, steps in zip(first, found, strict=True))
    after: dict[str, float] = {}
    for steps in zip(*found, strict=True):
        after[steps[0].cause] = sum(count * step.after.item() for count, step in zip(second, steps, strict=True))
    return before, after


def _notes(base: Saved, other: Saved) -> Iterator[str]:
    engines = [saved.answer["engine_version"] for saved in (base, other)]
    if {*engines} != {ENGINE_VERSION}:
        yield OTHER_ENGINE.format(ENGINE_VERSION, *engines)


def _sides(saved: Saved, catalogue: Catalogue) -> list[Side]:
    """Each op as the engine sees it today. Raises `InvalidInput` where it does not."""
    question = validate(Question, _question(saved))
    target = resolve(question.target, catalogue)
    if question.op is not None:
        asked = read(question.op, "/op")
        placed = [(asked, by_plan(asked, question.sharding, target, question.options))]
    else:
        fabric = Fabric(target.wired.mesh, question.options.collectives)
        placed = [(read(op, f"/ops/{at}"), fabric) for at, op in enumerate(question.ops or ())]
    return [_side(asked, Setting(target, question.options, fabric)) for asked, fabric in placed]


def _side(asked: Asked, setting: Setting) -> Side:
    return causes.side(asked, single.reported(asked, setting), setting)


def _question(saved: Saved) -> dict[str, Any]:
    """The stored question, its chip in place with the numbers that the answer states."""
    asked = {name: saved.question[name] for name in ("op", "ops", "sharding") if name in saved.question}
    mesh = saved.question["target"].get("mesh")
    target = {"chip": _chip([each.result["layers"] for each in saved.ops]), **({} if mesh is None else {"mesh": mesh})}
    options = {name: value for name, value in saved.question["options"].items() if name in EXCHANGES}
    return {**asked, "target": target, "options": options}


def _chip(layers: Sequence[Mapping[str, Any]]) -> Document:
    """What the layers of all ops state of the chip that they ran on."""
    peaks: dict[str, dict[str, float]] = {"peak_flops_per_s": {}, "vector_peak_flops_per_s": {}}
    for each in layers:
        compute = each["compute"]
        if compute["peak_flops_per_s"] is not None:
            unit = "peak_flops_per_s" if compute["unit"] == "matrix" else "vector_peak_flops_per_s"
            peaks[unit][compute["dtype"]] = float(compute["peak_flops_per_s"])
    bandwidth = next((found for each in layers if (found := each["hbm"]["bandwidth_bytes_per_s"]) is not None), None)
    memory = {} if bandwidth is None else {"hbm": {"bandwidth_bytes_per_s": float(bandwidth)}}
    return {**{name: each for name, each in peaks.items() if each}, **memory}
