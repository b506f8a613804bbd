"""The question of `POST /v1/evaluate`: one op or a list of ops, the hardware, options."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from .base import Strict
from .limits import MAX_OPS
from .numbers import Whole, without_sign_of_zero
from .sharding import ShardingModel
from .target import TargetModel
from .terms import ListedOp, Op

MeasuredSeconds = Annotated[
    float, Field(ge=1e-12, le=1e12, allow_inf_nan=False, description="time that was measured for the op or the list of ops, s")
]

LISTS_ARE_WHOLE = "A sharding belongs to one op, not to a list."


class PlanModel(Strict):
    """How what the chips exchange is found and counted."""

    collectives: Literal["exact", "asymptotic"] = Field(
        default="exact",
        description="exact: with the factors of the size of a group, (N−1)/N; asymptotic: without, as the literature approximates",
    )
    plan: Literal["rules", "cheapest"] = Field(
        default="rules",
        description="rules: what the sharding as written calls for; cheapest: of all plans with the same result the fastest",
    )


class TileModel(Strict):
    """A tile of a matrix product: rows and columns of the output that a core computes, and elements of k that it takes at a step."""

    m: Whole = Field(description="rows")
    n: Whole = Field(description="columns")
    k: Whole = Field(description="elements of k in one step of the main loop; k is not split over cores")


def _tag(value: Any) -> str:
    return "@word" if isinstance(value, str) else "@numbers"


TileChoice = Annotated[
    Annotated[Literal["auto", "none"], Tag("@word")] | Annotated[TileModel, Tag("@numbers")],
    Discriminator(_tag),
]


class OptionsModel(PlanModel):
    """How the question is evaluated."""

    overlap: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False), AfterValidator(without_sign_of_zero)] = Field(
        default=1.0, description="share of the hideable time that is hidden; 1 gives the lower bound, 0 the upper"
    )
    explain: bool = Field(default=False, description="add the five steps with formulas, numbers and sources")
    tile: TileChoice = Field(
        default="auto",
        description="auto: the tile of a good kernel; none: as auto, but nothing is said of tiles; or the tile of a matrix product, "
        "used exactly",
    )
    launch: Literal["graph", "eager"] = Field(
        default="graph", description="graph: device time in a steady loop; eager: with the launch of each op by the host"
    )
    cache: Literal["cold", "resident"] = Field(
        default="cold", description="cold: every operand comes from HBM; resident: those that fit the last cache come from there"
    )


class OneOrMany(Strict):
    """An op, or ops that run one after another."""

    op: Op | None = None
    ops: Annotated[list[ListedOp], Field(min_length=1, json_schema_extra={"maxItems": MAX_OPS})] | None = None

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if self.op is None and self.ops is None:
            raise PydanticCustomError("missing", "State op, or ops.", {"at": "op"})
        if self.op is not None and self.ops is not None:
            raise PydanticCustomError("invalid-request", "State op or ops, not both.", {"at": "ops"})
        return self


class Question(OneOrMany):
    """An op, or ops that run one after another, on one target."""

    target: TargetModel
    options: OptionsModel = OptionsModel()
    sharding: ShardingModel | None = None
    measured_s: MeasuredSeconds | None = None

    @model_validator(mode="after")
    def _sharded_alone(self) -> Self:
        if self.ops is not None and self.sharding is not None:
            raise PydanticCustomError("invalid-request", LISTS_ARE_WHOLE, {"at": "sharding"})
        return self
