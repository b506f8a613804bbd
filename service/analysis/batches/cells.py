"""The use cases of cells: one number for one question, or a column of them for each of several, asked by the members of the question.

A question is the row of a table under the names of its columns, so a cell says what the table would. What does not exist is written
`#N/A`, because an empty text counts as 0 in a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from ...catalogue import Catalogue
from ...errors import Fault, Gathered, InvalidInput, NotFound, OverLimit, ServiceError, near, refuse
from ...pointers import pointer
from ...tables.table import Table
from . import heading
from .evaluation import Evaluation, unwatched
from .fields import KIND, find, names
from .questions import Faults, Questions
from .refusals import perhaps, sentences

ABSENT: Final = "#N/A"
FAILED: Final = "#ERR"

MOST_VALUES: Final = 1_000
"""Of one answer."""

MOST_SUGGESTED: Final = 5
"""Unknown parameters for which the ones that may be meant are looked for; that costs more than an answer."""

_NO_NUMBERS: Final = frozenset({"bound", "fits"})
_EQUATION: Final = find("equation")
_IN_REQUEST: Final = re.compile("^/(query|path)")
_SECONDS: Final[Mapping[str, float]] = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


@dataclass(frozen=True)
class Metric:
    """What a cell can ask for: a column of a table, and the unit of its numbers, None where it has none."""

    name: str
    column: str
    unit: str | None
    meaning: str

    @property
    def units(self) -> tuple[str, ...]:
        """The units that may be asked for."""
        return tuple(_SECONDS) if self.unit == "s" else ("us",) if self.unit == "us" else ()


METRICS: Final[Mapping[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric("time_s", "time_s", "s", "least time, all overlaps"),
        Metric("time_us", "time_s", "us", "least time, all overlaps"),
        Metric("estimate_s", "estimate_s", "s", "what a good kernel takes; not-supported-yet where none was measured"),
        Metric("bound", "bound", None, "compute, hbm, network or balanced"),
        Metric("intensity_flops_per_byte", "intensity_flops_per_byte", "FLOP/B", "operations over bytes"),
        Metric("critical_intensity_flops_per_byte", "critical_intensity_flops_per_byte", "FLOP/B", "peak over bandwidth"),
        Metric("threshold_m", "threshold_m", None, "the m at which compute and hbm change places"),
        Metric("fits", "fits", None, "whether all bytes of the op fit the HBM at once: true or false"),
    )
}


@dataclass(frozen=True)
class Style:
    """How a number is written."""

    unit: str | None = None
    decimals: int | None = None

    def refusal(self, metric: Metric) -> InvalidInput | None:
        """Why a metric cannot be written so, at /query/unit or /query/decimals."""
        if self.unit is not None and self.unit not in metric.units:
            return refuse("/query/unit", "out-of-range", f"{metric.name} is not given in this unit.", metric.units)
        if self.decimals is not None and metric.name in _NO_NUMBERS:
            return refuse("/query/decimals", "out-of-range", f"{metric.name} is no number.")
        return None

    def text(self, metric: Metric, value: Any) -> str:
        """A value as the text of a cell."""
        if value is None:
            return ABSENT
        if metric.name in _NO_NUMBERS:
            return str(value).lower()
        factor = _SECONDS.get((self.unit if self.unit in metric.units else metric.unit) or "")
        number = value if factor is None else value * factor
        return repr(number) if self.decimals is None else f"{number:.{self.decimals}f}"


def metric(name: str) -> Metric:
    """The metric of a name in a path. Raises NotFound."""
    if name not in METRICS:
        raise NotFound("There is no metric of this name.", suggestions=near(name, METRICS))
    return METRICS[name]


def metrics(names: str) -> list[Metric]:
    """The metrics of `time_us,bound`. Raises InvalidInput at /query/metrics."""
    found = names.split(",")
    faults = [
        Fault("/query/metrics", "unknown-member", "There is no metric of this name.", near(name, METRICS))
        for name in found
        if name not in METRICS
    ]
    if faults:
        raise InvalidInput(faults)
    return [METRICS[name] for name in found]


def cell(asked: Metric, members: Mapping[str, str], style: Style, catalogue: Catalogue) -> str:
    """One metric of one question. Raises InvalidInput with pointers into the query."""
    wrong = Gathered()
    wrong.of(Cells([asked], style).check_style)
    found = wrong.of(lambda: _answered([asked], {name: [text] for name, text in members.items()}, catalogue, "/path/metric"))
    if found is not None and found.faults:
        wrong.add(*(replace(fault, pointer=f"/query{fault.pointer}") for fault in found.faults[0]))
    wrong.check()
    assert found is not None
    return style.text(asked, found.values[asked.column][0])


@dataclass(frozen=True)
class Cells:
    """Metrics of several questions, a row for each."""

    metrics: Sequence[Metric]
    style: Style = Style()
    has_header: bool = False
    marks_errors: bool = False
    """whether what cannot be answered says so in its cells"""

    def check_style(self) -> None:
        """Nothing, if one metric at least can be written so; the others pass over what they do not take. Raises InvalidInput."""
        for part in (Style(unit=self.style.unit), Style(decimals=self.style.decimals)):
            refusals = [error for each in self.metrics if (error := part.refusal(each)) is not None]
            if len(refusals) == len(self.metrics):
                raise refusals[0]


def cells(asked: Cells, members: Mapping[str, str], catalogue: Catalogue) -> str:
    """The cells as CSV. A member with several values has one for each question, with commas between them.

    Raises InvalidInput with pointers into the query (column-length, what is wrong with questions that may not be marked), OverLimit.
    """
    wrong = Gathered()
    wrong.of(asked.check_style)
    lists = wrong.of(lambda: _lists(members))
    if lists is None:
        raise InvalidInput(wrong.faults)
    rows = max(map(len, lists.values()), default=1)
    if rows * len(asked.metrics) > MOST_VALUES:
        raise OverLimit(f"One answer has at most {MOST_VALUES} values. Ask in several requests, or send a table.")
    full = {name: values * rows if len(values) == 1 else values for name, values in lists.items()}
    found = wrong.of(lambda: _answered(asked.metrics, full, catalogue, "/query/metrics"))
    if found is not None and not asked.marks_errors:
        wrong.add(*(_located(fault, row, lists) for row, faults in found.faults.items() for fault in faults))
    wrong.check()
    assert found is not None
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([[each.name for each in asked.metrics]] if asked.has_header else [])
    for row in range(rows):
        failure = failed(InvalidInput(found.faults[row])) if row in found.faults else None
        writer.writerow([failure or asked.style.text(each, found.values[each.column][row]) for each in asked.metrics])
    return out.getvalue()


def failed(error: ServiceError) -> str:
    """A refusal as the text of a cell."""
    if isinstance(error, InvalidInput):
        said = sentences([replace(fault, pointer=_IN_REQUEST.sub("", fault.pointer)) for fault in error.faults])
    else:
        said = error.detail + perhaps(error.suggestions if isinstance(error, NotFound) else ())
    return f"{FAILED} {error.code}: {said}"


def _lists(members: Mapping[str, str]) -> dict[str, list[str]]:
    """The values of each member. An equation has commas of its own, so that several are told apart by semicolons."""
    lists = {name: text.split(";" if find(name) is _EQUATION else ",") for name, text in members.items()}
    rows = next((len(values) for values in lists.values() if len(values) > 1), 1)
    faults = [
        Fault(
            f"/query{pointer([name])}",
            "column-length",
            f"The first list has {rows} values and this one {len(values)}.",
        )
        for name, values in lists.items()
        if len(values) not in {1, rows}
    ]
    if faults:
        raise InvalidInput(faults)
    return lists


def _located(fault: Fault, row: int, lists: Mapping[str, Sequence[str]]) -> Fault:
    """A fault of a row at the value in the query, by its place where the member has several."""
    at = f"/{row}" if any(pointer([name]) == fault.pointer and len(values) > 1 for name, values in lists.items()) else ""
    return replace(fault, pointer=f"/query{fault.pointer}{at}")


def _unknown(name: str, suggestions: tuple[str, ...]) -> Fault:
    return Fault(f"/query{pointer([name])}", "unknown-parameter", "There is no such query parameter here.", suggestions)


class _Answered(NamedTuple):
    """The answers by column, and what is wrong by row."""

    values: Mapping[str, Sequence[Any]]
    faults: Faults


def _answered(asked: Sequence[Metric], columns: Mapping[str, Sequence[str]], catalogue: Catalogue, at: str) -> _Answered:
    """What is asked, of every row; `at` is where the metrics are named."""
    if unknown := [name for name in columns if find(name) is None]:
        raise InvalidInput([_unknown(name, near(name, names()) if place < MOST_SUGGESTED else ()) for place, name in enumerate(unknown)])
    if not {KIND.name, KIND.whole_name} & columns.keys():
        columns = {KIND.name: [""] * max(map(len, columns.values()), default=1), **columns}
    table = Table(tuple(columns), tuple(columns.values()), decimal=".")
    questions = Questions(table, heading.read(table.header, {}), passes_blanks=False)
    evaluation = Evaluation(questions, dict.fromkeys(each.column for each in asked), catalogue)
    evaluation.run(unwatched)
    found = questions.in_order()
    if any(value is None and row not in found for row, value in enumerate(evaluation.values.get("estimate_s", ()))):
        raise refuse(at, "not-supported-yet", "This version does not estimate the time of this.")
    return _Answered(evaluation.values, found)
