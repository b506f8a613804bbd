"""Requests about saved analyses."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from .base import Strict
from .evaluate import Question

MOST_LABELS: Final = 64  # of one analysis

LABEL_KEY: Final = "[A-Za-z0-9][A-Za-z0-9._/-]{0,62}"
LabelKey = Annotated[str, Field(pattern=rf"^{LABEL_KEY}$", max_length=63)]
LabelValue = Annotated[str, Field(max_length=255)]
Labels = Annotated[dict[LabelKey, LabelValue], Field(max_length=MOST_LABELS, description="words to find an analysis by")]
Note = Annotated[str, Field(max_length=4096, description="a remark for people")]
LabelChanges = Annotated[dict[LabelKey, LabelValue | None], Field(max_length=2 * MOST_LABELS)]
"""Enough to take every label away and give as many others."""


class SavedQuestion(Question):
    """A question that is kept with its answer."""

    labels: Labels = Field(default_factory=dict)
    note: Note | None = None


def _nothing() -> None:
    """A default that the published schema leaves out: there `null` would read as what an absent member means."""


class AnalysisChange(Strict):
    """What to change of a saved analysis, as a JSON merge patch (RFC 7396): an absent member stays as it is, null removes."""

    labels: LabelChanges | None = Field(
        default_factory=_nothing,
        description="labels by key: a string sets the label, null removes it, and labels that are not named stay; "
        f"null instead of the object removes all. The analysis may then have {MOST_LABELS} labels",
    )
    note: Note | None = Field(default_factory=_nothing, description="the new remark; null removes it")
