"""Least distances of logarithms, with parameters between bounds that physics sets.

The loss is linear for rows further than `WIDTH` away, for the fastest kernel of some shapes was never measured. Parameters move on a
logarithmic scale between their bounds. The objective has several basins, so that a fit starts from several points, those that physics
knows and others drawn from fixed seeds around the first, and keeps the lowest end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from service.engine.kernels.tiling import Product

Real = NDArray[np.float64]
WIDTH = 0.05
"""Distance of a row, as a logarithm, from which on the loss is linear."""
HELD = 0.05
"""Pull towards the first start, so that a parameter that no row determines stays there."""
KEPT = 2.0
"""The same for a chip that starts from the parameters of its family: so strong that rows left out are met better than with less."""
SPREAD = 0.13
"""How far starts lie apart, in shares of the range of a parameter."""


class Range(NamedTuple):
    """Where a parameter may lie, and where the search begins."""

    low: float
    high: float
    start: float


@dataclass(frozen=True)
class Part:
    """Rows of one chip: what the model is told of them, and what was measured [s]."""

    chip: str
    told: Any
    measured_s: Real
    beside: Part | None = None
    """rows of the chip that may run alike: they help a fit and do not judge it"""

    @property
    def size(self) -> int:
        return self.measured_s.size

    @property
    def rows(self) -> int:
        return sum(part.size for part in self.fitted)

    @property
    def alone(self) -> Part:
        return replace(self, beside=None)

    @property
    def fitted(self) -> tuple[Part, ...]:
        """All rows that a fit is made on."""
        return (self,) if self.beside is None else (self, self.beside)

    def thinned(self, most: int) -> Part:
        """At most so many rows, evenly taken."""
        step = -(-self.size // most)
        thin = self.where(np.arange(self.size) % step == 0)
        return thin if self.beside is None else replace(thin, beside=self.beside.thinned(most))

    def where(self, wanted: NDArray[np.bool_]) -> Part:
        return Part(self.chip, _where(self.told, wanted, self.size), self.measured_s[wanted], self.beside)


def _where(told: Any, wanted: NDArray[np.bool_], rows: int) -> Any:
    if isinstance(told, np.ndarray):
        return told[wanted] if told.size == rows and rows > 1 else told
    if isinstance(told, tuple):
        return type(told)(*(_where(each, wanted, rows) for each in told))
    if isinstance(told, Product):
        return Product(**{each.name: _where(getattr(told, each.name), wanted, rows) for each in fields(told)})
    return told


@dataclass(frozen=True)
class Model:
    """Times of rows from parameters; `fixed` are those that are not fitted, `basin` what differs where another end may lie."""

    time: Callable[[Mapping[str, float], Any], Real]
    ranges: Mapping[str, Range]
    fixed: Mapping[str, float]
    basin: Mapping[str, float] = field(default_factory=dict)

    def ratio(self, found: Mapping[str, float], part: Part) -> Real:
        """Measured over expected."""
        return part.measured_s / self.time(found, part.told)

    def fit(
        self, parts: Sequence[Part], first: Mapping[str, float] | None = None, starts: int = 3, rounds: int = 60, held: float = HELD
    ) -> dict[str, float]:
        """The parameters, shared by all parts, that meet their rows best; `held` pulls them towards `first`."""
        origin = self._point(first or {name: each.start for name, each in self.ranges.items()})
        rows = [each for part in parts for each in part.fitted]

        def distances(point: Real) -> Real:
            found = self._named(point)
            return np.concatenate([*(np.log(self.ratio(found, part)) for part in rows), held * (point - origin)])

        tries = [
            least_squares(distances, start, bounds=(0.0, 1.0), loss="soft_l1", f_scale=WIDTH, diff_step=1e-3, max_nfev=rounds)
            for start in self._starts(origin, starts)
        ]
        return self._named(min(tries, key=lambda each: float(each.cost)).x)

    def _starts(self, origin: Real, count: int) -> list[Real]:
        other = self._point({**self._named(origin), **self.basin})
        drawn = (np.random.default_rng(seed).normal(0.0, SPREAD, origin.size) for seed in range(2, count))
        return [np.clip(each, 0.001, 0.999) for each in (origin, other, *(origin + each for each in drawn))[:count]]

    def _point(self, found: Mapping[str, float]) -> Real:
        return np.array([np.log(found[name] / each.low) / np.log(each.high / each.low) for name, each in self.ranges.items()])

    def _named(self, point: Real) -> dict[str, float]:
        free = {
            name: float(each.low * (each.high / each.low) ** share) for (name, each), share in zip(self.ranges.items(), point, strict=True)
        }
        return {**free, **self.fixed}
