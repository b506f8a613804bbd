"""Shapes of comparisons of saved analyses, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from .comparisons import Cancellation, EstimateFactor, FactorDocument, Move
from .results import AnalysisSummary, Bound


class ComparedAnalysis(AnalysisSummary):
    """A saved analysis, as in a list."""

    document_version: int


class Beside(BaseModel):
    """Two numbers; null where one does not exist."""

    base: float | None
    value: float | None
    ratio: float | None = Field(description="value / base")
    delta: float | None = Field(description="value − base")


class Metric(Beside):
    """A number of an answer beside that of the base."""

    metric: str = Field(description="The member of the answer, or `bytes_total`, or with its layer before it: `network_time_s`.")


class ComparedThreshold(Beside):
    """The exact value of one dim at which the verdict of a path flips."""

    path: Literal["hbm", "network"]
    variable: str
    axis: str | None = Field(default=None, description="The axis of the mesh, where the variable is `axis_size`; else absent.")


class BoundMove(BaseModel):
    """What binds; null where nothing does, or the ops of a list differ in it."""

    before: Bound | None = Field(alias="from")
    to: Bound | None
    changed: bool


class QuestionDifference(BaseModel):
    """A member of the question that differs; null where it is absent."""

    pointer: str
    base: Any
    value: Any


class ComparisonRow(BaseModel):
    """An analysis against the base."""

    analysis: ComparedAnalysis
    metrics: list[Metric]
    thresholds: list[ComparedThreshold] = Field(description="Those that both have.")
    bound: BoundMove
    moves: list[Move] = Field(description="Verdicts that moved, of all layers together and of each.")
    factors: list[FactorDocument] = Field(
        description="They multiply to the ratio of the least times; none where they could not be formed, which `notes` explains. "
        "`engine` is what two engines answered otherwise."
    )
    estimate_factors: list[EstimateFactor] = Field(
        description="They multiply to the ratio of the estimates; none where one is missing, no `tile` where a side has no tiles."
    )
    cancels: list[Cancellation]
    differs: list[QuestionDifference] = Field(description="What the questions differ in.")
    notes: list[str]


class Warned(BaseModel):
    """Why an answer is not like for like with that of the base."""

    row: int
    analysis: str
    code: Literal["engine-version", "document-version", "chip-revision", "calibration", "options", "op"]
    detail: str


class SavedComparisonDocument(BaseModel):
    """Saved analyses against one of them, as they are stored; a row for each in the order given."""

    base: ComparedAnalysis
    rows: list[ComparisonRow]
    same: list[str] = Field(description="What the base and all others have in common.")
    warnings: list[Warned] = Field(description="Empty where all are like for like with the base.")
    permalink: str = Field(description="The address at which the same comparison can be read.")
    engine_version: str = Field(description="Of the engine that told the causes apart.")
