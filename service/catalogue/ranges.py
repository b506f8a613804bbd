"""What a value of an entry may be at all, whatever is plausible: the ranges in which the engine's arithmetic stays finite."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from .quantity import Quantity, Sourced
from .units import LARGEST_EXACT, UNITS, Dimension

Steps = tuple[str | int, ...]

RANGES: dict[Dimension, tuple[float, float]] = {
    Dimension.FLOP_RATE: (1, 1e30),
    Dimension.FLOP_PER_CLOCK: (1e-3, 1e15),
    Dimension.BYTE_RATE: (1, 1e30),
    Dimension.BYTES: (1, 2**63 - 1),
    Dimension.BYTES_PER_CLOCK: (1e-3, 1e15),
    Dimension.TIME: (1e-15, 1e3),
    Dimension.FREQUENCY: (1, 1e15),
    Dimension.POWER: (1e-3, 1e9),
    Dimension.COUNT: (1, LARGEST_EXACT),
    Dimension.RATIO: (1e-9, 1e9),
}
"""Least and most of a value in SI. Peaks, rates, capacities and latencies as for a chip that is written in place."""


def outside(entry: BaseModel) -> Iterator[tuple[Steps, str]]:
    """Where a value of `entry` leaves its range, and what is allowed there. A count is also whole."""
    for steps, value in cells(entry):
        if not isinstance(value, Quantity):
            continue
        dimension = UNITS[value.unit].dimension
        low, high = RANGES[dimension]
        if not low <= value.si <= high:
            yield (*steps, "value"), f"In {dimension.si_unit} the value must be from {low:g} to {high:.16g}."
        elif dimension is Dimension.COUNT and value.si != int(value.si):
            yield (*steps, "value"), "The number must be whole."


def cells(value: object, steps: Steps = ()) -> Iterator[tuple[Steps, Sourced]]:
    """Every stated value below `value`, with the steps that lead to it in the file."""
    if isinstance(value, Sourced):
        yield steps, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from cells(getattr(value, name), (*steps, name))
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from cells(each, (*steps, name))
    elif isinstance(value, tuple):
        for at, each in enumerate(value):
            yield from cells(each, (*steps, at))
