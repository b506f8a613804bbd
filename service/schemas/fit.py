"""The question of `POST /v1/fit`: ops, the hardware whose memory is to hold them, their layouts."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from .evaluate import LISTS_ARE_WHOLE, OneOrMany, PlanModel
from .sharding import ShardingModel
from .target import TargetModel


class FitQuestion(OneOrMany):
    """Whether an op, or all ops of a list, fit the memory of each chip of one target."""

    target: TargetModel
    sharding: ShardingModel | None = None
    options: PlanModel = PlanModel()

    @model_validator(mode="after")
    def _sharded_alone(self) -> Self:
        if self.ops is not None and self.sharding is not None:
            raise PydanticCustomError("invalid-request", LISTS_ARE_WHOLE, {"at": "sharding"})
        return self
