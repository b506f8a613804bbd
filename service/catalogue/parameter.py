"""What every model of a calibration states: parameters with their units, and how far it lies from rows that its fit has not seen."""

from __future__ import annotations

from typing import Any

from .quantity import Number, Section, Strict, Text
from .units import UNITS, to_si


class Parameter(Strict):
    """A fitted or published number of a model. Its source is that of the kind that it belongs to."""

    value: Number
    unit: str

    @property
    def si(self) -> int | float:
        return to_si(self.value, self.unit)

    def head(self) -> dict[str, Any]:
        return {"value": self.si, "unit": UNITS[self.unit].dimension.si_unit}


class Errors(Section):
    """Distance of the model from rows that its fit has not seen, as a share of the measured time, and how they were kept apart."""

    median: Number
    p90: Number
    kept_apart: Text
