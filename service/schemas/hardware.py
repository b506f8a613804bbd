"""Requests that add to the catalogue: a chip or a system as its file states it, whole, or as the copy of another with changes."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

MOST_SOURCES: Final = 500

Sentence = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S")]


class OwnEntry(BaseModel):
    """What a request states beside the members of a file, which are read once it is known what they change."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    id: Annotated[str, Field(max_length=200)] | None = Field(default=None, description="That of the address, where it is repeated.")
    revision: Annotated[int, Field(ge=1)] | None = Field(default=None, description="The one that this request makes, where it is stated.")
    date: Annotated[str, Field(max_length=20)] | None = Field(default=None, description="Day of this revision, today by default.")
    reason: Sentence = Field(description="Why this revision is made.")
    base: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="`id` or `id@revision` of what is copied. The other members then change the copy: sections are changed member "
        "by member, a value or a list is replaced whole, null takes away.",
    )
    override: Sentence | None = Field(
        default=None, description="Why values are right although they break the rules of plausibility; without it they are refused."
    )
    sources: Annotated[dict[str, Any], Field(max_length=MOST_SOURCES)] = Field(
        default_factory=dict,
        description="The works that values cite, by key: `title`, `publisher`, and `url` and `read` (the day) where they are known. "
        "Works of the shipped catalogue and of the base need not be repeated.",
    )

    @property
    def members(self) -> dict[str, Any]:
        """The members of the file as they were sent."""
        return dict(self.model_extra or {})


class OwnChip(OwnEntry):
    """A chip to keep. All further members are those of a chip's file; beside `base` also numbers in SI as of a chip in place."""


class OwnCluster(OwnEntry):
    """A system to keep. All further members are those of a system's file."""
