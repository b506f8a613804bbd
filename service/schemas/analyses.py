"""Requests about saved analyses."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .evaluate import Question

LabelKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$", max_length=63)]
LabelValue = Annotated[str, Field(max_length=255)]
Labels = Annotated[dict[LabelKey, LabelValue], Field(max_length=64, description="words to find an analysis by")]
Note = Annotated[str, Field(max_length=4096, description="a remark for people")]


class SavedQuestion(Question):
    """A question that is kept with its answer."""

    labels: Labels = Field(default_factory=dict)
    note: Note | None = None
