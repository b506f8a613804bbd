"""The question of `POST /v1/rank`: ops, and the places where they could run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import Strict
from .evaluate import OneOrMany, PlanModel
from .limits import MAX_CANDIDATES
from .sharding import ShardingModel
from .target import TargetModel

Objective = Literal["time", "chip_time"]


class CandidateModel(Strict):
    """A place where the op could run."""

    id: str = Field(min_length=1, max_length=200, description="a name of the caller's, which no other candidate has")
    target: TargetModel
    sharding: ShardingModel | None = None


class ConstraintsModel(Strict):
    """What a candidate has to meet to be ranked."""

    fits: bool = Field(default=False, description="true: what each chip holds must fit its HBM")
    max_time_s: Annotated[float, Field(ge=1e-12, le=1e12, allow_inf_nan=False)] | None = Field(
        default=None, description="the longest time_s, seconds"
    )


class RankQuestion(OneOrMany):
    """An op, or ops that run one after another, and the candidates."""

    candidates: Annotated[list[CandidateModel], Field(min_length=1, json_schema_extra={"maxItems": MAX_CANDIDATES})]
    objective: Objective = Field(default="time", description="time: the least time_s first; chip_time: the least time_s × devices")
    constraints: ConstraintsModel = ConstraintsModel()
    options: PlanModel = PlanModel()
