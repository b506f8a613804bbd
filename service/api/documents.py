"""Shapes of what the web itself says, for the OpenAPI document; what the engine says is in `service/schemas`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from ..schemas.kinds import OpKind

PeakRates = TypeAliasType("PeakRates", Annotated[dict[str, float], Field(description="FLOP/s by arithmetic class")])
Ridges = Annotated[dict[str, dict[str, float]], Field(description="FLOP/B at which each unit, in each class, meets the main memory")]


class ProblemFault(BaseModel):
    """One thing that is wrong with a request."""

    pointer: str = Field(description="RFC 6901 pointer into the body; `/query/…`, `/path/…`, `/header/…` for the rest.")
    code: str = Field(description="The kind of fault, one of the codes of `/v1/meta`.")
    detail: str
    suggestions: list[str] = Field(description="What may have been meant, best first.")


class Problem(BaseModel):
    """A refusal (RFC 9457)."""

    type: str = Field(description="Address that explains this kind of problem.")
    title: str
    status: int
    detail: str
    code: str
    request_id: str = Field(description="Also in the header `X-Request-Id`, and in the service's log.")
    errors: list[ProblemFault] | None = Field(default=None, description="With status 422: all that is wrong, in document order.")
    suggestions: list[str] | None = Field(default=None, description="With status 404: names that resemble the one asked for.")


class ProblemKind(BaseModel):
    """What a code means."""

    type: str
    code: str
    status: int
    title: str
    meaning: str


class Liveness(BaseModel):
    """The process answers."""

    status: Literal["alive"]


class Readiness(BaseModel):
    """The service can do all it is asked."""

    status: Literal["ready"]
    catalogue_digest: str


class NumberFormat(BaseModel):
    """A storage format."""

    name: str
    aliases: list[str]
    bits: int = Field(description="Bits of one element, without scales.")
    arithmetic: str = Field(description="Class that it computes in: the key of a chip's peaks.")
    scale_group: int | None = Field(description="Elements that share one implied scale; null where the format has none.")
    scale_bits: int | None


class MetricDocument(BaseModel):
    """What a cell can ask for."""

    name: str = Field(description="Of `/v1/cell/{name}`.")
    unit: str | None = Field(description="Of its numbers; null where it has none.")
    meaning: str


class Meta(BaseModel):
    """What this service is and knows."""

    service_version: str
    engine_version: str
    document_version: int = Field(description="Rises when answers gain a layer.")
    catalogue_digest: str
    limits: dict[str, int]
    number_formats: list[NumberFormat]
    metrics: list[MetricDocument]
    problems: list[ProblemKind]


class Hbm(BaseModel):
    """Main memory of a chip."""

    bandwidth_bytes_per_s: float
    capacity_bytes: int | None = None


class L2(BaseModel):
    """The cache between the cores and main memory."""

    capacity_bytes: int | None = None
    bandwidth_bytes_per_s: float | None = None


class ChipNumbers(BaseModel):
    """What an engine needs of a chip, in SI. What is unknown is absent."""

    peak_flops_per_s: PeakRates | None = None
    vector_peak_flops_per_s: PeakRates | None = None
    hbm: Hbm
    cores: int | None = None
    on_chip_bytes_per_core: int | None = None
    l2: L2 | None = None


Origin = TypeAliasType(
    "Origin", Annotated[Literal["shipped", "own"], Field(description="Whether the service ships the entry, or users of it keep it.")]
)


class Change(BaseModel):
    """What is different from the revision before."""

    field: str = Field(description="Dotted path in the document.")
    before: Any = Field(description="A value with its unit, confidence and the keys of its sources, or a text; null where it was absent.")
    after: Any


class ChipSummary(ChipNumbers):
    """A chip in a list."""

    id: str
    ref: str = Field(description="The id pinned to its revision.")
    digest: str = Field(description="Of all values that the revision states.")
    origin: Origin
    name: str
    vendor: str
    kind: str
    architecture: str
    launch_year: int
    confidence: Literal["high", "medium", "low"]
    ridge_flops_per_byte: Ridges


class ChipRevision(ChipSummary):
    """A revision of a chip in a list."""

    revision: int
    reason: str
    date: str | None = Field(description="Day of the revision, where it is known.")
    changes: list[Change] | None = Field(description="From the revision before; null for the first.")


class ChipDocument(BaseModel):
    """All that is known of a chip. A value is `{value, unit, sources, confidence, …}` in SI, at the place where the chip has it."""

    id: str
    ref: str
    digest: str
    origin: Origin
    base: str | None = Field(default=None, description="Of an own entry that was made as a copy: the revision that was copied.")
    override: str | None = Field(default=None, description="Of an own entry: why values are right that break rules of plausibility.")
    revision: int
    date: str | None = None
    reason: str
    confidence: Literal["high", "medium", "low"]
    name: str
    numbers: ChipNumbers
    ridge_flops_per_byte: Ridges


class Page(BaseModel):
    """What all lists have in common."""

    next_cursor: str | None = Field(description="Asks for the next page; null on the last one.")
    limit: int


class ChipList(Page):
    """Chips, sorted by id."""

    items: list[ChipSummary]


class RevisionList(Page):
    """Revisions of a chip, oldest first."""

    items: list[ChipRevision]


Topology = Literal["ring", "switch", "fully_connected", "mesh"]


class AxisNumbers(BaseModel):
    """One level of the wiring, in SI. What is unknown is absent."""

    name: str
    topology: Topology = Field(description="`mesh` is irregular: no single rate describes it.")
    network: str
    size: int | None = Field(default=None, description="Chips, or domains, that it joins at most.")
    bandwidth_per_direction_bytes_per_s: float | None = Field(
        default=None,
        description="One way: of one link on a `ring`, of all that a chip sends on a `switch`, of one pair on `fully_connected`.",
    )
    latency_s: float | None = None
    in_network_reduction: bool | None = Field(default=None, description="Whether the network itself can add what the chips send.")
    note: str | None = None


class ClusterSummary(BaseModel):
    """A system in a list."""

    id: str
    ref: str = Field(description="The id pinned to its revision.")
    digest: str = Field(description="Of all values that the revision states.")
    origin: Origin
    name: str
    chip: str = Field(description="Id of the chip that it is made of.")
    chips: int = Field(description="How many of them.")
    axes: list[AxisNumbers] = Field(description="Innermost first.")
    confidence: Literal["high", "medium", "low"]


class ClusterRevision(ClusterSummary):
    """A revision of a system in a list."""

    revision: int
    reason: str
    date: str | None = Field(description="Day of the revision, where it is known.")
    changes: list[Change] | None = Field(description="From the revision before; null for the first.")


class ClusterAxis(BaseModel):
    """One level of the wiring. A value is `{value, unit, sources, confidence, …}` in SI."""

    name: str
    topology: Topology
    network: str
    size: dict[str, Any] | None = None
    bandwidth_per_direction_bytes_per_s: dict[str, Any] | None = None
    latency_s: dict[str, Any] | None = None
    in_network_reduction: dict[str, Any] | None = None
    note: str | None = None


class ClusterDocument(BaseModel):
    """All that is known of a system. A value is `{value, unit, sources, confidence, …}` in SI, at the place where the system has it."""

    id: str
    ref: str
    digest: str
    origin: Origin
    base: str | None = Field(default=None, description="Of an own entry that was made as a copy: the revision that was copied.")
    override: str | None = Field(default=None, description="Of an own entry: why values are right that break rules of plausibility.")
    revision: int
    date: str | None = None
    reason: str
    confidence: Literal["high", "medium", "low"]
    name: str
    chip: str
    chips: dict[str, Any]
    axes: list[ClusterAxis]


class ClusterList(Page):
    """Systems, sorted by id."""

    items: list[ClusterSummary]


class ClusterRevisionList(Page):
    """Revisions of a system, oldest first."""

    items: list[ClusterRevision]


class OpDocument(BaseModel):
    """A kind of op."""

    kind: OpKind
    description: str
    parameters: Annotated[dict[str, Any], Field(alias="schema", description="JSON Schema of the op in a request.")]
    formulas: dict[str, Any]
    example: Annotated[dict[str, Any], Field(description="A body for `POST /v1/evaluate`.")]


class OpList(Page):
    """Kinds of ops, sorted."""

    items: list[OpDocument]
