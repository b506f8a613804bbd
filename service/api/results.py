"""Shapes of answers, for the OpenAPI document. Where a question holds lists, a number or a verdict is a list with one entry per row."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from ..schemas.kinds import SavedKind
from .documents import Page

Number = float | list[float | None] | None
"""A number, or one per row; null where it does not exist."""

Bound = TypeAliasType("Bound", Literal["compute", "hbm", "network", "balanced"])
Flag = bool | list[bool | None] | None
Bounds = Bound | list[Bound | None] | None
Regime = TypeAliasType("Regime", Literal["compute-bound", "communication-bound", "balanced"])
Explanation = TypeAliasType("Explanation", dict[str, list[dict[str, Any]]])
OpAsked = TypeAliasType("OpAsked", dict[str, Any])
Bytes = Annotated[dict[str, Number], Field(description="By operand, and `total`.")]


class ComputeLayer(BaseModel):
    """Operations against the unit that does them."""

    time_s: Number = Field(description="flops / peak; null where the chip states no peak.")
    unit: Literal["matrix", "vector"] | None = Field(description="Null for a collective.")
    dtype: str | None = Field(description="The arithmetic class; null for a collective.")
    peak_flops_per_s: Number


class HbmLayer(BaseModel):
    """Bytes against main memory."""

    time_s: Number = Field(description="bytes / bandwidth")
    bytes: Number
    bandwidth_bytes_per_s: Number
    intensity_flops_per_byte: Number
    critical_intensity_flops_per_byte: Number = Field(description="peak / bandwidth: above it compute is the longer.")
    bound: Bounds


class CollectiveDocument(BaseModel):
    """What the chips of a group exchange."""

    kind: str
    operand: str | None = Field(description="The array; null where the collective is itself what was asked for.")
    dim: str | None = Field(description="The dim that is gathered or scattered.")
    axes: list[str]
    bytes: Number = Field(description="The array as one group of the axes sees it; for all_to_all that of all its chips together.")
    wire_bytes: Number = Field(description="What one chip sends.")
    steps: Number
    time_s: Number
    algbw_bytes_per_s: Number = Field(description="bytes / time; for all_to_all those of one chip.")
    busbw_bytes_per_s: Number = Field(description="algbw × 2(N−1)/N for all_reduce, × (N−1)/N for gather, scatter and all_to_all.")
    latency_bound: Flag = Field(description="The steps take longer than the bytes.")
    forced: Flag = Field(description="The layouts leave no other way.")


class AlternativeDocument(BaseModel):
    """Another plan with the same result."""

    plan: str = Field(description="What it does otherwise; `rules` is the one that the layouts as written call for.")
    lower_s: Number
    collectives: list[CollectiveDocument]


class NetworkLayer(BaseModel):
    """Bytes between chips against the links."""

    time_s: Number = Field(description="Of all collectives, one after another.")
    collectives: list[CollectiveDocument] = Field(description="In order.")
    alternatives: list[AlternativeDocument]
    intensity_flops_per_byte: Number = Field(description="flops / bytes that one chip sends")
    critical_intensity_flops_per_byte: Number = Field(
        description="peak × time / bytes that one chip sends: above it compute is the longer."
    )
    bound: Bounds


class TileShape(BaseModel):
    """What a core computes at a time; of attention queries by keys of one step, k the width of a head."""

    m: Number
    n: Number
    k: Number = Field(description="Contracted in one step of the main loop.")


class Losses(BaseModel):
    """Seconds from the roofline to the estimate, in the order in which idealisations are given up: padding, waves, …, launch last."""

    launch_s: Number = Field(description="Before and after the work.")
    waves_s: Number = Field(description="Cores that wait in an incomplete wave.")
    padding_s: Number = Field(description="Work outside the matrices; on a systolic array also its filling and draining.")
    rereads_s: Number = Field(description="Bytes that are read again, or read and written by an append.")
    bandwidth_s: Number = Field(description="Bandwidth that is not reached, of HBM or into the cores.")
    rate_s: Number = Field(description="Rate that is not reached, latency of steps, imperfect overlap, clocks that fall.")
    quantization_s: Number = Field(description="The pass that quantises what arrives in a wider format.")


class TileLayer(BaseModel):
    """The op cut into tiles for the cores of one chip."""

    tile: TileShape
    split_k: Number = Field(description="Cores that share a tile along k, or the keys of a head.")
    tiles: Number
    waves: Number = Field(description="Rounds of one tile per core.")
    padding_efficiency: Number = Field(description="Operations that count, over those that are computed.")
    wave_efficiency: Number = Field(description="Cores that work, over all waves.")
    on_chip_bytes: Number = Field(description="Of the store beside a core, all stages.")
    on_chip_capacity_bytes: Number
    hbm_bytes: Number = Field(description="With what is read again.")
    intensity_flops_per_byte: Number
    compute_time_s: Number = Field(description="Time of compute / (padding_efficiency × wave_efficiency)")
    hbm_time_s: Number
    bound: Bounds
    roofline_s: Number = Field(description="Of the level that serves the bytes: lower_s of this chip unless caches are resident.")
    estimate_s: Number = Field(description="Of this chip without what it exchanges; roofline_s and all losses.")
    losses: Losses


class Layers(BaseModel):
    """Each roofline with its own verdict."""

    compute: ComputeLayer
    hbm: HbmLayer
    tile: TileLayer | None = Field(description="Null where nothing is tiled; a note says why.")
    network: NetworkLayer


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

    path: Literal["hbm", "network"]
    variable: str
    axis: str | None = Field(default=None, description="The axis of the mesh, where the variable is `axis_size`; else absent.")
    exact: Number = Field(description="Null where no value flips it.")
    approximate: Number = Field(description="The textbook's.")


class LeverDocument(BaseModel):
    """What one change would do."""

    change: str
    factor: float | None = Field(description="Null for `tile`.")
    lower_s_after: Number
    bound_after: Bounds
    speedup: Number = Field(description="Of time; of the FLOP rate for `m` and `batch`; of the estimate for `tile`.")
    helps: Flag


class Cause(BaseModel):
    """Something that commonly puts a measurement above the roof."""

    cause: Literal["cache-resident-operands", "sparse-peak", "macs-for-flops", "wrong-unit"]
    detail: str
    consistent: bool = Field(description="Whether the numbers allow it.")


class Loss(BaseModel):
    """The loss that explains most of a measured time."""

    name: Literal["launch_s", "waves_s", "padding_s", "rereads_s", "bandwidth_s", "rate_s", "quantization_s"]
    expected_s: float = Field(description="What a good kernel is expected to lose by it.")
    distance_s: float = Field(description="measured_s − lower_s")
    unexplained_s: float = Field(description="What is left of it after all losses.")


class MeasuredDocument(BaseModel):
    """A measured time against the roofline."""

    measured_s: float
    position: float | None = Field(description="0 at the lower and 1 at the upper bound, and outside beyond; null where they are one.")
    achieved_fraction: float = Field(description="lower_s / measured_s")
    achieved_flops_per_s: float
    above_roof: bool = Field(description="Faster than the lower bound.")
    causes: list[Cause] = Field(description="The likeliest first; empty unless above the roof.")
    loss: Loss | None = Field(description="Null above the roof, and where a tile layer has no losses.")


class Assumed(BaseModel):
    """A value that the question did not give."""

    pointer: str = Field(description="RFC 6901 pointer into the question as understood.")
    value: Any


class SingleChip(BaseModel):
    """The unsharded op on one chip."""

    layers: Layers
    time: Times
    bound: Bounds


class Result(BaseModel):
    """The roofline of one op, on each chip of the mesh."""

    flops: Number = Field(description="Of the unit that the op is judged by, on one chip.")
    total_flops: Number = Field(description="flops × devices, repeated work included.")
    devices: Number = Field(description="Chips of the mesh.")
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
    single_chip: SingleChip | None = Field(default=None, description="The op whole on one chip, beside a sharded one.")
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
    sharding: dict[str, Any] | None = Field(default=None, description="The layouts, each entry in its shortest form.")
    target: dict[str, Any] = Field(description="The chip, pinned to its revision or written in place; the mesh, every axis filled.")
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
    kind: SavedKind
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


class WholeAnalyses(BaseModel):
    """Saved analyses with their documents; in NDJSON a line each."""

    items: list[AnalysisDocument]
