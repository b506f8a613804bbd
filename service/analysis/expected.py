"""The estimate of an op: its kernels on one chip, and what the chips exchange, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.calibration import Basis
from ..engine.arrays import Code, Real
from ..engine.collective import Collective
from ..engine.collectives import COLLECTIVES
from ..engine.fabric import Exchange, Fabric
from ..engine.kernels.physics import State
from ..engine.pace import Estimate
from ..engine.report import Report
from ..engine.term import Term
from ..errors import InvalidInput
from ..schemas.evaluate import OptionsModel
from . import tiles
from .cells import Cells
from .estimates import Predicted, predicted
from .kernels import BASES, Setup, Timed, timed
from .targets import Target

SAID: dict[Basis, str] = {
    "chip": "estimate_s is of kernels as they were measured on this chip",
    "architecture": "estimate_s is of kernels as they were measured on chips of this architecture, for want of rows of this one",
    "generic": "estimate_s rests on kernels that were measured on other architectures, for want of rows of this one; "
    "its band is that of chips left out",
}
BORROWED = (
    "estimate_s rests on kernels of other number formats or widths of heads, for want of rows of these; "
    "its band is that of formats left out"
)
UNKNOWN = "The estimates of time are null: there is no model of a kernel for this op."
ONE_CORE = "The estimates of time are null: the chip in place has one core, and kernels were measured on chips of many."
WORDS = {
    "cores": "the cores",
    "clock": "the clock",
    "cache_bytes": "the last cache",
    "tile_bytes": "the store of a core",
    "accumulator_bytes": "the store of sums",
    "array": "the systolic array",
}
"""What kernels see of a chip, in words."""
ALONE = np.zeros(1, np.intp)


class Foreseen(NamedTuple):
    """A prediction of a time, and what it stands on."""

    estimate: Estimate
    basis: Basis


class Expected(NamedTuple):
    """A prediction of the time of an op, where there is one, and what must be said of it."""

    time: Foreseen | None
    notes: tuple[str, ...]
    kernels: Timed | None = None
    tile_speedup: Real = tiles.SAME
    """of the tile that would be chosen over the one that is given"""


def expected(term: Term, report: Report, target: Target, options: OptionsModel, fabric: Fabric, *, cells: Cells) -> Expected:
    """The prediction for a term as it lies on `fabric`. Raises `InvalidInput`: a given tile that cannot be used."""
    if isinstance(term, Collective):
        found = predicted(term, target.wired.mesh, target.linked, target.calibrations, report.lower)
        return Expected(None, ()) if found is None else Expected(Foreseen(found.estimate, found.basis), (found.note,))
    local, here, setup = fabric.local(term), on_chip(report), setup_of((target,), ALONE, options)
    tiles.check_kind(term, options)
    if (fault := tiles.misfit(local, here, setup)) is not None:
        raise InvalidInput([fault])
    alone = timed(local, here, setup)
    if alone is None:
        return _of_kernels(None, report, target, cells)
    speedup = tiles.speedup(alone, local, here, setup, np.array([target.is_like_measured]))
    return _of_kernels(alone, report, target, cells)._replace(tile_speedup=speedup)


def _of_kernels(alone: Timed | None, report: Report, target: Target, cells: Cells) -> Expected:
    """The prediction from what kernels take on one chip, where there is a model of them."""
    if alone is None:
        return Expected(None, (UNKNOWN,))
    return _in_all(alone, report, target, cells) if target.is_like_measured else Expected(None, (ONE_CORE,), alone)


def setup_of(targets: Sequence[Target], at: NDArray[np.intp], options: OptionsModel) -> Setup:
    """Where and how the kernels of a question run."""
    return Setup(targets, at, State(options.launch, options.cache), tiles.tile_of(options))


def _in_all(alone: Timed, report: Report, target: Target, cells: Cells) -> Expected:
    """The time on one chip and that of all exchanges, added up: nothing is known to overlap."""
    exchanges = [(each, found) for each in report.network.exchanges if (found := _exchanged(each, target)) is not None]
    times = [Estimate(alone.ladder.estimate, alone.band.p10, alone.band.p90), *(_where(each, found.estimate) for each, found in exchanges)]
    bases = [BASES[int(alone.basis.min())], *(found.basis for _, found in exchanges)]
    notes = (*said(alone, cells), *_borrowed(target), *dict.fromkeys(found.note for _, found in exchanges))
    total = Estimate(*(reduce(add, each) for each in zip(*times, strict=True)))
    return Expected(Foreseen(total, min(bases, key=BASES.index)), notes, alone)


class Predictions(NamedTuple):
    """The estimates of rows that each have a target."""

    estimate: Estimate
    basis: Code
    """of each row, its place in `BASES`"""
    is_known: NDArray[np.bool_]
    kernels: Timed
    setup: Setup


def have_room(term: Term, report: Report, targets: Sequence[Target], options: OptionsModel) -> NDArray[np.bool_] | None:
    """Of each row whether its target has room for the tile that is given; None where there is nothing to check."""
    room = tiles.room(term, report, _of_rows(targets, options))
    return None if room is None else room.fits


def by_target(term: Term, report: Report, targets: Sequence[Target], options: OptionsModel) -> Predictions | None:
    """The predictions for the rows of a term, each of which one chip of its own target runs; None where there are none."""
    setup = _of_rows(targets, options)
    found = timed(term, report, setup)
    if found is None:
        return None
    is_known = np.array([target.is_like_measured for target in setup.targets])[setup.at]
    return Predictions(Estimate(found.ladder.estimate, *found.band), found.basis.astype(np.int8), is_known, found, setup)


def _of_rows(targets: Sequence[Target], options: OptionsModel) -> Setup:
    """The setup of rows that each have a target."""
    each = {id(target): target for target in targets}
    places = {known: at for at, known in enumerate(each)}
    return setup_of(tuple(each.values()), np.array([places[id(target)] for target in targets]), options)


def on_chip(report: Report) -> Report:
    """The report of what one chip does by itself."""
    if report.network.path is None:
        return report
    near = report.times._replace(network=None)
    return report._replace(times=near, lower=np.maximum(near.math, near.hbm))


def said(found: Timed, cells: Cells) -> Iterator[str]:
    """What an estimate of kernels stands on, with each calibration once."""
    reasons: dict[str, dict[str, None]] = {}
    for each in sorted(found.kernels(cells), key=lambda each: -BASES.index(each.basis)):
        reasons.setdefault(BORROWED if each.is_borrowed else SAID[each.basis], {})[each.ref] = None
    yield from (f"{reason} ({', '.join(refs)})." for reason, refs in reasons.items())


def _borrowed(target: Target) -> Iterator[str]:
    """Which numbers of another chip the estimate takes."""
    lenders = target.die.borrowed
    for lender in dict.fromkeys(lenders.values()):
        names = ", ".join(WORDS[name] for name in lenders if lenders[name] == lender)
        yield f"The catalogue does not state {names} of this chip; the estimate takes them from {lender}, of the same die."


def _exchanged(exchange: Exchange, target: Target) -> Predicted | None:
    """The prediction for one of the collectives of an op."""
    cost = exchange.cost
    term = COLLECTIVES[cost.kind](bytes=cost.volume, axes=cost.axes)
    assert isinstance(term, Collective)
    return predicted(term, target.wired.mesh, target.linked, target.calibrations, cost.time)


def _where(exchange: Exchange, found: Estimate) -> Estimate:
    """`found` in the rows that have the exchange, nothing in the others."""
    return found if exchange.rows is None else Estimate(*(np.where(exchange.rows, each, 0.0) for each in found))
