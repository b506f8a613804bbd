"""Shapes of comparisons and charts, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from ..schemas.kinds import OpKind
from .results import Bound, Result


class Ratios(BaseModel):
    """A case over the first; null where one of the two does not exist."""

    time: float = Field(description="Of the lower bounds.")
    estimate: float | None = Field(description="Of the estimates.")
    bytes: float | None
    intensity: float | None
    threshold: float | None = Field(description="Of the first threshold of both, where it is in the same variable.")


class FactorDocument(BaseModel):
    """What one cause does to the least time, the first case being changed into this one cause by cause."""

    cause: Literal["op_counts", "dtype_bytes", "peak_flops_per_s", "hbm_bandwidth_bytes_per_s", "mesh_and_sharding", "tile", "engine"]
    factor: float = Field(description="lower_s_after / lower_s_before")
    lower_s_before: float
    lower_s_after: float


class Move(BaseModel):
    """A verdict that is another one."""

    op: int | None = Field(default=None, description="Its place, where both are lists of ops; else absent.")
    layer: Literal["all", "hbm", "tile", "network"] = Field(description="all: the longest path of all layers")
    before: Bound = Field(alias="from")
    to: Bound
    name: str = Field(description="Such as `hbm → network`.")


class EstimateFactor(BaseModel):
    """What lies between two estimates: the ratio of the least times, what tiles lose against them, what kernels lose beside."""

    cause: Literal["lower_s", "tile", "kernel"]
    factor: float


class Cancellation(BaseModel):
    """Two causes that move the approximate threshold C·w/(2·W) in opposite directions and leave it where it was."""

    causes: list[str]
    factors: list[float]
    product: float
    where: Literal["threshold"] = Field(alias="in")


class CaseDocument(BaseModel):
    """A case with its result, held against the first."""

    op: dict[str, Any]
    target: dict[str, Any]
    options: dict[str, Any]
    sharding: dict[str, Any] | None = Field(default=None, description="The layouts of the case, where it has any.")
    result: Result
    target_digest: str
    ratios: Ratios
    bound_changed: bool
    moves: list[Move] = Field(description="Verdicts that moved, of all layers together and of each.")
    factors: list[FactorDocument] = Field(description="They multiply to the ratio of the times.")
    estimate_factors: list[EstimateFactor] = Field(
        description="They multiply to the ratio of the estimates; none where one is missing, no `tile` where a side has no tiles."
    )
    cancels: list[Cancellation]


class Excluded(BaseModel):
    """A chip that cannot run the case, and why."""

    chip: str
    errors: list[dict[str, Any]]


class ComparisonDocument(BaseModel):
    """Cases in the order given, or by chip id after the first."""

    cases: list[CaseDocument]
    excluded: list[Excluded]
    engine_version: str
    document_version: int
    catalogue_digest: str


class Ceiling(BaseModel):
    """A line that no op of a roof rises above."""

    path: Literal["hbm", "compute", "l2", "on_chip"]
    kind: Literal["peak", "bandwidth"]
    label: str
    value: float = Field(description="FLOP/s for a peak, bytes/s for a bandwidth.")


Memory = TypeAliasType("Memory", Literal["hbm", "l2", "on_chip"])


class Ridge(BaseModel):
    """Where a roof bends: x FLOP/byte, y FLOP/s."""

    path: Memory
    label: str
    x: float
    y: float


class Series(BaseModel):
    """A roof, log-spaced: x FLOP/byte, y FLOP/s."""

    path: Memory
    label: str
    x: list[float]
    y: list[float]


class TilePoint(BaseModel):
    """An op as it is tiled: x its intensity with what tiles read again, y the rate that padding, waves and re-reads leave at most."""

    x: float
    y: float


class Point(BaseModel):
    """An op: x its intensity in FLOP/byte, y what it can attain in FLOP/s."""

    case: int | None = Field(default=None, description="Its place among the cases.")
    analysis: str | None = Field(default=None, description="The id of its analysis.")
    op: int | None = Field(default=None, description="Its place in the list of ops of an analysis.")
    kind: OpKind
    path: Literal["hbm"]
    roof: str | None = Field(description="The label of its roof; null where the op has no peak.")
    bound: Bound | None
    x: float
    y: float
    tile: TilePoint | None = Field(description="The point that its tiles leave; null where it has none.")
    measured_flops_per_s: float | None


class ChartDocument(BaseModel):
    """Roofs and points; `chip` and `dtype` are those of the first roof."""

    chip: str | None
    dtype: str | None
    ceilings: list[Ceiling]
    ridges: list[Ridge]
    series: list[Series]
    points: list[Point]
