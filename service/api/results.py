"""Shapes of answers, for the OpenAPI document. Where a question holds lists, a number or a verdict is a list with one entry per row."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from .documents import Page

Number = float | list[float | None] | None
"""A number, or one per row; null where it does not exist."""

Bound = TypeAliasType("Bound", Literal["compute", "hbm", "network", "balanced"])
Bounds = Bound | list[Bound | None] | None
Regime = TypeAliasType("Regime", Literal["compute-bound", "communication-bound", "balanced"])
Explanation = TypeAliasType("Explanation", dict[str, list[dict[str, Any]]])
OpAsked = TypeAliasType("OpAsked", dict[str, Any])
Bytes = Annotated[dict[str, Number], Field(description="By operand, and `total`.")]


class ComputeLayer(BaseModel):
    """Operations against the unit that does them."""

    time_s: Number = Field(description="flops / peak; null where the chip states no peak.")
    unit: Literal["matrix", "vector"]
    dtype: str = Field(description="The arithmetic class.")
    peak_flops_per_s: Number


class HbmLayer(BaseModel):
    """Bytes against main memory."""

    time_s: Number = Field(description="bytes / bandwidth")
    bytes: Number
    bandwidth_bytes_per_s: Number
    intensity_flops_per_byte: Number
    critical_intensity_flops_per_byte: Number = Field(description="peak / bandwidth: above it compute is the longer.")
    bound: Bounds


class Layers(BaseModel):
    """Each roofline with its own verdict."""

    compute: ComputeLayer
    hbm: HbmLayer
    tile: None
    network: None


class Times(BaseModel):
    """Seconds."""

    lower_s: Number = Field(description="The longest of the paths: all overlap.")
    upper_s: Number = Field(description="The sum of the paths: nothing overlaps.")
    overlapped_s: Number = Field(description="lower_s + (1 − overlap)·(upper_s − lower_s)")
    estimate_s: Number = Field(description="What a good kernel, or a good library of collectives, takes; null where nothing predicts it.")
    estimate_p10_s: Number
    estimate_p90_s: Number
    estimate_basis: str | None


class ThresholdDocument(BaseModel):
    """The value of one dim at which the verdict of a path flips, all others held."""

    path: Literal["hbm"]
    variable: str
    exact: Number = Field(description="Null where no value flips it.")
    approximate: Number = Field(description="The textbook's.")


class LeverDocument(BaseModel):
    """What one change would do."""

    change: str
    factor: float
    lower_s_after: Number
    bound_after: Bounds
    speedup: Number = Field(description="Of time; of the FLOP rate for `m` and `batch`.")
    helps: bool | list[bool | None] | None


class Cause(BaseModel):
    """Something that commonly puts a measurement above the roof."""

    cause: Literal["cache-resident-operands", "sparse-peak", "macs-for-flops", "wrong-unit"]
    detail: str
    consistent: bool = Field(description="Whether the numbers allow it.")


class MeasuredDocument(BaseModel):
    """A measured time against the roofline."""

    measured_s: float
    position: float | None = Field(description="0 at the lower and 1 at the upper bound, and outside beyond; null where they are one.")
    achieved_fraction: float = Field(description="lower_s / measured_s")
    achieved_flops_per_s: float
    above_roof: bool = Field(description="Faster than the lower bound.")
    causes: list[Cause] = Field(description="The likeliest first; empty unless above the roof.")


class Assumed(BaseModel):
    """A value that the question did not give."""

    pointer: str = Field(description="RFC 6901 pointer into the question as understood.")
    value: Any


class Result(BaseModel):
    """The roofline of one op."""

    flops: Number = Field(description="Of the unit that the op is judged by.")
    vector_flops: Number
    bytes: Bytes
    traffic: Literal["ideal"] = Field(description="Each block moves once.")
    tokens_per_replica: Number = Field(default=None, description="The rows that `sequences` come to.")
    intensity_flops_per_byte: Number
    intensity_approx_flops_per_byte: Number
    intensity_ratio: Number = Field(description="Approximate over exact.")
    layers: Layers
    time: Times
    bound: Bounds = Field(description="The longest path; `balanced` where two are equal within 1e-9.")
    regime: Regime | list[Regime | None] | None
    attainable_flops_per_s: Number = Field(description="flops / lower_s")
    utilization: Number = Field(description="Share of the peak that the roofline allows.")
    thresholds: list[ThresholdDocument]
    levers: list[LeverDocument]
    assumed: list[Assumed]
    notes: list[str]
    measured: MeasuredDocument | None = Field(default=None, description="Where a measured time was given.")
    explain: Explanation | None = Field(default=None, description="The five steps, where they were asked for.")


class ResultInList(Result):
    """The roofline of one op of a list, for one execution."""

    assumed: list[Assumed] = []
    count: int = Field(description="How many times the op runs.")


class Totals(BaseModel):
    """Sums of count × value: the ops run one after another."""

    flops: float
    vector_flops: float
    bytes_total: float
    time: Times


class ListResult(BaseModel):
    """The rooflines of a list of ops, in the order given."""

    per_op: list[ResultInList]
    totals: Totals
    measured: MeasuredDocument | None = None
    assumed: list[Assumed]


class Answer(BaseModel):
    """A question as understood, and its answer."""

    op: OpAsked | None = Field(default=None, description="The op, every default filled.")
    ops: list[OpAsked] | None = None
    target: dict[str, Any] = Field(description="The chip, pinned to its revision or written in place.")
    options: dict[str, Any]
    measured_s: float | None = None
    result: Result | ListResult
    engine_version: str
    document_version: int
    catalogue_digest: str
    target_digest: str
    input_digest: str


class AnalysisDocument(BaseModel):
    """A saved analysis: question and answer as they were kept, byte for byte."""

    id: str
    created_at: str
    labels: dict[str, str]
    note: str | None
    question: dict[str, Any]
    answer: Answer
    result: Result | ListResult = Field(description="That of the answer.")


class AnalysisSummary(BaseModel):
    """A saved analysis in a list."""

    id: str
    created_at: str
    labels: dict[str, str]
    note: str | None
    kind: str = Field(description="The op, or `ops` for a list of ops.")
    chip: str | None = Field(description="Pinned to its revision; null for a chip written in place.")
    dtype: str | None
    bound: Bound | None
    lower_s: float
    estimate_s: float | None
    engine_version: str
    question_digest: str
    target_digest: str


class AnalysisList(Page):
    """Saved analyses, in the order asked for."""

    items: list[AnalysisSummary]
