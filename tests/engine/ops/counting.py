"""Numbers that count what is done with them, and the bytes of a report: what the slow twins of ops are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from service.engine.report import Report


class Counter:
    """How many operations were done."""

    def __init__(self) -> None:
        self.operations = 0

    def number(self, value: float) -> Counted:
        return Counted(value, self)

    def numbers(self, values: list[float]) -> list[Counted]:
        return [self.number(value) for value in values]


class Counted:
    """A number of which every operation counts as one, `exp`, `erf`, `sqrt` and `maximum` included."""

    def __init__(self, value: float, counter: Counter) -> None:
        self.value, self.counter = value, counter

    def _done(self, value: float) -> Counted:
        self.counter.operations += 1
        return Counted(value, self.counter)

    def __add__(self, other: Any) -> Counted:
        return self._done(self.value + float_of(other))

    def __sub__(self, other: Any) -> Counted:
        return self._done(self.value - float_of(other))

    def __mul__(self, other: Any) -> Counted:
        return self._done(self.value * float_of(other))

    def __truediv__(self, other: Any) -> Counted:
        return self._done(self.value / float_of(other))

    def __neg__(self) -> Counted:
        return self._done(-self.value)

    def __abs__(self) -> Counted:
        return self._done(abs(self.value))

    def exp(self) -> Counted:
        return self._done(math.exp(self.value))

    def erf(self) -> Counted:
        return self._done(math.erf(self.value))

    def sqrt(self) -> Counted:
        return self._done(math.sqrt(self.value))

    def rounded(self) -> Counted:
        return self._done(round(self.value))

    def maximum(self, other: Any) -> Counted:
        return self._done(max(self.value, float_of(other)))


def float_of(value: Any) -> float:
    return value.value if isinstance(value, Counted) else float(value)


def moved(report: Report) -> Mapping[str, float]:
    """Bytes of each operand of a report of one row."""
    return {name: each.item() for name, each in report.bytes.items()}
