"""Requests about the catalogue."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ..catalogue.selection import Selection
from ..engine.dtypes import arithmetic
from .base import Strict
from .numbers import ComputeName


class ChipFilters(Strict):
    """Which chips are asked for. A chip passes every filter that is given."""

    vendor: Annotated[str | None, Field(min_length=1, max_length=100, description="As the chips have it, such as `nvidia`.")] = None
    kind: Annotated[Literal["gpu", "tpu", "npu", "cpu"] | None, Field(description="Kind of processor.")] = None
    dtype: Annotated[
        ComputeName | None, Field(description="An arithmetic class that a unit has a peak for, or a number format that computes in it.")
    ] = None
    year: Annotated[int | None, Field(ge=2010, le=2100, description="Year of the launch.")] = None
    text: Annotated[
        str | None,
        Field(pattern=r"\S", max_length=200, description="Words that all stand in id, name or architecture, in any case."),
    ] = None

    def selection(self) -> Selection:
        """The filters as the catalogue applies them."""
        return Selection(
            vendor=self.vendor,
            kind=self.kind,
            arithmetic=None if self.dtype is None else arithmetic(self.dtype, "/query/dtype"),
            year=self.year,
            text=self.text,
        )
