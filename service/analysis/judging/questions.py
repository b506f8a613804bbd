"""One question, part by part: target, op or ops, options, layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from ...catalogue import Catalogue
from ...errors import Fault, Gathered, InvalidInput
from ...pointers import steps
from ...schemas.evaluate import OptionsModel, PlanModel
from ...schemas.limits import MAX_OPS
from ...schemas.reading import validate
from ...schemas.sharding import ShardingModel
from ...schemas.terms import LISTED_MODELS, OpModel
from ..measured import OF_ONE
from ..targets import Target
from ..terms import Asked, lists_of
from . import hardware, ops, placing
from .agreeing import beside, common
from .hardware import JudgedTarget
from .ops import JudgedOp

Part = TypeVar("Part", bound=BaseModel)

MOST_CHIPS: Final = 2**32
"""Beyond these no number is looked for that so many chips can share."""


@dataclass(frozen=True)
class Shape:
    """What a question may hold."""

    ops: Mapping[str, type[OpModel]]
    options: type[PlanModel] = OptionsModel
    target: Callable[[Target, str], object] | None = None
    """what is asked of the target beside what the op needs; refuses with faults of the target at a pointer"""
    columns: Callable[[Asked], None] | None = None
    """refuses an op with columns, where it may have none"""


def faults(sent: Mapping[str, Any], shape: Shape, catalogue: Catalogue, pointer: str = "") -> list[Fault]:
    """What is wrong with a question that was sent at `pointer`, as far as each part can be read without the others."""
    target = hardware.judged(sent.get("target"), catalogue, f"{pointer}/target")
    options, of_options = _part(shape.options, sent.get("options"), f"{pointer}/options")
    sharding, of_sharding = _part(ShardingModel, sent.get("sharding"), f"{pointer}/sharding")
    judged = list(_ops(sent, shape, pointer, int(min(target.target.wired.mesh.devices, MOST_CHIPS))))
    known = [*target.faults, *of_options, *of_sharding, *(fault for each in judged for fault in each.faults)]
    found: list[Fault] = [*_of_target(target, shape, pointer)]
    for op in judged:
        found += placing.faults(op, target, sharding if len(judged) == 1 else None, options or shape.options(), pointer)
        found += _of_columns(op, sent, shape, pointer)
    if sharding is not None and sent.get("op") is not None and not any(op.readings for op in judged):
        found += placing.of_axes(target, sharding, pointer)
    if of_sharding:  # partial sums stand on all layouts together
        found = [fault for fault in found if not fault.pointer.startswith(f"{pointer}/sharding/out_unreduced")]
    return [*known, *beside(found, known)]


def _ops(sent: Mapping[str, Any], shape: Shape, pointer: str, chips: int) -> Iterator[JudgedOp]:
    """The op, or the ops of a list; of both together one is not meant, and nobody knows which."""
    one, several = sent.get("op"), sent.get("ops")
    if one is not None and several is None:
        yield ops.judged(one, shape.ops, f"{pointer}/op", chips)
    elif one is None and isinstance(several, list) and len(several) <= MAX_OPS:
        for at, op in enumerate(several):
            yield ops.judged(op, LISTED_MODELS, f"{pointer}/ops/{at}", chips)


def _part(model: type[Part], sent: object, pointer: str) -> tuple[Part | None, Sequence[Fault]]:
    """A part of the question without the members that are wrong in it, and what is wrong with those."""
    if not isinstance(sent, dict):
        return None, ()
    try:
        return validate(model, sent, pointer), ()
    except InvalidInput as error:
        wrong = {step for fault in error.faults for step in steps(fault.pointer.removeprefix(pointer))[:1]}
        sound = {name: value for name, value in sent.items() if name not in wrong}
        return Gathered().of(lambda: validate(model, sound)), error.faults


def _of_target(target: JudgedTarget, shape: Shape, pointer: str) -> list[Fault]:
    found, asked = Gathered(), shape.target
    if target.has_chip and asked is not None:
        found.of(lambda: asked(target.target, f"{pointer}/target"))
    return found.faults


def _of_columns(op: JudgedOp, sent: Mapping[str, Any], shape: Shape, pointer: str) -> list[Fault]:
    """Lists in the place of numbers, where these may not be."""
    found = []
    for asked in op.readings:
        faults, columns = Gathered(), shape.columns
        if lists_of(asked.model) and columns is not None:
            faults.of(partial(columns, asked))
        if lists_of(asked.model) and sent.get("measured_s") is not None:
            faults.add(Fault(f"{pointer}/measured_s", "use-batches", OF_ONE))
        found.append(faults.faults)
    return common(found)
