"""What every entry of the catalogue states about itself, whatever it describes."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from .quantity import Confidence, Section, Slug, Strict, Text, fault


def _day(value: Any) -> dt.date:
    """A date, or the text of one. What TOML reads as a moment is none."""
    if type(value) is dt.date:
        return value
    try:
        return dt.datetime.strptime(value, "%Y-%m-%d").date()  # noqa: DTZ007 - a day has no zone
    except (TypeError, ValueError):
        raise fault("wrong-type", "A day is needed, as in 2026-01-31.") from None


Day = Annotated[dt.date, BeforeValidator(_day)]


class Entry(Section):
    """A file of the catalogue: which thing, which revision of our knowledge of it, and how far it is believed."""

    id: Slug
    revision: Annotated[int, Field(strict=True, ge=1)]
    date: Day | None = None
    """day of this revision; the first needs none"""
    reason: Text
    """why this revision exists"""
    confidence: Confidence
    confidence_why: Text
    name: Text

    @model_validator(mode="after")
    def _dated(self) -> Self:
        if self.revision > 1 and self.date is None:
            raise ValueError("a correction needs its date")
        return self

    @property
    def ref(self) -> str:
        return f"{self.id}@{self.revision}"


class Source(Strict):
    """A work that a value was taken from. Address and date read stand only where they are known."""

    title: Text
    publisher: Text
    url: Annotated[str, Field(pattern=r"^https://\S+$", max_length=500)] | None = None
    read: Day | None = None
