"""The questions of `/v1/charts/roofline`: the roof of a chip; cases and saved analyses to draw on the roofs of their chips."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from .base import Strict
from .compare import CaseModel
from .limits import MAX_CASES, MAX_POINTS

AnalysisId = Annotated[str, Field(min_length=1, max_length=100)]
Points = Annotated[int, Field(ge=2, description="points of each roof, log-spaced", json_schema_extra={"maximum": MAX_POINTS})]


class ChartQuery(Strict):
    """One roof of a chip."""

    chip: Annotated[str, Field(min_length=1, max_length=200, description="`id`, or `id@revision`.")]
    dtype: Annotated[str, Field(min_length=1, max_length=40, description="A number format, or an arithmetic class.")]
    points: Points = 64


class ChartQuestion(Strict):
    """What is drawn, in the order given: cases first, then analyses."""

    cases: list[CaseModel] = Field(default_factory=list, json_schema_extra={"maxItems": MAX_CASES})
    analyses: list[AnalysisId] = Field(default_factory=list, description="ids of saved analyses", json_schema_extra={"maxItems": MAX_CASES})
    points: Points = 64

    @model_validator(mode="after")
    def _something(self) -> ChartQuestion:
        if not self.cases and not self.analyses:
            raise PydanticCustomError("missing", "State cases, or analyses.", {"at": "cases"})
        for at, case in enumerate(self.cases):
            if case.target is None:
                raise PydanticCustomError("missing", "A case needs a target.", {"at": ["cases", at, "target"]})
        return self
