"""Measured rows as columns, and which of them a fit does not see."""

from __future__ import annotations

import csv
import zlib
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]
Names = NDArray[np.str_]
MEASURED = Path(__file__).parent.parent / "measured"


@dataclass(frozen=True)
class Rows:
    """Collectives that were timed, one per row."""

    chip: Names
    kind: Names
    ranks: Real
    nodes: Real
    bytes: Real
    measured_s: Real
    source: Names

    def where(self, wanted: NDArray[np.bool_]) -> Rows:
        """The rows that are wanted."""
        return Rows(**{each.name: getattr(self, each.name)[wanted] for each in fields(self)})

    @property
    def size(self) -> int:
        return self.ranks.size

    def folds(self, count: int) -> NDArray[np.int64]:
        """One of `count` folds for each row; rows that differ only in number format, or in nothing, lie in the same."""
        shapes = zip(self.chip, self.kind, self.ranks, self.bytes, strict=True)
        return np.array([zlib.crc32(f"{chip} {kind} {ranks:.0f} {size:.0f}".encode()) % count for chip, kind, ranks, size in shapes])


def collectives(path: Path = MEASURED / "collectives.csv") -> Rows:
    """The rows of a file with the columns that `measured/README.md` describes."""
    with path.open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    words = {name: np.array([row[name] for row in read]) for name in ("chip", "kind", "source")}
    numbers = {name: np.array([float(row[name]) for row in read]) for name in ("ranks", "nodes", "bytes", "measured_s")}
    return Rows(**words, **numbers)
