"""An analysis as the store takes and gives it: what lists show, and with the two documents the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

SPACE = "default"


@dataclass(frozen=True, kw_only=True)
class Headline:
    """What lists show of an analysis, and are filtered and ordered by.

    id             derived by the caller from space, engine version and question, so equal ids mean equal questions
    created_us     when it was first kept [µs since 1970-01-01 UTC]
    lower_s        the roofline's lower bound [s]; estimate_s [s] where the answer has one
    chip_id        None, as chip_revision, where the chip's numbers stand in the question itself
    dtype, bound   None where the ops of the question differ in it
    version        1 at first, and one more with every change of labels or note
    """

    id: str
    space: str = SPACE
    created_us: int
    kind: str
    chip_id: str | None
    chip_revision: int | None
    dtype: str | None
    bound: str | None
    lower_s: float
    estimate_s: float | None
    engine_version: str
    question_digest: str
    target_digest: str
    document_version: int
    note: str | None = None
    version: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Analysis(Headline):
    """A question with its answer, both as the canonical JSON text that was stored."""

    question: str
    answer: str

    @property
    def headline(self) -> Headline:
        """The analysis without its documents."""
        return Headline(**{each.name: getattr(self, each.name) for each in fields(Headline)})
