"""The fit of calibrations: it finds what made the rows, keeps shapes apart, and writes what the catalogue reads."""

from __future__ import annotations

import datetime as dt
import tomllib
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fit import published
from benchmarks.fit.__main__ import chips
from benchmarks.fit.collectives import FAMILIES, Fitting
from benchmarks.fit.rows import Rows, collectives
from service.catalogue import Catalogue, load
from service.catalogue.calibration_file import CalibrationFile
from service.catalogue.loader import read, validate
from service.engine.pace import Pace, expected

H100, A100 = "nvidia-h100-sxm", "nvidia-a100-sxm-80gb"
MADE = {
    H100: {"start": 7e-6, "low_share": 0.3, "bulk_start": 4e-6, "bulk_share": 0.8, "bulk_ramp": 2e-6},
    A100: {"start": 9e-6, "low_share": 0.2, "bulk_start": 8e-6, "bulk_share": 0.7, "bulk_ramp": 4e-6},
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


def sends(fitting: Fitting) -> Rows:
    """Sends of two chips as `MADE` says, a hundredth off, one of them a glitch."""
    count = 60
    sizes = np.tile(np.geomspace(1e3, 1e9, count // 2).round(), 2)
    chip = np.repeat([H100, A100], count // 2)
    ranks, nodes = np.full(count, 2.0), np.ones(count)
    rows = Rows(chip, np.full(count, "send"), ranks, nodes, sizes, np.ones(count), np.full(count, "made"))
    times = np.concatenate([expected(Pace(**MADE[each]), fitting.load(rows.where(rows.chip == each)))[0] for each in (H100, A100)])
    noise = np.exp(np.random.default_rng(0).normal(0.0, 0.01, count))
    noise[7] = 3.0
    return Rows(chip, rows.kind, ranks, nodes, sizes, times * noise, rows.source)


def test_a_fit_finds_what_made_the_rows_despite_a_glitch(catalogue: Catalogue) -> None:
    fitting = Fitting(catalogue)
    fit = fitting.fit(sends(fitting))
    for chip, made in MADE.items():
        seen, apart = fit.of(chip)
        assert np.median(seen.error) < 0.012
        assert np.median(apart.error) < 0.015
        assert fit.found.chips[chip] == pytest.approx(made, rel=0.3)
        assert fit.found.chips[chip]["start"] == pytest.approx(made["start"], rel=0.01)
        assert fit.found.chips[chip]["bulk_share"] == pytest.approx(made["bulk_share"], rel=0.01)


def test_a_fit_is_the_same_again(catalogue: Catalogue) -> None:
    fitting = Fitting(catalogue)
    rows = sends(fitting)
    assert fitting.fit(rows).found == fitting.fit(rows).found


def test_what_is_written_is_what_the_catalogue_reads(catalogue: Catalogue, tmp_path: Path) -> None:
    """And the next revision keeps the one before."""
    fitting = Fitting(catalogue)
    fit = fitting.fit(sends(fitting))
    found = next(each for each in chips({"send": fit}, fitting) if each.id == H100)
    found.write(tmp_path, revision=1, date=dt.date(2026, 1, 31), reason="first fit")
    found.write(tmp_path, revision=2, date=dt.date(2026, 2, 28), reason="again")
    written = {f"calibrations/{file.name}": tables_of(file) for file in tmp_path.iterdir()}
    tables = {**read(files("service.catalogue")), **written}
    entries = validate(tables).entries
    newest = entries[f"calibrations/{H100}.toml"]
    assert isinstance(newest, CalibrationFile)
    assert newest.revision == 2
    assert newest.collectives is not None
    stated = newest.collectives.kinds["send"]
    assert stated.parameters.si == pytest.approx(dict(fit.found.chips[H100]), rel=1e-3)
    assert stated.ranks is None
    assert entries[f"calibrations/{H100}@1.toml"].reason == "first fit"


def tables_of(file: Path) -> dict[str, object]:
    return tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)


def test_no_shape_of_a_chip_lies_in_two_folds() -> None:
    rows = collectives()
    folds = rows.folds(5)
    seen: dict[tuple[str, str, float, float], int] = {}
    for *shape, fold in zip(rows.chip, rows.kind, rows.ranks, rows.bytes, folds, strict=True):
        assert seen.setdefault(tuple(shape), fold) == fold
    assert set(folds) == set(range(5))
    assert set(FAMILIES) == set(rows.chip)


def test_published_constants_are_those_of_the_shipped_calibration(catalogue: Catalogue) -> None:
    generic = next(each for each in catalogue.calibrations if each.id == "generic").collective("any")
    assert generic is not None
    made = published.pace(catalogue)
    assert {name: getattr(generic.pace, name) for name in made} == pytest.approx(made, rel=1e-3)
