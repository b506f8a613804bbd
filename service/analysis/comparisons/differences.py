"""What differs between two questions and what is the same, and whether their answers are like for like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...pointers import pointer
from .saved import Saved

MOST = 100
"""Differences of a question that are listed."""

ASKED = ("op", "ops", "sharding", "target", "options", "measured_s")
VERSIONS = ("engine_version", "document_version", "catalogue_digest")
COMPARABLE = ("chip", "mesh", *ASKED[:3], "options", "measured_s", "target_digest", "input_digest", *VERSIONS)
"""What may be the same in all analyses of a comparison, the target by its parts."""

ABSENT = object()

FORMATS = ("dtype", "scale", "quantized_from")
"""Endings of members that say how numbers are written and not how many there are."""


class Warned(NamedTuple):
    """Why two answers are not like for like."""

    code: str
    detail: str


def differs(base: Saved, other: Saved) -> tuple[list[dict[str, Any]], int]:
    """The members of the question that differ, by pointer, the first `MOST` of them, and how many there are."""
    found = [
        {"pointer": pointer(steps), "base": before, "value": after}
        for name in ASKED
        for steps, before, after in _differences(base.question.get(name, ABSENT), other.question.get(name, ABSENT), (name,))
    ]
    return found[:MOST], len(found)


def _differences(base: Any, other: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    if base == other:
        return
    if isinstance(base, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*base, *other)):
            yield from _differences(base.get(name, ABSENT), other.get(name, ABSENT), (*steps, name))
    elif isinstance(base, list) and isinstance(other, list) and len(base) == len(other):
        for at, (one, another) in enumerate(zip(base, other, strict=True)):
            yield from _differences(one, another, (*steps, at))
    else:
        yield steps, _stated(base), _stated(other)


def _stated(value: Any) -> Any:
    return None if value is ABSENT else value


def comparable(saved: Saved) -> dict[str, Any]:
    """What a question and its answer state that others may share."""
    stated = {**saved.answer, **saved.answer["target"]}
    return {name: stated[name] for name in COMPARABLE if stated.get(name) is not None}


def shared(same: dict[str, Any], stated: dict[str, Any]) -> dict[str, Any]:
    """Those of `same` that `stated` has too."""
    return {name: value for name, value in same.items() if stated.get(name) == value}


def warnings(base: Saved, other: Saved) -> Iterator[Warned]:
    """What two answers that are like for like have in common, and these have not."""
    for name, what in (("engine_version", "engine"), ("document_version", "form of answers")):
        before, after = base.answer[name], other.answer[name]
        if before != after:
            yield Warned(name.replace("_", "-"), f"The base was answered by {what} {before}, this by {after}.")
    yield from _of_target(base, other)
    if base.question["options"] != other.question["options"]:
        yield Warned("options", f"Asked with other options: {', '.join(_unlike(base.question['options'], other.question['options']))}.")
    if work := _other_work(base, other):
        yield Warned("op", f"Other work: {work}.")


def _of_target(base: Saved, other: Saved) -> Iterator[Warned]:
    one, another = base.analysis, other.analysis
    if one.chip_id is not None and one.chip_id == another.chip_id and one.chip_revision != another.chip_revision:
        yield Warned("chip-revision", f"The base is of revision {one.chip_revision} of the chip, this of revision {another.chip_revision}.")
    elif base.question["target"] == other.question["target"] and one.target_digest != another.target_digest:
        yield Warned("calibration", "The chip is the same, and what is known of its kernels is not: the estimates differ for that too.")


def _unlike(base: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in dict.fromkeys((*base, *other)) if base.get(name, ABSENT) != other.get(name, ABSENT)]


def _other_work(base: Saved, other: Saved) -> str:
    """In what the ops differ beside their number formats, in words; empty where they do the same."""
    if len(base.ops) != len(other.ops):
        return f"{len(base.ops)} and {len(other.ops)} ops"
    names: dict[str, None] = {}
    for one, another in zip(base.ops, other.ops, strict=True):
        unlike = _unlike({**one.op, "count": one.runs}, {**another.op, "count": another.runs})
        if "kind" in unlike:
            return "another kind of op"
        names |= dict.fromkeys(name for name in unlike if not name.endswith(FORMATS))
    return ", ".join(names)
