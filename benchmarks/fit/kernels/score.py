"""Errors of the calibrations that the catalogue has, by kernel and chip, as the service would answer.

    .venv/bin/python -m benchmarks.fit.kernels.score

Beside median and 90th percentile of |estimate / measured − 1| stand the roofline's, the share of rows inside the band, and the median
width of the band over the median error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from service.catalogue import Calibrations, Catalogue, load
from service.catalogue.kernel_fit import KernelName
from service.catalogue.kernels import WIDTHS, Kernel, attention_programs, kernel, product_programs
from service.engine.kernels import attention, gemm
from service.engine.kernels.losses import Ladder
from service.engine.kernels.search import Problem, fastest
from service.engine.kernels.spread import spread

from . import measured
from .bounded import Part, Real
from .models import LOOP

KERNELS: tuple[KernelName, KernelName] = ("prefill", "decode")


@dataclass(frozen=True)
class Scored:
    """Rows of one chip beside the answers."""

    basis: str
    measured_s: Real
    found: Ladder
    p10: Real
    p90: Real

    def line(self, kernel_name: str, chip: str) -> str:
        error = np.abs(self.found.estimate / self.measured_s - 1.0)
        naive = np.abs(self.found.roofline / self.measured_s - 1.0)
        inside = np.mean((self.p10 <= self.measured_s) & (self.measured_s <= self.p90))
        width = np.median((self.p90 - self.p10) / self.found.estimate) / np.median(error)
        pairs = (f"{100 * np.median(each):.1f} / {100 * np.quantile(each, 0.9):.1f}" for each in (naive, error))
        return f"| {kernel_name} | {chip} | {self.basis} | {error.size} | {' | '.join(pairs)} | {inside:.0%} | {width:.1f} |"


@dataclass(frozen=True)
class Scoring:
    """The service's way from a question to parameters, for measured rows."""

    catalogue: Catalogue

    def calibrations(self, chip: str) -> Calibrations:
        return self.catalogue.calibrations_of(self.catalogue.chip(chip))

    def kernel(self, chip: str, name: KernelName, programs: Sequence[str]) -> Kernel:
        found = kernel(self.calibrations(chip), name, programs)
        assert found is not None, (chip, name, programs)
        return found

    def product(self, program: str, part: Part) -> Scored:
        _, bits, *blocks = program.split("-")
        found = self.kernel(part.chip, "products", product_programs(int(bits), in_blocks=bool(blocks)))
        problem = Problem(part.told.product, part.told.silicon, found.parameters)
        return _scored(part, gemm.ladder(problem.product, fastest(problem, LOOP), problem.silicon, found.parameters, LOOP), found)

    def attention(self, program: str, part: Part, *, decode: bool) -> Scored:
        q, kv, width = program.split("-")
        widest = {name: most for most, name in WIDTHS}[width]
        programs = attention_programs(int(q[1:]), int(kv[2:]), widest)
        many, few = (self.kernel(part.chip, name, programs) for name in KERNELS)
        ladder = attention.ladder(part.told.ask, part.told.silicon, many.parameters, few.parameters, LOOP)
        return _scored(part, ladder, few if decode else many)


def _scored(part: Part, ladder: Ladder, found: Kernel) -> Scored:
    band = spread(ladder.estimate, np.zeros(1), found.band)
    return Scored(found.basis, part.measured_s, ladder, band.p10, band.p90)


def main() -> None:
    catalogue = load()
    scoring, chips = Scoring(catalogue), measured.Chips(catalogue)
    print("| kernel | chip | basis | rows | roofline | estimate | in band | width |\n|---|---|---|---|---|---|---|---|")
    for name, program, part in _parts(chips):
        scored = scoring.product(program, part) if name == "product" else scoring.attention(program, part, decode=name == "decode")
        print(scored.line(f"{name} {program}", part.chip))


def _parts(chips: measured.Chips) -> Iterator[tuple[str, str, Part]]:
    yield from (("product", program, part) for program, part in measured.products(chips))
    for decode in (True, False):
        yield from (("decode" if decode else "prefill", program, part) for program, part in measured.attention(chips, decode=decode))


if __name__ == "__main__":
    main()
