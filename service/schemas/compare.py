"""The question of `POST /v1/compare`: cases beside each other, or one case on every chip."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from .base import Strict
from .evaluate import MeasuredSeconds, OptionsModel
from .limits import MAX_CASES
from .sharding import ShardingModel
from .target import TargetModel
from .terms import PlainOp


class CaseModel(Strict):
    """One op on one target."""

    op: PlainOp
    target: TargetModel | None = Field(default=None, description="may be left out only where `chips` is given")
    options: OptionsModel = OptionsModel()
    measured_s: MeasuredSeconds | None = None
    sharding: ShardingModel | None = None


class Comparison(Strict):
    """Two or more cases, the first being the one that the others are held against; or one case on all chips."""

    cases: Annotated[list[CaseModel], Field(min_length=1, json_schema_extra={"maxItems": MAX_CASES})]
    chips: Literal["all"] | None = Field(
        default=None, description='"all": the one case on every chip of the catalogue that can run it, its own target first'
    )

    @model_validator(mode="after")
    def _enough(self) -> Comparison:
        if self.chips is not None and len(self.cases) > 1:
            raise PydanticCustomError("invalid-request", "With chips, state one case.", {"at": ["cases", 1]})
        if self.chips is None and len(self.cases) < 2:
            raise PydanticCustomError("out-of-range", "A comparison needs at least two cases, or chips.", {"at": "cases"})
        for at, case in enumerate(self.cases):
            if case.target is None and self.chips is None:
                raise PydanticCustomError("missing", "A case needs a target.", {"at": ["cases", at, "target"]})
        return self
