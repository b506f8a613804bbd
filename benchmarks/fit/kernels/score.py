"""Errors of the calibrations that the catalogue has, by kernel and chip, as the service would answer.

    .venv/bin/python -m benchmarks.fit.kernels.score

Beside median and 90th percentile of |estimate / measured − 1| stand the roofline's, the share of rows inside the band, and the median
width of the band over the median error.
"""

from __future__ import annotations

import re
from collections import defaultdict
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
WIDTH = re.compile("-(slim|narrow|medium|wide|widest)$")
"""What the name of a program has of the width of a head."""
FEW = 10
"""A line has more rows than this."""


@dataclass(frozen=True)
class Scored:
    """Rows of one chip beside the answers [s]."""

    basis: str
    measured: Real
    estimate: Real
    roofline: Real
    p10: Real
    p90: Real

    def line(self, kernel_name: str, chip: str) -> str:
        error, naive = (np.abs(each / self.measured - 1.0) for each in (self.estimate, self.roofline))
        inside = np.mean((self.p10 <= self.measured) & (self.measured <= self.p90))
        width = np.median((self.p90 - self.p10) / self.estimate) / np.median(error)
        pairs = (f"{100 * np.median(each):.1f} / {100 * np.quantile(each, 0.9):.1f}" for each in (naive, error))
        return f"| {kernel_name} | {chip} | {self.basis} | {error.size} | {' | '.join(pairs)} | {inside:.0%} | {width:.1f} |"


def together(every: Sequence[Scored]) -> Scored:
    """The rows of one chip that several programs run."""
    columns = (np.concatenate([getattr(each, name) for each in every]) for name in ("measured", "estimate", "roofline", "p10", "p90"))
    return Scored(", ".join(dict.fromkeys(each.basis for each in every)), *columns)


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
    band = spread(ladder.estimate, ladder.roofline, found.band)
    return Scored(found.basis, part.measured_s, ladder.estimate, ladder.roofline, band.p10, band.p90)


def main() -> None:
    catalogue = load()
    scoring, chips = Scoring(catalogue), measured.Chips(catalogue)
    lines: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for name, program, part in _parts(chips):
        scored = scoring.product(program, part) if name == "product" else scoring.attention(program, part, decode=name == "decode")
        lines[f"{name} {WIDTH.sub('', program)}", part.chip].append(scored)
    print("| kernel | chip | basis | rows | roofline | estimate | in band | width |\n|---|---|---|---|---|---|---|---|")
    for (name, chip), parts in lines.items():
        if (every := together(parts)).measured.size > FEW:
            print(every.line(name, chip))


def _parts(chips: measured.Chips) -> Iterator[tuple[str, str, Part]]:
    yield from (("product", program, part) for program, part in measured.products(chips))
    for decode in (True, False):
        yield from (("decode" if decode else "prefill", program, part) for program, part in measured.attention(chips, decode=decode))


if __name__ == "__main__":
    main()
