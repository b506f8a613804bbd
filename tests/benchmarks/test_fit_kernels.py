"""The calibrations of kernels are what the rows in the repository say: so many rows, errors as stated, bands that hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.fit.kernels import measured, models
from benchmarks.fit.kernels.bands import bands
from benchmarks.fit.kernels.bounded import Model, Part, Range, Real
from benchmarks.fit.kernels.calibrate import ALONE_ROWS, FEW_ROWS, Kernel, Others
from service.catalogue import Catalogue, load
from service.catalogue.kernel_fit import KernelFit, KernelName
from service.engine.kernels.spread import spread


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


MANY = 30
"""Rows of which the median does not jump between two groups by chance."""
CHANCE = 1e-3
"""With which fewer rows of one program may lie inside a band that holds three quarters."""
READERS: dict[KernelName, tuple[measured.Reader, Model]] = {
    "products": (measured.products, models.QUANTIZED_PRODUCT),
    "decode": (partial(measured.attention, decode=True), models.DECODE),
    "prefill": (partial(measured.attention, decode=False), models.PREFILL),
}


def stated(catalogue: Catalogue, kernel: KernelName, chip: str) -> dict[str, KernelFit]:
    """The programs of a kernel that the chip's own calibration has."""
    own = next((each.file.kernels for each in catalogue.calibrations if each.id == f"{chip}-kernels"), None)
    return {} if own is None else dict(own.fits.get(kernel, {}))


def parts(catalogue: Catalogue, kernel: KernelName) -> Iterator[tuple[str, Part]]:
    """The rows of every chip and program that has a calibration of its own; those without have few."""
    for name, found in measured.beside(measured.by_kernel(READERS[kernel][0](measured.Chips(catalogue)))).items():
        for part in found:
            if name in stated(catalogue, kernel, part.chip):
                yield name, part
            else:
                assert part.size < ALONE_ROWS, (name, part.chip)


def ratios(fit: KernelFit, model: Model, part: Part) -> Real:
    """Measured times over those of the stated parameters."""
    return model.ratio({**dict.fromkeys(model.ranges, 0.0), **model.fixed, **fit.values}, part)


@pytest.mark.parametrize("kernel", ["products", "decode", "prefill"])
def test_the_stated_parameters_meet_the_rows_as_well_as_is_stated(catalogue: Catalogue, kernel: KernelName) -> None:
    """Rows that a fit has seen are met better than those it has not, of which the stated errors are; and the band holds four of five."""
    inside = []
    for name, part in parts(catalogue, kernel):
        fit = stated(catalogue, kernel, part.chip)[name]
        assert fit.rows in {part.size, part.rows}, (name, part.chip)
        measured_over = ratios(fit, READERS[kernel][1], part)
        median, p90 = np.quantile(np.abs(1.0 / measured_over - 1.0), [0.5, 0.9])
        assert part.size < MANY or median <= 1.2 * float(fit.errors.median) + 0.01, (name, part.chip)
        assert median + p90 <= 1.2 * float(fit.errors.median + fit.errors.p90) + 0.02, (name, part.chip)
        estimate = part.measured_s / measured_over
        band = spread(estimate, np.zeros(1), fit.band.si)
        held = np.sum((band.p10 <= part.measured_s) & (part.measured_s <= band.p90))
        assert held >= binom.ppf(CHANCE, part.size, 0.75), (name, part.chip)
        inside.append((part.size, held))
    sizes, of_all = np.array(inside).T
    assert 0.75 < of_all.sum() / sizes.sum() < 0.85


def test_a_fit_from_its_first_start_ends_where_the_calibration_stands(catalogue: Catalogue) -> None:
    """A program of one chip again, from the same rows by the same steps: what is stated is no better and no worse."""
    name, part = next(each for each in parts(catalogue, "products") if each[1].chip == "nvidia-a40")
    fit = stated(catalogue, "products", part.chip)[name]
    again = models.PRODUCT.fit([part], starts=2)
    stated_now, refitted = (np.log(each) for each in (ratios(fit, models.PRODUCT, part), models.PRODUCT.ratio(again, part)))
    assert np.mean(np.abs(stated_now)) == pytest.approx(np.mean(np.abs(refitted)), rel=0.05)


def made(chip: str, rows: Sequence[int]) -> Part:
    """Rows of one chip that take what a known kernel takes."""
    part = next(part for _, part in measured.products(measured.Chips(load())) if part.chip == chip)
    some = part.where(np.isin(np.arange(part.size), rows))
    known = {**{name: each.start for name, each in models.GEMM.items()}, **models.PRODUCT.fixed}
    return Part(chip, some.told, models.PRODUCT.time(known, some.told))


def test_formats_that_nobody_measured_have_a_band_of_those_left_out() -> None:
    """A format whose kernels run at half the rate is only met half way, and the errors and the band of the fit say so."""
    usual, slow = made("nvidia-a40", range(40)), made("nvidia-a40", range(40, 80))
    slow = Part(slow.chip, slow.told, 2.0 * slow.measured_s)
    (found,) = Others("products", models.PRODUCT, {"bits-16": [usual], "bits-8": [slow]}).fitted()
    assert found.rows == min(40, 2 * 20)
    assert found.median > 0.2
    assert max(bands([found])[found.place].p90) > 1.3


RATE = Model(lambda found, told: found["second"] * told, {"second": Range(0.1, 10.0, 1.0)}, {})
"""So many seconds for each unit of work."""


def work(*, seed: int, rows: int, second: float) -> Part:
    """Rows of different work, to a fifth."""
    random = np.random.default_rng(seed)
    told = np.exp(random.uniform(0.0, 5.0, rows))
    return Part("nvidia-a40", told, told * second * np.exp(random.normal(0.0, 0.2, rows)))


@pytest.mark.parametrize(("second", "helps"), [(2.0, True), (6.0, False)])
def test_rows_that_may_run_alike_are_taken_only_where_they_help(second: float, helps: bool) -> None:  # noqa: FBT001
    """Rows of the same kernel beside a few make their fit know more; those of a kernel at a third of its rate are left out."""
    few, more = work(seed=7, rows=14, second=2.0), work(seed=20, rows=200, second=second)
    (found,) = Kernel("products", (RATE,), {"bits-16": [replace(few, beside=more)]}).fitted()
    assert found.rows == few.size + helps * more.size
    assert found.unseen.size == few.size
    assert found.parameters["second"] == pytest.approx(2.0, rel=0.2)


def test_a_band_is_wide_where_errors_are_large_and_its_tails_are_those_of_all_programs() -> None:
    """Large estimates of each program are off by ten times as much as small ones, and one program is off by three times the other."""
    random = np.random.default_rng(3)
    times = np.repeat([1e-5, 1e-3], 200) * np.exp(random.normal(0.0, 0.01, 400))
    off = np.exp(random.laplace(0.0, np.repeat([0.02, 0.2], 200)))
    (known,) = Kernel("products", (RATE,), {"bits-16": [work(seed=1, rows=14, second=2.0)]}).fitted()
    fits = [replace(known, name=name, unseen=off**grown, expected_s=times) for name, grown in (("a", 1), ("b", 3))]
    found = bands(fits)
    for fitted in fits:
        band = found[fitted.place]
        at = band.edges_s.searchsorted(fitted.expected_s)
        assert 0.75 < np.mean((band.p10[at] <= fitted.unseen) & (fitted.unseen <= band.p90[at])) < 0.85
        widths = np.log(band.p90[at])
        assert widths[200:].mean() > 4.0 * widths[:200].mean()


def test_a_chip_of_too_few_rows_has_no_fit_of_its_own() -> None:
    part = made("nvidia-a40", range(ALONE_ROWS - 1))
    assert part.size >= FEW_ROWS
    assert [*Kernel("products", (models.PRODUCT,), {"bits-16": [part]}).fitted()] == []
