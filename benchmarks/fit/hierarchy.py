"""A fit in which chips of one architecture share what they can.

Every parameter θ is positive and is fitted by its logarithm: θ = centre·exp(σ·(a + κ·c)) with a of the architecture and c of the
chip, both held near 0 by a penalty, so that a parameter that no row determines stays at its centre and a chip stays near its
architecture unless its rows pull it away. An architecture of one chip has no c. Distances are those of logarithms, with a loss that
is linear for outliers, for measurements have glitches. The start that ends lowest is taken; starts are drawn from fixed seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from scipy.optimize import least_squares

from .rows import Real

WIDTH = 0.08
"""Distance of a row, as a logarithm, from which on the loss is linear."""
HELD = 0.5
"""How hard the penalty pulls, against a row that is `WIDTH` away."""
KAPPA = 0.25
"""How far a chip may lie from its architecture, against an architecture from the centre."""

Parameters = Mapping[str, float]
T = TypeVar("T")


class Part(NamedTuple, Generic[T]):
    """The rows of one chip: what the model is told, and what was measured."""

    told: T
    measured_s: Real


@dataclass(frozen=True)
class Prior:
    """Where a parameter is looked for: about `centre`, within a factor exp(±2·sigma)."""

    centre: float
    sigma: float


@dataclass(frozen=True)
class Found:
    """The parameters of each chip that had rows, and of each architecture."""

    chips: Mapping[str, Parameters]
    architectures: Mapping[str, Parameters]


@dataclass(frozen=True)
class Hierarchy(Generic[T]):
    """What is to be fitted: a model, where its parameters may lie, and which architecture each chip is of."""

    model: Callable[[Parameters, T], Real]
    """times of the rows of one chip [s]"""
    priors: Mapping[str, Prior]
    families: Mapping[str, str]
    """architecture by chip"""

    def fit(self, parts: Mapping[str, Part[T]], starts: int = 3) -> Found:
        """The parameters that meet the rows of each chip best."""
        layout = _Layout(self.priors, self.families, list(parts))

        def distances(point: Real) -> Real:
            found = layout.unfold(point).chips
            apart = [np.log(self.model(found[chip], part.told) / part.measured_s) for chip, part in parts.items()]
            return np.concatenate([*apart, HELD * WIDTH * point])

        tries = [least_squares(distances, start, loss="soft_l1", f_scale=WIDTH, max_nfev=200) for start in layout.starts(starts)]
        return layout.unfold(min(tries, key=lambda each: float(each.cost)).x)


@dataclass(frozen=True)
class _Layout:
    """How the parameters lie in one vector: a block for each architecture, then one for each chip that has siblings."""

    priors: Mapping[str, Prior]
    families: Mapping[str, str]
    chips: Sequence[str]

    @property
    def architectures(self) -> list[str]:
        return sorted({self.families[chip] for chip in self.chips})

    @property
    def siblings(self) -> list[str]:
        families = [self.families[chip] for chip in self.chips]
        return [chip for chip in self.chips if families.count(self.families[chip]) > 1]

    def starts(self, count: int) -> list[Real]:
        """The centre, and points drawn about it."""
        size = (len(self.architectures) + len(self.siblings)) * len(self.priors)
        return [np.random.default_rng(seed).normal(0.0, 0.5 if seed else 0.0, size) for seed in range(count)]

    def unfold(self, point: Real) -> Found:
        blocks = point.reshape(-1, len(self.priors))
        common = dict(zip(self.architectures, blocks, strict=False))
        own = dict(zip(self.siblings, blocks[len(common) :], strict=True))
        chips = {chip: common[self.families[chip]] + KAPPA * own.get(chip, 0.0) for chip in self.chips}
        return Found({chip: self._named(each) for chip, each in chips.items()}, {name: self._named(each) for name, each in common.items()})

    def _named(self, block: Real) -> Parameters:
        return {
            name: prior.centre * float(np.exp(prior.sigma * value)) for (name, prior), value in zip(self.priors.items(), block, strict=True)
        }
