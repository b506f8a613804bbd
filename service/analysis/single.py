"""One op on one target: the report of the engine as the result of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..engine import batch
from ..engine.report import Report
from ..errors import InvalidInput, refuse
from ..schemas.evaluate import OptionsModel
from .cells import AllRows, OneRow
from .explain import explain
from .result import result
from .targets import Target
from .terms import Asked, placed

Assumed = Sequence[Any]
TOO_LARGE = "A count of this op exceeds 1e300."


@dataclass(frozen=True)
class Found:
    """The op as understood, and its result."""

    op: dict[str, Any]
    result: dict[str, Any]


def reported(asked: Asked, target: Target, options: OptionsModel) -> Report:
    """The report of one op, or of all rows of its lists. Raises `InvalidInput` with pointers into the question."""
    try:
        report = batch.evaluate(asked.term, target.machine, is_class_asked=asked.is_class_asked, overlap=options.overlap)
        row = batch.too_large(report)
        if row is not None:
            raise refuse(asked.term.pointer_to_row(row), "too-large", TOO_LARGE)
    except InvalidInput as error:
        raise placed(error, asked.pointer, asked.model) from error
    return report


def written(asked: Asked, report: Report, target: Target, options: OptionsModel, assumed: Assumed) -> Found:
    """A report as a document; one row as numbers, the rows of lists as lists; `assumed` is what was left out beside the op."""
    cells = OneRow() if asked.columns is None else AllRows(asked.columns)
    op = asked.document(report.placement.dtype)
    found = result(asked, report, cells)
    notes = found.pop("notes")
    found["assumed"] = [*asked.assumed(op), *assumed]
    found["notes"] = notes
    if options.explain:
        found["explain"] = explain(asked, batch.row_of(report, 0, report.rows), target, options.overlap)
    return Found(op, found)
