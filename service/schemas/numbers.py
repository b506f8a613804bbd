"""The numbers of a request: whole ones, rates, capacities; a number or a column of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from ..engine.dtypes import ALIASES, CLASSES, DTYPES
from ..engine.term import LARGEST_DIM
from ..errors import near

Whole = Annotated[int, Field(ge=1, le=LARGEST_DIM)]
"""A whole number that float64 holds exactly."""

Capacity = Annotated[int, Field(ge=1, le=2**63 - 1, description="bytes")]

Rate = Annotated[float, Field(ge=1.0, le=1e30, allow_inf_nan=False)]
"""A peak [FLOP/s] or a bandwidth [B/s]."""


def without_sign_of_zero(number: float) -> float:
    """-0.0 is the same number as 0.0 and must be the same question."""
    return number + 0.0


WholeOrZero = Annotated[int, Field(ge=0, le=LARGEST_DIM)]


def _tag(value: object) -> str:
    return "@list" if isinstance(value, list) else "@number"


Column = Annotated[
    Annotated[Whole, Tag("@number")] | Annotated[list[Whole], Field(min_length=1), Tag("@list")],
    Discriminator(_tag),
]
"""One number, or one number per row."""

ColumnOrZero = Annotated[
    Annotated[WholeOrZero, Tag("@number")] | Annotated[list[WholeOrZero], Field(min_length=1), Tag("@list")],
    Discriminator(_tag),
]


_FORMATS = (*DTYPES, *ALIASES)
_CLASSES = tuple(dict.fromkeys((*CLASSES, *DTYPES, *ALIASES)))


def _storage(name: str) -> str:
    return _known(name, _FORMATS, "There is no number format of this name.")


def _arithmetic(name: str) -> str:
    return _known(name, _CLASSES, "There is no arithmetic class of this name.")


def _peak_class(name: str) -> str:
    return _known(name, CLASSES, "Peaks are keyed by arithmetic class, and there is none of this name.")


def _known(name: str, names: tuple[str, ...], detail: str) -> str:
    if name not in names:
        raise PydanticCustomError("unknown-dtype", "{detail}", {"detail": detail, "suggestions": list(near(name, names))})
    return name


FormatName = TypeAliasType(
    "FormatName",
    Annotated[str, AfterValidator(_storage), WithJsonSchema({"type": "string", "enum": list(_FORMATS), "description": "A number format."})],
)
"""A storage format, aliases included. The OpenAPI document has it once, under this name."""

ComputeName = TypeAliasType(
    "ComputeName",
    Annotated[
        str,
        AfterValidator(_arithmetic),
        WithJsonSchema(
            {
                "type": "string",
                "enum": list(_CLASSES),
                "description": "An arithmetic class, or a number format that stands for its class.",
            }
        ),
    ],
)
"""An arithmetic class, or a storage format that stands for its class; once in the OpenAPI document, as `FormatName`."""

PeakClass = Annotated[str, AfterValidator(_peak_class), WithJsonSchema({"type": "string", "enum": list(CLASSES)})]
"""The key of a peak."""

Peaks = TypeAliasType("Peaks", dict[PeakClass, Rate])
"""Peaks of a unit by arithmetic class [FLOP/s]."""
