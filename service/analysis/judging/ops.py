"""An op of a question, read as far as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...errors import Fault, InvalidInput, OverLimit
from ...schemas.reading import validate
from ...schemas.terms import OpModel
from ..terms import Asked, placed, read
from .agreeing import beside, common
from .mending import FORMATS, Meant, form, mended, ways

ROUNDS: Final = 4
"""How often what was found is mended, and what is left judged again: shape, members together, formats, scales."""


@dataclass(frozen=True)
class JudgedOp:
    """What is wrong with an op, and what it asks for: itself, or what it may have been meant to be."""

    faults: tuple[Fault, ...] = ()
    readings: tuple[Asked, ...] = ()
    has_class: bool = True
    """whether its arithmetic class is what was meant"""


def judged(op: object, models: Mapping[str, type[OpModel]], pointer: str, chips: int) -> JudgedOp:
    """The op that was sent at `pointer` as one of `models`, to run on so many chips.

    An op of which the kind is not known is not judged: that is the fault.
    """
    kind = op.get("kind") if isinstance(op, dict) else None
    if not isinstance(op, dict) or not isinstance(kind, str) or kind not in models:
        return JudgedOp()
    found = _attempt(op, models[kind], pointer)
    if isinstance(found, Asked):
        return JudgedOp(readings=(found,))
    return _mended(op, models[kind], pointer, found, ways(chips))


def _attempt(op: Mapping[str, Any], model: type[OpModel], pointer: str) -> Asked | tuple[Fault, ...]:
    """The op as it asks, or what is wrong with it; more than an op may hold is told by itself and nothing here."""
    try:
        asked = read(validate(model, op, pointer), pointer)
    except InvalidInput as error:
        return error.faults
    except OverLimit:
        return ()
    try:
        with np.errstate(all="ignore"):
            asked.term.storages(asked.term.demand())
    except InvalidInput as error:
        return placed(error, pointer, asked.model).faults
    return asked


def _mended(op: Mapping[str, Any], model: type[OpModel], pointer: str, faults: tuple[Fault, ...], meant: tuple[Meant, ...]) -> JudgedOp:
    """The op with its faults mended in all ways, again with what is then found every time."""
    readings: tuple[Asked, ...] = ()
    for _ in range(ROUNDS):
        tries = [_attempt(mended(op, faults, pointer, each), model, pointer) for each in meant]
        readings = tuple(each for each in tries if isinstance(each, Asked))
        left = [() if isinstance(each, Asked) else each for each in tries]
        more = beside(common([each for each in left if not set(each) & set(faults)] or left), faults)
        if not more:
            break
        faults += tuple(more)
    return JudgedOp(faults, readings, _has_class(op, faults, pointer))


def _has_class(op: Mapping[str, Any], faults: tuple[Fault, ...], pointer: str) -> bool:
    """Whether no fault is of what the arithmetic class follows from: the class that is stated, or all formats."""
    at_fault = {fault.pointer.removeprefix(f"{pointer}/").partition("/")[0] for fault in faults}
    at_fault |= {name for fault in faults if fault.code == "unknown-member" for name in fault.suggestions}
    if op.get("compute_dtype") is not None:
        return "compute_dtype" not in at_fault
    return all(form(op["kind"], name) not in FORMATS for name in at_fault)
