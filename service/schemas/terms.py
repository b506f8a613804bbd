"""Request models of the ops, derived from the registry: a new op is asked over HTTP by being registered."""

from __future__ import annotations

import dataclasses
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from ..engine.ops import OPS
from ..engine.term import Term
from .base import Later, Strict
from .numbers import Column, ColumnOrZero, ComputeName, DTypeName, Whole, WholeOrZero


class ScaleModel(Strict):
    """Scales stored beside an operand, one per group along the contraction or one per block."""

    group_size: Whole | None = Field(default=None, description="elements along the contraction that share a scale")
    block: list[Whole] | None = Field(
        default=None, min_length=1, max_length=52, description="elements per block, one size per dim of the operand in its own order"
    )
    dtype: DTypeName = Field(description="format of a scale")
    zero_point_dtype: DTypeName | None = Field(default=None, description="format of a zero point beside each scale")

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
        "dtype": DTypeName,
        "class": ComputeName,
        "scale": ScaleModel,
        "name": Literal[metadata.get("names", ())],
        "equation": Annotated[str, Field(min_length=1, max_length=256)],
        "sizes": dict[Annotated[str, Field(min_length=1, max_length=1)], number],
    }[metadata["form"]]


def _member(field: dataclasses.Field[Any], *, columns: bool) -> Any:
    kind, default = _annotation(field, columns=columns), field.metadata["default"]
    description = field.metadata["meaning"]
    if default is dataclasses.MISSING:
        return kind, Field(description=description)
    return (kind | None if default is None else kind), Field(default=default, description=description)


def _model(kind: str, cls: type[Term], *, columns: bool) -> type[OpModel]:
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    members = {field.name: _member(field, columns=columns) for field in fields}
    if not columns:
        members["count"] = (Whole, Field(default=1, description="how many times the op runs"))
    if "a_dtype" in members:
        members["a_quantized_from"] = (Later, None)
    name = "".join(part.capitalize() for part in kind.split("_"))
    model: type[OpModel] = create_model(
        f"{name}Op" if columns else f"{name}InList",
        __base__=OpModel,
        __doc__=cls.description.splitlines()[0],
        **{"kind": (Literal[kind], Field(description="which op")), **members},
    )
    return model


OP_MODELS = {kind: _model(kind, cls, columns=True) for kind, cls in OPS.items()}
"""One op, in which a list may stand for a number."""

LISTED_MODELS = {kind: _model(kind, cls, columns=False) for kind, cls in OPS.items()}
"""An op in a list of ops."""

if TYPE_CHECKING:  # the unions are made from the registry, which a type checker does not run
    Op = OpModel
    ListedOp = OpModel
else:
    Op = Annotated[reduce(or_, OP_MODELS.values()), Field(discriminator="kind")]
    ListedOp = Annotated[reduce(or_, LISTED_MODELS.values()), Field(discriminator="kind")]
