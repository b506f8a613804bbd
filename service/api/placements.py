"""Shapes of rankings and of what fits, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from .documents import ProblemFault
from .results import Assumed, Bound, OpAsked


class CandidateFigures(BaseModel):
    """What a candidate is judged by."""

    time_s: float = Field(description="The least time, `lower_s` of an evaluation.")
    chip_time_s: float = Field(description="time_s × devices")
    devices: int
    bound: Bound | None = Field(description="Of a list, where all its ops have the same.")
    fits: bool | None = Field(description="Whether what each chip holds fits its HBM, by the count of `POST /v1/fit`; null where unknown.")
    headroom_bytes: int | None = Field(description="What is left of the HBM of each chip; negative where it does not fit.")


class RankedCandidate(CandidateFigures):
    """A candidate in its place."""

    rank: int
    id: str
    ratio_to_best: float | None = Field(description="Of what the order goes by; null where the best takes no time.")
    target: dict[str, Any] = Field(description="The chip, pinned to its revision or written in place; the mesh, every axis filled.")
    target_digest: str
    notes: list[str]


class ExcludedCandidate(BaseModel):
    """A candidate that is not ranked, and why. One that could be evaluated has its figures."""

    id: str
    reasons: list[Literal["problem", "does-not-fit", "too-slow"]] = Field(
        description="`problem`: it cannot be evaluated, as `errors` say; the others are constraints that it misses."
    )
    errors: list[ProblemFault]
    time_s: float | None = None
    chip_time_s: float | None = None
    devices: int | None = None
    bound: Bound | None = None
    fits: bool | None = None
    headroom_bytes: int | None = None


class RankDocument(BaseModel):
    """Candidates from the best on."""

    op: OpAsked | None = Field(default=None, description="The op, every default filled.")
    ops: list[OpAsked] | None = None
    objective: Literal["time", "chip_time"]
    constraints: dict[str, Any]
    options: dict[str, Any]
    items: list[RankedCandidate]
    excluded: list[ExcludedCandidate] = Field(description="Sorted by id.")
    order: str = Field(description="What the order goes by, ties included, in words. No two candidates are equal in it.")
    assumed: list[Assumed]
    engine_version: str
    document_version: int
    catalogue_digest: str


class MemoryPart(BaseModel):
    """An array on one chip, or a copy of it."""

    op: int | None = Field(default=None, description="Its place in a list of ops; absent for one op.")
    count: int | None = Field(default=None, description="How many times the op of a list runs; absent for one op.")
    array: str = Field(description="An operand or the result; `in` and `out` of a collective.")
    made_by: str | None = Field(description="The collective that writes it as a copy; null for the array itself.")
    bytes: int = Field(description="Of all executions.")


class LargestOp(BaseModel):
    """The op of a list that needs most."""

    op: int
    bytes: int = Field(description="For one execution, nothing else being held.")


class FitDocument(BaseModel):
    """What one chip holds, against its HBM."""

    op: OpAsked | None = Field(default=None, description="The op, every default filled.")
    ops: list[OpAsked] | None = None
    sharding: dict[str, Any] | None = Field(default=None, description="The layouts, each entry in its shortest form.")
    target: dict[str, Any]
    options: dict[str, Any]
    devices: int
    parts: list[MemoryPart]
    bytes_total: int
    limit_bytes: int = Field(description="Capacity of the HBM of one chip.")
    headroom_bytes: int = Field(description="limit_bytes − bytes_total; negative where it does not fit.")
    fits: bool
    largest: MemoryPart
    largest_op: LargestOp | None = Field(default=None, description="Of a list of ops; else absent.")
    batch_dim: str | None = Field(description="The dim of the op that `largest_batch` is of.")
    largest_batch: int | None = Field(description="The largest size of that dim with which everything fits; null where there is none.")
    assumed: list[Assumed]
    notes: list[str]
    engine_version: str
    document_version: int
    catalogue_digest: str
    target_digest: str
