"""Calibrations of kernels: of each chip that was measured, of families of architectures, and of whatever has none.

What a fit says of rows that it has not seen is tried: four fits leave out a quarter of a chip's rows each, and a family and the
generic fit are judged by fits that leave out a whole chip. That makes their band, for they are asked about chips that nobody timed;
the band of a chip is made of the rows that its fit has seen as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.catalogue import load
from service.catalogue.kernels import ANY

from . import measured, models
from .bounded import KEPT, Model, Part, Real

LEAST_ROWS, FEW_ROWS = 20, 5
"""A chip with fewer rows of a program takes the parameters of its family, to which it adds unless it has fewer still."""
FOLDS = 4
FAMILY_ROWS, GENERIC_ROWS, OTHERS_ROWS = 80, 40, 20
"""Rows of a chip that a fit of a family, of any chip and of any format takes at most."""
SPECIAL = re.compile("-(blocks|narrow|wide|widest)$")
"""What the name of a program has beyond the number formats."""
BIN_ROWS = 50
MOST_BINS = 5
OUTSIDE = 0.11
"""Share of the rows below a band, and above it. Of those that a chip's fit has seen a little more than four fifths lie inside, of those
that it has not a little less."""

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "ampere": ("nvidia-a100-sxm-80gb",),
    "hopper": ("nvidia-h100-sxm",),
    "blackwell": ("nvidia-b200", "nvidia-b300", "nvidia-gb200", "nvidia-gb300"),
    "workstation-ampere": ("nvidia-a40",),
    "workstation-blackwell": ("nvidia-rtx-pro-6000-blackwell",),
}
"""Chips whose kernels are the same programs: of one die or its successor. What a family shares is where each of its chips starts."""
APART = ("intel-arc-pro-b60",)
"""Chips of another maker, timed with other libraries, that would not help any chip."""


@dataclass(frozen=True)
class Band:
    """Multiples of the estimate between which four fifths of the measured times lie, by the size of the estimate [s]."""

    edges_s: Sequence[float]
    p10: Sequence[float]
    p90: Sequence[float]


@dataclass(frozen=True)
class Fitted:
    """Parameters with how well they meet rows that the fit has not seen."""

    kernel: str
    name: str
    model: Model
    chips: tuple[str, ...]
    rows: int
    parameters: Mapping[str, float]
    band: Band
    median: float
    p90: float
    seen_median: float
    seen_p90: float


@dataclass(frozen=True)
class Kernel:
    """One kernel: the models that may describe it, and where its rows come from."""

    name: str
    models: tuple[Model, ...]
    read: Mapping[str, Sequence[Part]]

    def fitted(self) -> Iterator[Fitted]:
        """Of each chip, each family of several, and any chip; a chip of a family starts from what the family shares."""
        for regime, parts in self.read.items():
            some = [part for part in parts if part.size >= FEW_ROWS]
            shared: dict[str, Fitted] = {}
            for family in FAMILIES.values():
                mine = [part for part in some if part.chip in family]
                if len(mine) > 1:
                    found = self._best(regime, mine, FAMILY_ROWS)
                    shared.update(dict.fromkeys(family, found))
                    yield found
            yield from (self._of_chip(regime, part, shared.get(part.chip)) for part in some if part.size >= LEAST_ROWS)
            common = [part for part in some if part.chip not in APART]
            if len({family for family, chips in FAMILIES.items() for part in common if part.chip in chips}) > 1:
                yield self._best(regime, common, GENERIC_ROWS)

    def _best(self, regime: str, parts: Sequence[Part], most: int) -> Fitted:
        """The model that carries furthest, fitted on all chips and judged with each left out."""
        thin = [part.thinned(most) for part in parts]
        tries = [(model, model.fit(thin, starts=2, rounds=40)) for model in self.models]
        place = self.name, regime
        return min((_judged(place, model, parts, found, _left_out(model, thin, parts, found)) for model, found in tries), key=_worth)

    def _of_chip(self, regime: str, part: Part, family: Fitted | None) -> Fitted:
        tries: list[tuple[Model, Mapping[str, float], Mapping[str, float] | None]]
        if family is None:
            tries = [(model, model.fit([part], starts=6), None) for model in self.models]
        else:
            tries = [(family.model, family.model.fit([part], first=family.parameters, starts=1, held=KEPT), family.parameters)]
        place = self.name, regime
        return min((_judged(place, model, [part], found, _folds(model, part, first)) for model, found, first in tries), key=_worth)


@dataclass(frozen=True)
class Others:
    """The program of number formats of which nothing was measured: one fit of all that were, judged with each of them left out."""

    name: str
    model: Model
    read: Mapping[str, Sequence[Part]]

    def fitted(self) -> Iterator[Fitted]:
        formats: dict[str, list[Part]] = {}
        for program, parts in self.read.items():
            taken = [part.thinned(OTHERS_ROWS) for part in parts if part.size >= FEW_ROWS and part.chip not in APART]
            formats.setdefault(SPECIAL.sub("", program), []).extend(taken)
        every = [part for parts in formats.values() for part in parts]
        found = self.model.fit(every, starts=2, rounds=40)
        apart = (ratios for each in formats.values() for ratios in self._without(formats, each, found))
        yield _judged((self.name, ANY), self.model, every, found, apart)

    def _without(self, formats: Mapping[str, Sequence[Part]], out: Sequence[Part], found: Mapping[str, float]) -> Iterator[Real]:
        others = self.model.fit([part for parts in formats.values() if parts is not out for part in parts], found, starts=1, rounds=20)
        yield from (self.model.ratio(others, part) for part in out)


def _judged(place: tuple[str, str], model: Model, parts: Sequence[Part], found: Mapping[str, float], apart: Iterator[Real]) -> Fitted:
    """`found` of a kernel and program, with how it meets `parts` and, in `apart`, what it has not seen."""
    seen = np.concatenate([model.ratio(found, part) for part in parts])
    unseen = np.concatenate([*apart])
    times = np.concatenate([part.measured_s for part in parts])
    banded = [unseen] if len(parts) > 1 else [seen, unseen]
    errors = (np.quantile(np.abs(1.0 / ratios - 1.0), at) for ratios in (unseen, seen) for at in (0.5, 0.9))
    return Fitted(
        *place, model, tuple(dict.fromkeys(part.chip for part in parts)), seen.size, found,
        _band(np.concatenate([times / each for each in banded]), np.concatenate(banded)), *map(float, errors),
    )  # fmt: skip


def _worth(fitted: Fitted) -> float:
    """By what the better model of two is told: its errors on what it has not seen."""
    return fitted.median + fitted.p90 / 3.0


def _folds(model: Model, part: Part, first: Mapping[str, float] | None) -> Iterator[Real]:
    """Measured over expected of rows that a fit has not seen."""
    fold = np.random.default_rng(1).integers(0, FOLDS, part.size)
    ratios = np.empty(part.size)
    for each in range(FOLDS):
        others = part.where(fold != each)
        found = model.fit([others], starts=2) if first is None else model.fit([others], first=first, starts=1, held=KEPT)
        ratios[fold == each] = model.ratio(found, part.where(fold == each))
    yield ratios


def _left_out(model: Model, thin: Sequence[Part], parts: Sequence[Part], found: Mapping[str, float]) -> Iterator[Real]:
    """Measured over expected of chips that a fit has not seen, which starts where the fit of all chips ended."""
    for out, part in enumerate(parts):
        others = model.fit([*thin[:out], *thin[out + 1 :]], first=found, starts=1, rounds=20)
        yield model.ratio(others, part)


def _band(sizes: Real, ratios: Real) -> Band:
    """What lies between `OUTSIDE` at either end, in bins of equal numbers of rows by the size of the estimate."""
    bins = int(np.clip(sizes.size / BIN_ROWS, 1, MOST_BINS))
    edges = np.quantile(sizes, np.arange(1, bins) / bins)
    of = np.searchsorted(edges, sizes)
    low, high = ([float(np.quantile(ratios[of == each], at)) for each in range(bins)] for at in (OUTSIDE, 1.0 - OUTSIDE))
    return Band(edges.tolist(), [min(each, 1.0) for each in low], [max(each, 1.0) for each in high])


def kernels() -> Iterator[Kernel | Others]:
    """All that were measured."""
    chips = measured.Chips(load())
    found = measured.by_kernel(measured.products(chips))
    wide = {name: parts for name, parts in found.items() if name == "bits-16"}
    yield Kernel("products", (models.PRODUCT,), wide)
    yield Kernel("products", (models.QUANTIZED_PRODUCT,), {name: parts for name, parts in found.items() if name not in wide})
    yield Others("products", models.QUANTIZED_PRODUCT, found)
    passes = measured.by_kernel(measured.passes(chips))
    by_rows = {name: parts for name, parts in passes.items() if name == "rows"}
    yield Kernel("passes", (models.REDUCTION,), by_rows)
    yield Kernel("passes", (models.POINTWISE,), {name: parts for name, parts in passes.items() if name not in by_rows})
    flash, split = (models.PREFILL, models.PACKED), (models.DECODE, models.GROUPED_DECODE)
    for name, tried, rows in (
        ("prefill", flash, measured.attention(chips, decode=False)),
        ("decode", split, measured.attention(chips, decode=True)),
        ("latent_prefill", flash[:1], measured.latent(chips, decode=False)),
        ("latent_decode", split[:1], measured.latent(chips, decode=True)),
        ("grouped_products", (models.GROUPED,), measured.experts(chips)),
    ):
        read = measured.by_kernel(rows)
        yield Kernel(name, tried, read)
        yield Others(name, tried[0], read)
