"""Request models of the ops, derived from the registry: a new op is asked over HTTP by being registered."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from ..engine.kinds import KINDS
from ..engine.term import Term
from .base import Strict
from .mesh import MOST_AXES, AxisName
from .numbers import Column, ColumnOrZero, ComputeName, FormatName, Whole, WholeOrZero


class ScaleModel(Strict):
    """Scales stored beside an operand, one per group along the contraction or one per block."""

    group_size: Whole | None = Field(default=None, description="elements along the contraction that share a scale")
    block: list[Whole] | None = Field(
        default=None, min_length=1, max_length=52, description="elements per block, one size per dim of the operand in its own order"
    )
    dtype: FormatName = Field(description="format of a scale")
    zero_point_dtype: FormatName | None = Field(default=None, description="format of a zero point beside each scale")

    @model_validator(mode="after")
    def _one_shape(self) -> ScaleModel:
        if (self.group_size is None) == (self.block is None):
            raise PydanticCustomError("invalid-request", "State either group_size or block.")
        return self


class OpModel(Strict):
    """Base of the derived models."""

    kind: str


def _annotation(field: dataclasses.Field[Any], *, columns: bool) -> Any:
    metadata = field.metadata
    lists = columns and metadata.get("columns", True)
    if metadata.get("least") == 0:
        number: Any = ColumnOrZero if lists else WholeOrZero
    else:
        number = Column if lists else Whole
    return {
        "whole": number,
        "dtype": FormatName,
        "class": ComputeName,
        "scale": ScaleModel,
        "name": Literal[metadata.get("names", ())],
        "flag": bool,
        "axes": Annotated[list[AxisName], Field(min_length=1, max_length=MOST_AXES)],
        "equation": Annotated[str, Field(min_length=1, max_length=256)],
        "sizes": dict[Annotated[str, Field(min_length=1, max_length=1)], number],
    }[metadata["form"]]


def _member(field: dataclasses.Field[Any], *, columns: bool) -> Any:
    kind, default = _annotation(field, columns=columns), field.metadata["default"]
    description = field.metadata["meaning"]
    if default is dataclasses.MISSING:
        return kind, Field(description=description)
    return (kind | None if default is None else kind), Field(default=default, description=description)


class Family(Enum):
    """Where an op stands in a request decides what its members may hold."""

    COLUMNS = "Op"
    """alone: a list may stand for a number"""
    LISTED = "InList"
    """in a list of ops: with a count"""
    PLAIN = "Alone"
    """one of several cases: numbers only"""


def _model(kind: str, cls: type[Term], family: Family) -> type[OpModel]:
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    members = {field.name: _member(field, columns=family is Family.COLUMNS) for field in fields}
    if family is Family.LISTED:
        members["count"] = (Whole, Field(default=1, description="how many times the op runs"))
    name = "".join(part.capitalize() for part in kind.split("_"))
    model: type[OpModel] = create_model(
        f"{name}{family.value}",
        __base__=OpModel,
        __doc__=cls.description.splitlines()[0],
        **{"kind": (Literal[kind], Field(description="which op")), **members},
    )
    return model


def models(family: Family) -> dict[str, type[OpModel]]:
    """The model of every op, by its kind."""
    return {kind: _model(kind, cls, family) for kind, cls in KINDS.items()}


def union(models: Mapping[str, type[OpModel]]) -> Any:
    """Any of `models`, told apart by their kinds."""
    return Annotated[reduce(or_, models.values()), Field(discriminator="kind")]


OP_MODELS = models(Family.COLUMNS)
LISTED_MODELS = models(Family.LISTED)
PLAIN_MODELS = models(Family.PLAIN)

if TYPE_CHECKING:  # the unions are made from the registry, which a type checker does not run
    Op = OpModel
    ListedOp = OpModel
    PlainOp = OpModel
else:
    Op = union(OP_MODELS)
    ListedOp = union(LISTED_MODELS)
    PlainOp = union(PLAIN_MODELS)
