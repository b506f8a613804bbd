"""The calibration of collectives: which parameters, on which chips, with what error.

Kinds are fitted one by one, all chips together. Errors are those of rows that a fit has not seen: five fits leave out a fifth of
the shapes each. What an architecture says of a chip is judged by fits that leave the whole chip out. What is published for any chip
is fitted on nothing and judged by all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.catalogue import Catalogue, Chip
from service.catalogue.quantity import Quantity
from service.engine.collectives import COLLECTIVES
from service.engine.loads import load
from service.engine.mesh import Axis, Mesh
from service.engine.pace import Load, Pace, expected

from .hierarchy import Found, Hierarchy, Parameters, Part, Prior
from .rows import Real, Rows

FOLDS: Final = 5
ROUNDS: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
"""Kinds whose rounds grow with the group; a send has one."""

FAMILIES: Final = {
    "nvidia-a100-sxm-80gb": "ampere-nvlink",
    "nvidia-h100-sxm": "hopper-nvlink",
    "nvidia-b200": "blackwell-nvlink",
    "nvidia-b300": "blackwell-nvlink",
    "nvidia-gb200": "blackwell-nvlink",
    "nvidia-gb300": "blackwell-nvlink",
}
"""The chips that were measured, and the calibration of the architecture of each."""

STREAM: Final = {
    "start": Prior(6e-6, 0.7),
    "low_share": Prior(0.25, 0.5),
    "bulk_start": Prior(1e-5, 0.7),
    "bulk_share": Prior(0.7, 0.3),
    "bulk_ramp": Prior(5e-6, 1.5),
}
IN_ROUNDS: Final = {
    **STREAM,
    "step": Prior(1.2e-6, 0.7),
    "exponent": Prior(0.9, 0.3),
    "spread": Prior(0.15, 0.7),
    "spread_bytes": Prior(4e3, 0.7),
    "own": Prior(0.5, 0.7),
}


@dataclass(frozen=True)
class Judged:
    """A prediction beside the measured time, row by row."""

    rows: Rows
    time: Real
    regime: NDArray[np.int8]

    @property
    def ratio(self) -> Real:
        """Measured over predicted."""
        return self.rows.measured_s / self.time

    @property
    def error(self) -> Real:
        """As a share of the measured time."""
        return np.abs(self.time / self.rows.measured_s - 1.0)

    def where(self, wanted: NDArray[np.bool_]) -> Judged:
        return Judged(self.rows.where(wanted), self.time[wanted], self.regime[wanted])


@dataclass(frozen=True)
class Fit:
    """The fit of one kind: its parameters, and what it says of each row, seen and not seen."""

    kind: str
    found: Found
    seen: Judged
    apart: Judged
    """shapes left out"""
    unseen: Mapping[str, Judged]
    """by chip, the whole chip left out, where its architecture has another"""

    def of(self, chip: str) -> tuple[Judged, Judged]:
        """The rows of one chip, seen and kept apart."""
        mine = self.seen.rows.chip == chip
        return self.seen.where(mine), self.apart.where(mine)


@dataclass(frozen=True)
class Fitting:
    """Collectives on the links that a catalogue has of its chips."""

    catalogue: Catalogue

    def judge(self, rows: Rows, parameters: Callable[[str], Parameters]) -> Judged:
        """`rows`, of one kind, beside the times that the parameters of their chips give."""
        time, regime = np.empty(rows.size), np.empty(rows.size, np.int8)
        for chip in np.unique(rows.chip):
            mine = rows.chip == chip
            time[mine], regime[mine] = expected(Pace(**parameters(chip)), self.load(rows.where(mine)))
        return Judged(rows, time, regime)

    def load(self, rows: Rows) -> Load:
        """What rows of one kind on one chip put on its links."""
        parts = np.zeros((5, rows.size))
        for ranks, nodes in sorted(set(zip(rows.ranks, rows.nodes, strict=True))):
            mine = (rows.ranks == ranks) & (rows.nodes == nodes)
            found = self._load(rows.where(mine), int(ranks), int(nodes))
            parts[:, mine] = np.broadcast_arrays(*found, np.empty(mine.sum()))[:5]
        return Load(*parts)

    def _load(self, rows: Rows, ranks: int, nodes: int) -> Load:
        chip = self.catalogue.chip(rows.chip[0])
        axes = (Axis("gpu", ranks // nodes, "switch", _inside(chip)), Axis("node", nodes, "switch", _outside(chip)))
        scale = ranks if rows.kind[0] == "all_to_all" else 1  # the rows have the buffer of one rank, the engine counts all of them
        used = tuple(axis.name for axis in axes if axis.size > 1)
        found = load(COLLECTIVES[rows.kind[0]](bytes=rows.bytes * scale, axes=used), Mesh(axes), outer=("node",))
        assert found is not None
        return found

    def fit(self, rows: Rows) -> Fit:
        """One kind on all of its rows."""
        kind = str(rows.kind[0])
        hierarchy = Hierarchy[Load](
            lambda parameters, told: expected(Pace(**parameters), told)[0], IN_ROUNDS if kind in ROUNDS else STREAM, FAMILIES
        )
        found = hierarchy.fit(self._parts(rows))
        seen = self.judge(rows, lambda chip: found.chips[chip])
        return Fit(kind, found, seen, self._apart(rows, hierarchy), dict(self._unseen(rows, hierarchy)))

    def _parts(self, rows: Rows) -> dict[str, Part[Load]]:
        chips = [chip for chip in FAMILIES if chip in rows.chip]
        mine = {chip: rows.where(rows.chip == chip) for chip in chips}
        return {chip: Part(self.load(each), each.measured_s) for chip, each in mine.items()}

    def _apart(self, rows: Rows, hierarchy: Hierarchy[Load]) -> Judged:
        folds = rows.folds(FOLDS)
        time, regime = np.empty(rows.size), np.empty(rows.size, np.int8)
        for fold in range(FOLDS):
            out = folds == fold
            chips = hierarchy.fit(self._parts(rows.where(~out)), starts=1).chips
            judged = self.judge(rows.where(out), chips.__getitem__)
            time[out], regime[out] = judged.time, judged.regime
        return Judged(rows, time, regime)

    def _unseen(self, rows: Rows, hierarchy: Hierarchy[Load]) -> Iterator[tuple[str, Judged]]:
        parts = self._parts(rows)
        families = [FAMILIES[chip] for chip in parts]
        for chip in parts:
            if families.count(FAMILIES[chip]) > 1:
                others = hierarchy.fit({other: part for other, part in parts.items() if other != chip}, starts=1)
                nearest = others.architectures[FAMILIES[chip]]
                yield chip, self.judge(rows.where(rows.chip == chip), lambda _, nearest=nearest: nearest)  # type: ignore[misc]


def _inside(chip: Chip) -> float:
    """What one chip sends into its domain [B/s]."""
    return _rate(None if chip.file.scale_up is None else chip.file.scale_up.bandwidth_per_chip_per_direction)


def _outside(chip: Chip) -> float:
    """What one chip sends out of it [B/s]."""
    return _rate(None if chip.file.scale_out is None else chip.file.scale_out.bandwidth_per_chip_per_direction)


def _rate(stated: Quantity | None) -> float:
    assert stated is not None
    return float(stated.si)
