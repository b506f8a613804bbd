"""A roofline chart as it is drawn: the roofs, the marks on them, and the axes that hold both. Made of the document of the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .axes import LogAxis
from .quantities import quantity


@dataclass(frozen=True)
class Roof:
    """y = min(peak, bandwidth · x), which bends at the ridge [FLOP/B]; peak in FLOP/s, bandwidth in B/s."""

    path: str
    """the memory that it is of"""
    label: str
    peak: float
    bandwidth: float
    ridge: float

    @property
    def numbers(self) -> str:
        return f"{quantity(self.peak, 'FLOP/s')}, {quantity(self.bandwidth, 'B/s')}, ridge at {quantity(self.ridge, 'FLOP/B')}"


@dataclass(frozen=True)
class Mark:
    """An op: its number in the chart, its intensity x [FLOP/B], what it can attain and what was measured [FLOP/s]."""

    number: int
    kind: str
    roof: str | None
    bound: str | None
    x: float
    y: float
    measured: float | None

    @property
    def is_on_axes(self) -> bool:
        """Whether it has a place: an op without operations has none where axes are logarithmic."""
        return self.x > 0.0 and self.y > 0.0

    @property
    def numbers(self) -> str:
        limit = "" if self.bound is None else f", limited by {self.bound}"
        measured = "" if self.measured is None else f", measured {quantity(self.measured, 'FLOP/s')}"
        absent = "" if self.is_on_axes else "; not drawn, as logarithmic axes have no zero"
        return f"{quantity(self.x, 'FLOP/B')}, at most {quantity(self.y, 'FLOP/s')}{limit}{measured}{absent}"


@dataclass(frozen=True)
class Chart:
    """All that is drawn."""

    roofs: tuple[Roof, ...]
    marks: tuple[Mark, ...]
    x: LogAxis
    y: LogAxis

    @property
    def title(self) -> str:
        whole = [roof for roof in self.roofs if roof.path == "hbm"]
        return f"Roofline of {whole[0].label}" if len(whole) == 1 else f"{len(whole)} rooflines"

    @property
    def drawn(self) -> list[Mark]:
        return [mark for mark in self.marks if mark.is_on_axes]


def chart(document: Mapping[str, Any]) -> Chart:
    """The chart of an answer to `/v1/charts/roofline`."""
    bandwidths = {each["label"]: each["value"] for each in document["ceilings"] if each["kind"] == "bandwidth"}
    roofs = [Roof(each["path"], each["label"], each["y"], bandwidths[each["label"]], each["x"]) for each in document["ridges"]]
    marks = tuple(_mark(number, point) for number, point in enumerate(document["points"], start=1))
    return Chart(
        tuple(roofs),
        marks,
        LogAxis.over([*(x for series in document["series"] for x in series["x"]), *(mark.x for mark in marks)]),
        LogAxis.over(
            [
                *(y for series in document["series"] for y in series["y"]),
                *(value for mark in marks for value in (mark.y, mark.measured or 0.0)),
            ]
        ),
    )


def _mark(number: int, point: Mapping[str, Any]) -> Mark:
    return Mark(number, point["kind"], point["roof"], point["bound"], point["x"], point["y"], point["measured_flops_per_s"])
