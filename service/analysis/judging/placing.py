"""An op on a target, as far as both were read: layouts, unit and format, tile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...engine import batch
from ...engine.collective import Collective, cost_of
from ...engine.machine import under
from ...engine.sharding import faults_of_axes
from ...errors import Fault, Gathered, InvalidInput
from ...schemas.evaluate import OptionsModel, PlanModel
from ...schemas.sharding import ShardingModel
from .. import tiles
from ..expected import ALONE, setup_of
from ..layouts import CHEAPEST, MANY_PLANS, by_rules
from ..terms import Asked, placed
from .agreeing import common
from .hardware import RUNS_ALL, JudgedTarget
from .ops import JudgedOp


def faults(op: JudgedOp, hardware: JudgedTarget, sharding: ShardingModel | None, options: PlanModel, pointer: str) -> list[Fault]:
    """What is wrong with an op in its place, whatever of its readings is meant; `pointer` is where the question stands."""
    found = [list(_faults(each, hardware, sharding, options, pointer)) for each in op.readings]
    return [each for each in common(found) if op.has_class or each.code != "unsupported-dtype"]


def _faults(asked: Asked, hardware: JudgedTarget, sharding: ShardingModel | None, options: PlanModel, pointer: str) -> Iterator[Fault]:
    found = Gathered()
    if options.plan == CHEAPEST and asked.columns is not None:
        found.add(Fault(f"{pointer}/options/plan", "use-batches", MANY_PLANS))
    found.of(lambda: by_rules(asked, sharding, hardware.target, options, pointer))
    yield from [fault for fault in found.faults if _stands(fault, hardware, f"{pointer}/sharding/out_unreduced")]
    if isinstance(options, OptionsModel):  # a time is asked for
        yield from _of_chip(asked, hardware)
        yield from _of_tile(asked, hardware, options)


def _stands(fault: Fault, hardware: JudgedTarget, unreduced: str) -> bool:
    """Whether a fault of layouts is one on the mesh that is meant."""
    if fault.code == "not-divisible":
        return hardware.has_names and hardware.has_sizes
    return hardware.has_names or not (fault.code == "unknown-axis" or fault.pointer.startswith(unreduced))


def _of_chip(asked: Asked, hardware: JudgedTarget) -> Iterator[Fault]:
    """What the chip lacks for the op, and the mesh for a collective."""
    term, found = asked.term, Gathered()
    if not isinstance(term, Collective):
        with np.errstate(all="ignore"):
            demand = term.demand()
        found.of(lambda: under(hardware.target.machine, demand, term.arithmetic, is_asked=asked.is_class_asked))
    elif hardware.has_names:
        found.of(lambda: cost_of(term, hardware.target.wired.mesh))
    yield from placed(InvalidInput(found.faults), asked.pointer, asked.model).faults


def _of_tile(asked: Asked, hardware: JudgedTarget, options: OptionsModel) -> Iterator[Fault]:
    """What is wrong with a tile that is given; whether it fits where the stores of the chip are known."""
    found = Gathered()
    found.of(lambda: tiles.check_kind(asked.term, options))
    if hardware.has_stores and tiles.tile_of(options) is not None and not found.faults and not isinstance(asked.term, Collective):
        target = replace(hardware.target, machine=RUNS_ALL)
        with suppress(InvalidInput):
            report = batch.evaluate(asked.term, target.machine)
            fault = tiles.misfit(asked.term, report, setup_of((target,), ALONE, options))
            found.add(*([] if fault is None else [fault]))
    yield from placed(InvalidInput(found.faults), asked.pointer, asked.model).faults


def of_axes(hardware: JudgedTarget, sharding: ShardingModel, pointer: str) -> list[Fault]:
    """What is wrong with the axes of layouts, whatever op they are of."""
    return faults_of_axes(sharding.specs, hardware.target.wired.mesh, pointer=f"{pointer}/sharding") if hardware.has_names else []
