"""Fit the calibrations of the catalogue on measured rows, print how well they do, and write them.

    .venv/bin/python -m benchmarks.fit [--rows benchmarks/measured/collectives.csv] [--write service/catalogue/calibrations]
                                       [--revision 1 --reason "first fit" --date 2026-11-29]

It takes about five minutes on one core. The same rows and the same SciPy give the same files. Numbers of a revision that was
published never change: raise the revision, say why, and add the new lines to `service/catalogue/digests.txt`.
"""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from service.catalogue import load

from . import published
from .collectives import FAMILIES, FOLDS, ROUNDS, Fit, Fitting, Judged
from .rows import MEASURED, Rows, collectives
from .writing import Calibration, Kind

SOURCES = {"send": "vidur-collectives"}
"""Where rows of a kind are from; all others are from `aiconfigurator-collectives`."""

REGIME = (
    "NCCL 2.23 to 2.29, one collective at a time on one switched domain. Device times: replays of a CUDA graph, without the launch by the "
    "host; send: medians of a profiler, to the microsecond. An engine with an all-reduce kernel of its own is faster on small arrays."
)
CHIP_APART = f"{FOLDS} fits that leave out a fifth of the shapes each"
NAMES = {"ampere-nvlink": "Ampere with NVLink 3", "hopper-nvlink": "Hopper with NVLink 4", "blackwell-nvlink": "Blackwell with NVLink 5"}
ARCHITECTURES = {
    "ampere-nvlink": '["Ampere GA100"]',
    "hopper-nvlink": '["Hopper GH100", "Hopper GH100 + Grace"]',
    "blackwell-nvlink": '["Blackwell GB100", "Blackwell GB100 + Grace", "Blackwell Ultra GB110", "Blackwell Ultra GB110 + Grace"]',
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, default=MEASURED / "collectives.csv")
    parser.add_argument("--write", type=Path, help="folder for the files; without it nothing is written")
    parser.add_argument("--revision", type=int, default=1)
    parser.add_argument("--reason", default="first fit")
    parser.add_argument("--date", type=dt.date.fromisoformat, default=dt.datetime.now(dt.UTC).date())
    asked = parser.parse_args()
    rows, fitting = collectives(asked.rows), Fitting(load())
    inside = rows.where(rows.nodes == 1)
    fits = {kind: fitting.fit(inside.where(inside.kind == kind)) for kind in (*ROUNDS, *SOURCES)}
    for line in table(fits):
        print(line)
    files = [*chips(fits, fitting), *architectures(fits), generic(rows, fitting)]
    for each in files if asked.write else ():
        each.write(asked.write, revision=asked.revision, date=asked.date, reason=asked.reason)


def table(fits: Mapping[str, Fit]) -> Iterator[str]:
    """Errors in percent, median and 90th percentile, by chip and kind."""
    yield "| chip | kind | rows | fitted | shapes left out | chip left out |"
    yield "|---|---|---|---|---|---|"
    for chip in FAMILIES:
        for kind, fit in fits.items():
            if chip in fit.found.chips:
                seen, apart = fit.of(chip)
                unseen = _percent(fit.unseen[chip]) if chip in fit.unseen else "–"
                yield f"| {chip} | {kind} | {seen.rows.size} | {_percent(seen)} | {_percent(apart)} | {unseen} |"


def _percent(judged: Judged) -> str:
    median, p90 = 100.0 * np.quantile(judged.error, [0.5, 0.9])
    return f"{median:.1f} / {p90:.1f}"


def chips(fits: Mapping[str, Fit], fitting: Fitting) -> Iterator[Calibration]:
    """The calibration of each chip that was measured."""
    for chip in FAMILIES:
        kinds = []
        for name, fit in fits.items():
            if chip in fit.found.chips:
                seen, apart = fit.of(chip)
                kinds.append(Kind(name, _source(name), fit.found.chips[chip], (seen, apart), apart, CHIP_APART, seen.rows))
        why = "One work timed them, and rows that the fit has not seen are met as the errors say."
        yield Calibration(chip, fitting.catalogue.chip(chip).name, "medium", why, {"chip": f'"{chip}"'}, REGIME, kinds)


def architectures(fits: Mapping[str, Fit]) -> Iterator[Calibration]:
    """What the chips of an architecture share. Where only one was measured, another architecture says how far that carries."""
    for family, names in ARCHITECTURES.items():
        mine = [chip for chip, of in FAMILIES.items() if of == family]
        kinds = []
        for name in ROUNDS:
            fit = fits[name]
            left_out = [judged for chip, judged in fit.unseen.items() if chip in mine]
            judged = left_out or list(fit.unseen.values())
            apart = "fits that leave out one chip each" if left_out else "no second chip was measured: those of Blackwell, each left out"
            rows = fit.seen.rows.where(np.isin(fit.seen.rows.chip, mine))
            kinds.append(Kind(name, _source(name), fit.found.architectures[family], judged, _together(judged), apart, rows))
        why = f"{len(mine)} of its chips {'was' if len(mine) == 1 else 'were'} timed; another may differ in its latencies."
        yield Calibration(family, NAMES[family], "low", why, {"architectures": names}, REGIME, kinds)


def generic(rows: Rows, fitting: Fitting) -> Calibration:
    """What is published for any chip, judged by all rows, those across nodes apart."""
    pace = published.pace(fitting.catalogue)
    kinds = []
    for name, wanted in (("any", rows.nodes == 1), ("across", rows.nodes > 1)):
        part = rows.where(wanted & (rows.kind != "send")) if name == "any" else rows.where(wanted)
        judged = [fitting.judge(part.where(part.kind == kind), lambda _: pace) for kind in np.unique(part.kind)]
        apart = "nothing was fitted: all rows on NVLink" if name == "any" else "nothing was fitted: rows across nodes, of two clusters"
        kinds.append(Kind(name, "nccl-tuning", pace, judged, _together(judged), apart, derived=published.DERIVED))
    regime = "The constants by which NCCL plans, for NVLink and for a network. Not fitted, and not measured on links of other makers."
    why = "Constants of a planner; how far measured times lie from them is in the band, and it is far across nodes."
    return Calibration("generic", "Any chip", "low", why, {}, regime, kinds, topology=None)


def _together(judged: list[Judged]) -> Judged:
    rows = Rows(**{name: np.concatenate([getattr(each.rows, name) for each in judged]) for name in Rows.__dataclass_fields__})
    return Judged(rows, np.concatenate([each.time for each in judged]), np.concatenate([each.regime for each in judged]))


def _source(kind: str) -> str:
    return SOURCES.get(kind, "aiconfigurator-collectives")


if __name__ == "__main__":
    main()
