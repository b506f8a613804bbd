"""Calibrations of kernels: of each chip that was measured, of families of architectures, and of whatever has none.

What a fit says of rows that it has not seen is tried: four fits leave out a quarter of a chip's rows each, and a family and the
generic fit are judged by fits that leave out a whole chip, for they are asked about chips that nobody timed.
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

LEAST_ROWS, ALONE_ROWS, FEW_ROWS = 6, 12, 3
"""A chip with fewer rows of a program takes the parameters of its family, to which it adds unless it has fewer still; one without a
family needs more, of which those of heads that may run alike count."""
FOLDS = 4
FAMILY_ROWS, GENERIC_ROWS, OTHERS_ROWS = 80, 40, 20
"""Rows of a chip that a fit of a family, of any chip and of any format takes at most."""
SPECIAL = re.compile("-(blocks|slim|narrow|medium|wide|widest)$")
"""What the name of a program has beyond the number formats."""
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
class Fitted:
    """Parameters with how well they meet rows that the fit has not seen."""

    kernel: str
    name: str
    model: Model
    chips: tuple[str, ...]
    rows: int
    parameters: Mapping[str, float]
    unseen: Real
    """measured over expected times of rows, by fits that have not seen them"""
    expected_s: Real
    median: float
    p90: float
    seen_median: float
    seen_p90: float

    @property
    def place(self) -> tuple[str, str, tuple[str, ...]]:
        """Which fit it is."""
        return self.kernel, self.name, self.chips


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
            for part in some:
                if part.size >= LEAST_ROWS and (tries := [*self._tries(part, shared.get(part.chip))]):
                    yield self._of_chip(regime, part, tries)
            common = [part for part in some if part.chip not in APART]
            if len({family for family, chips in FAMILIES.items() for part in common if part.chip in chips}) > 1:
                yield self._best(regime, common, GENERIC_ROWS)

    def _best(self, regime: str, parts: Sequence[Part], most: int) -> Fitted:
        """The model that carries furthest, fitted on all chips and judged with each left out, with and without what may run alike."""
        place, tries = (self.name, regime), []
        for some in _readings(parts):
            thin = [part.thinned(most) for part in some]
            for model in self.models:
                found = model.fit(thin, starts=2, rounds=40)
                tries.append(_judged(place, model, some, found, _left_out(model, thin, some, found)))
        return min(tries, key=_worth)

    def _tries(self, part: Part, family: Fitted | None) -> Iterator[Try]:
        """What may describe a chip: the model of its family from where that ended, or every model, if there are rows enough."""
        for (reading,) in _readings([part]):
            if family is not None:
                yield Try(reading, family.model, family.parameters)
            elif reading.rows >= ALONE_ROWS:
                yield from (Try(reading, model, None) for model in self.models)

    def _of_chip(self, regime: str, part: Part, tries: Sequence[Try]) -> Fitted:
        place = self.name, regime
        return min((_judged(place, each.model, [each.part], each.fit(), _folds(each)) for each in tries), key=_worth)


@dataclass(frozen=True)
class Try:
    """A way to describe a chip: on which rows, by which model, starting from what its family shares where it has one."""

    part: Part
    model: Model
    first: Mapping[str, float] | None

    def fit(self, part: Part | None = None) -> dict[str, float]:
        """The parameters that meet all rows, or those of `part` where they are tried."""
        if self.first is None:
            return self.model.fit([part or self.part], starts=6 if part is None else 2)
        return self.model.fit([part or self.part], first=self.first, starts=1, held=KEPT)


def _readings(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts by themselves, and with what may run alike where any has such rows."""
    alone = [part.alone for part in parts]
    return [alone] if all(part.beside is None for part in parts) else [alone, [*parts]]


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
    errors = (np.quantile(np.abs(1.0 / ratios - 1.0), at) for ratios in (unseen, seen) for at in (0.5, 0.9))
    return Fitted(
        *place, model, tuple(dict.fromkeys(part.chip for part in parts)), sum(part.rows for part in parts), found,
        unseen, times / unseen, *map(float, errors),
    )  # fmt: skip


def _worth(fitted: Fitted) -> float:
    """By what the better model of two is told: its errors on what it has not seen."""
    return fitted.median + fitted.p90 / 3.0


def _folds(tried: Try) -> Iterator[Real]:
    """Measured over expected of rows that a fit has not seen."""
    part = tried.part
    fold = np.random.default_rng(1).integers(0, FOLDS, part.size)
    ratios = np.empty(part.size)
    for each in np.unique(fold):
        found = tried.fit(part.where(fold != each))
        ratios[fold == each] = tried.model.ratio(found, part.where(fold == each))
    yield ratios


def _left_out(model: Model, thin: Sequence[Part], parts: Sequence[Part], found: Mapping[str, float]) -> Iterator[Real]:
    """Measured over expected of chips that a fit has not seen, which starts where the fit of all chips ended."""
    for out, part in enumerate(parts):
        others = model.fit([*thin[:out], *thin[out + 1 :]], first=found, starts=1, rounds=20)
        yield model.ratio(others, part)


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
    for name, tried, decode in (("prefill", flash, False), ("decode", split, True)):
        yield Kernel(name, tried, measured.beside(measured.by_kernel(measured.attention(chips, decode=decode))))
        yield Others(name, tried[0], measured.by_kernel(measured.attention(chips, decode=decode, lone=False)))
    for name, model, rows in (
        ("latent_prefill", flash[0], measured.latent(chips, decode=False)),
        ("latent_decode", split[0], measured.latent(chips, decode=True)),
        ("grouped_products", models.GROUPED, measured.experts(chips)),
    ):
        read = measured.by_kernel(rows)
        yield Kernel(name, (model,), read)
        yield Others(name, model, read)
