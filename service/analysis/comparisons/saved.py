"""A saved analysis as comparisons read it: its question, its answer, and each of its ops as if it had been asked alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from ...storage import Analysis
from .. import against

Document = Mapping[str, Any]


class SavedOp(NamedTuple):
    """An op with its result."""

    op: Document
    result: Document
    runs: int
    """how many times it runs"""


@dataclass(frozen=True)
class Saved:
    """An analysis, its texts read."""

    analysis: Analysis
    question: Document
    answer: Document

    @classmethod
    def of(cls, analysis: Analysis) -> Saved:
        return cls(analysis, orjson.loads(analysis.question), orjson.loads(analysis.answer))

    @property
    def is_list(self) -> bool:
        return "ops" in self.question

    @property
    def result(self) -> Document:
        found: Document = self.answer["result"]
        return found

    @cached_property
    def ops(self) -> Sequence[SavedOp]:
        """The op, or those of the list in their order."""
        if not self.is_list:
            return [SavedOp(self.question["op"], self.result, 1)]
        return [SavedOp(op, result, result["count"]) for op, result in zip(self.question["ops"], self.result["per_op"], strict=True)]

    @property
    def times(self) -> Document:
        """The times of the op, or those of all ops after one another [s]."""
        found: Document = self.result["totals"]["time"] if self.is_list else self.result["time"]
        return found

    @property
    def tiled_s(self) -> float | None:
        """The time that the tiles of all ops take [s]; None where one of them has none."""
        times = [against.tiled_s(op.result) for op in self.ops]
        known = [op.runs * seconds for op, seconds in zip(self.ops, times, strict=True) if seconds is not None]
        return sum(known) if len(known) == len(times) else None

    @property
    def bound(self) -> str | None:
        """What binds all ops; None where they differ in it."""
        bounds = {each.result["bound"] for each in self.ops}
        return bounds.pop() if len(bounds) == 1 else None
