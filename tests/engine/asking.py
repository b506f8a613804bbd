"""Asking the engine as a reader would: plain numbers in, a report out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from service.engine import batch
from service.engine.arrays import Real, column
from service.engine.formats import Scale
from service.engine.machine import Machine
from service.engine.ops import OPS
from service.engine.report import Report
from service.engine.roofline import BOUNDS, REGIMES
from service.engine.term import Term
from service.engine.thresholds import Threshold


def term(kind: str, **members: Any) -> Term:
    """The op `kind` with its defaults filled; a number or a list of numbers becomes a column."""
    return OPS[kind](**{name: held(value) for name, value in members.items()}).resolved()


def held(value: Any) -> Any:
    """A member of a request as a term holds it."""
    if isinstance(value, int | list | np.ndarray) and not isinstance(value, bool):
        return column(value)
    if isinstance(value, Mapping):
        return Scale(**value) if "dtype" in value else {name: column(each) for name, each in value.items()}
    return value


def ask(kind: str, chip: Machine, *, overlap: float = 1.0, **members: Any) -> Report:
    """The report of an op on a chip, one row or many."""
    return batch.evaluate(term(kind, **members), chip, is_class_asked="compute_dtype" in members, overlap=overlap)


def bounds(report: Report) -> list[str | None]:
    """What binds, row by row."""
    return [BOUNDS[code] for code in report.longest.tolist()]


def regimes(report: Report) -> list[str | None]:
    return [REGIMES[code] for code in report.longest.tolist()]


def intensity(report: Report) -> Real:
    """Operations for each byte [FLOP/B], of an op that moves some."""
    assert report.intensity is not None
    return report.intensity


def threshold(report: Report, variable: str) -> Threshold:
    return next(each for each in report.thresholds if each.variable == variable)


def exact(report: Report, variable: str) -> float:
    """The threshold of a report of one row; NaN where there is none."""
    found: float = threshold(report, variable).exact.item()
    return found


def lever(report: Report, change: str) -> tuple[float, str | None, float]:
    """Least time [s], bound and speedup after a change, of a report of one row."""
    at = report.levers.changes.index(change)
    return report.levers.lower[at].item(), BOUNDS[report.levers.longest[at].item()], report.levers.speedup[at].item()
