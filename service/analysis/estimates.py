"""What a collective takes with a good library: the nearest calibration that speaks of its links, and what must be said of it.

A chip's calibration, or its architecture's, speaks of the one axis that was measured: the chip's own link, of the same topology and
rate, with no more chips than were measured. Whatever else is asked is estimated with the constants that are published for any chip.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..catalogue import Chip
from ..catalogue.calibration import Basis, Calibration, Calibrations, Fitted
from ..engine.arrays import Real
from ..engine.collective import Collective
from ..engine.loads import load
from ..engine.mesh import Axis, Mesh
from ..engine.pace import Estimate, estimate
from .links import NODE, of_chip


class Predicted(NamedTuple):
    """An estimate, and what it stands on."""

    estimate: Estimate
    basis: Basis
    ref: str
    """the calibration, pinned"""
    kind: str
    is_across: bool
    """whether it leaves a domain"""

    @property
    def note(self) -> str:
        """What a reader must know of it."""
        more = ACROSS if self.is_across else OTHERWISE if self.kind == "all_reduce" and self.basis != "generic" else ""
        return f"{SAID[self.basis]} ({self.ref}){more}."


SAID: dict[Basis, str] = {
    "chip": "estimate_s is of NCCL as it was measured on this chip",
    "architecture": "estimate_s is of NCCL as it was measured on chips of this architecture, for want of rows of this one on these links",
    "generic": "estimate_s rests on constants that NCCL publishes for its planner, for nothing was measured on these links",
}
OTHERWISE = "; an inference engine's own all-reduce kernel took a half to a fifth of it below 1 MiB"
ACROSS = "; between domains measured times were up to ten times as long, which the band includes"


def predicted(term: Collective, mesh: Mesh, chip: Chip | None, known: Calibrations, roofline: Real) -> Predicted | None:
    """The estimate of `term` on `mesh`, whose links may be those of `chip`; None where there is nobody to exchange with.

    roofline  the least time that the wires need [s]
    """
    found = load(term, mesh, outer=(NODE,))
    if found is None:
        return None
    is_across = bool(found.outer_rounds)
    axes = mesh.select(term.axes)
    for basis, calibration, fitted in _candidates(term.kind, known, is_across=is_across):
        if basis == "generic" or _speaks_of(fitted, axes, chip):
            return Predicted(estimate(fitted.pace, fitted.band, found, roofline), basis, calibration.ref, term.kind, is_across)
    return None


def _candidates(kind: str, known: Calibrations, *, is_across: bool) -> Iterator[tuple[Basis, Calibration, Fitted]]:
    for basis, calibration in known.nearest:
        fitted = calibration.across() if is_across else calibration.collective(kind)
        if fitted is not None:
            yield basis, calibration, fitted


def _speaks_of(fitted: Fitted, axes: tuple[Axis, ...], chip: Chip | None) -> bool:
    """Whether `axes` are the one link of `chip` that was measured, with no more chips than were."""
    if len(axes) != 1 or chip is None:
        return False
    (axis,) = axes
    inside = [link for name, link in of_chip(chip).by_name.items() if name != NODE]
    is_own = any((link.topology, link.bandwidth) == (axis.topology, axis.bandwidth) for link in inside)
    return is_own and axis.topology == fitted.topology and (fitted.largest is None or axis.size <= fitted.largest)
