"""Calibrations as files of the catalogue: parameters with their units, the band, the errors, and what was measured."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from service.catalogue.calibration_file import PaceParameters
from service.engine.pace import REGIMES

from .collectives import Judged
from .hierarchy import Parameters
from .rows import Rows

SHARES: Final = {"exponent", "spread", "own", "low_share", "bulk_share"}
FEW: Final = 10
"""Rows of a regime with fewer are not enough for a band of their own."""


@dataclass(frozen=True)
class Kind:
    """One kind of collective of a calibration."""

    name: str
    source: str
    parameters: Parameters
    judged: Sequence[Judged]
    """from which the band follows"""
    errors: Judged
    """rows that the fit has not seen"""
    kept_apart: str
    rows: Rows | None = None
    """that were fitted"""
    derived: str | None = None

    def lines(self) -> Iterator[str]:
        place = f"collectives.kinds.{self.name}"
        ranks = None if self.rows is None or self.name == "send" else _range(self.rows.ranks)
        yield from _table(
            place,
            {
                "source": f'"{self.source}"',
                "derived": None if self.derived is None else f'"{self.derived}"',
                "rows": None if self.rows is None else str(self.rows.size),
                "ranks": ranks,
                "sizes": None if self.rows is None else _range(self.rows.bytes),
            },
        )
        order = [name for name in PaceParameters.model_fields if name in self.parameters]
        yield from _table(f"{place}.parameters", {name: _quantity(name, self.parameters[name]) for name in order})
        low, high = band(self.judged)
        yield from _table(f"{place}.band", {"p10": str(low), "p90": str(high)})
        median, p90 = np.quantile(self.errors.error, [0.5, 0.9])
        errors = {"median": _digits(median, 3), "p90": _digits(p90, 3), "kept_apart": f'"{self.kept_apart}"'}
        yield from _table(f"{place}.errors", errors)


@dataclass(frozen=True)
class Calibration:
    """A file of the catalogue."""

    id: str
    name: str
    confidence: str
    confidence_why: str
    of: Mapping[str, str]
    """the chip or the architectures, as the file states them"""
    regime: str
    kinds: Sequence[Kind]
    topology: str | None = "switch"

    def write(self, folder: Path, *, revision: int, date: dt.date, reason: str) -> None:
        """The file in `folder`; the revision before stays beside it."""
        newest = folder / f"{self.id}.toml"
        if revision > 1:
            newest.rename(folder / f"{self.id}@{revision - 1}.toml")
        head = {
            "id": f'"{self.id}"',
            "revision": str(revision),
            "date": date.isoformat(),
            "reason": f'"{reason}"',
            "confidence": f'"{self.confidence}"',
            "confidence_why": f'"{self.confidence_why}"',
            "name": f'"{self.name}"',
            **self.of,
        }
        section = {"regime": f'"{self.regime}"', "topology": None if self.topology is None else f'"{self.topology}"'}
        lines = [*_members(head), *_table("collectives", section), *(line for kind in self.kinds for line in kind.lines())]
        newest.write_text("\n".join(lines) + "\n", encoding="utf-8")


def band(judged: Sequence[Judged]) -> tuple[list[float], list[float]]:
    """By regime, between which multiples of the prediction four fifths of the measured times lie."""
    ratio = np.concatenate([each.ratio for each in judged])
    regime = np.concatenate([each.regime for each in judged])
    parts = [ratio[regime == code] for code in range(len(REGIMES))]
    enough = [part if part.size >= FEW else ratio for part in parts]
    low = [round(min(1.0, float(np.quantile(part, 0.1))), 3) for part in enough]
    high = [round(max(1.0, float(np.quantile(part, 0.9))), 3) for part in enough]
    return low, high


def _range(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    return f"[{values.min():.0f}, {values.max():.0f}]"


def _quantity(name: str, value: float) -> str:
    if name in SHARES:
        return f'{{ value = {_digits(value)}, unit = "ratio" }}'
    if name == "spread_bytes":
        return f'{{ value = {_digits(value / 1024)}, unit = "KiB" }}'
    return f'{{ value = {_digits(value * 1e6)}, unit = "us" }}'


def _digits(value: float, count: int = 4) -> str:
    """`value` to so many significant digits, written without an exponent."""
    return np.format_float_positional(float(f"{value:.{count}g}"), trim="0")


def _table(name: str, members: Mapping[str, str | None]) -> Iterator[str]:
    yield ""
    yield f"[{name}]"
    yield from _members(members)


def _members(members: Mapping[str, str | None]) -> Iterator[str]:
    stated = {name: value for name, value in members.items() if value is not None}
    width = max(map(len, stated))
    yield from (f"{name:{width}} = {value}" for name, value in stated.items())
