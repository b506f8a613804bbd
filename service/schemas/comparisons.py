"""The questions of `/v1/comparisons`: saved analyses to hold against one of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import Strict
from .charts import AnalysisId
from .exports import ExportQuery
from .limits import MAX_COMPARED


class SavedComparison(Strict):
    """Which analyses are held against which."""

    base: AnalysisId = Field(description="id of the analysis that the others are held against")
    others: Annotated[list[AnalysisId], Field(min_length=1, json_schema_extra={"maxItems": MAX_COMPARED})] = Field(
        description="ids of analyses, a row for each in this order"
    )
    strict: bool = Field(default=False, description="whether to refuse analyses that are not like for like with the base")


class LinkedComparison(ExportQuery):
    """The same as an address, and in which form."""

    base: Annotated[AnalysisId, Field(description="Id of the analysis that the others are held against.")]
    others: Annotated[
        str, Field(pattern=r"^[^,]{1,100}(,[^,]{1,100})*$", max_length=6000, description="Ids of analyses, separated by commas.")
    ]
    strict: Annotated[
        Literal["true", "false"], Field(description="Whether to refuse analyses that are not like for like with the base.")
    ] = "false"

    @property
    def question(self) -> SavedComparison:
        """The comparison that the address means."""
        return SavedComparison(base=self.base, others=self.others.split(","), strict=self.strict == "true")
