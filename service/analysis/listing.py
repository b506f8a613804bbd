"""A list of ops that run one after another: evaluated in groups, answered in the given order, added up."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from ..engine import batch
from ..engine.report import Report
from ..engine.term import Term
from ..errors import Fault, InvalidInput
from ..schemas.terms import OpModel
from .cells import EXACT
from .kernels import BASES
from .magnitude import check
from .result import ESTIMATES
from .single import TOO_LARGE, Found, Setting, written
from .terms import Asked, placed, read

C = TypeVar("C", bound=batch.Counts)

TIMES = ("lower_s", "upper_s", "overlapped_s")


def evaluate(models: Sequence[OpModel], setting: Setting, assumed: Sequence[Any]) -> Found:
    """All ops of a list, with their totals.

    Ops of one kind with the same choices are the rows of one engine call. Raises `InvalidInput` with the faults of all ops.
    """
    asked = read_all(models)
    reports = _reports(asked, setting)
    found = [written(each, reports[at], setting, []) for at, each in enumerate(asked)]
    counts = [count(each) for each in asked]
    results = [{**each.result, "count": times} for each, times in zip(found, counts, strict=True)]
    ops = [{**each.op, "count": times} for each, times in zip(found, counts, strict=True)]
    return Found({"ops": ops}, {"per_op": results, "totals": _totals(results), "assumed": list(assumed)})


def count(asked: Asked) -> int:
    """How many times an op of a list runs."""
    times: int = getattr(asked.model, "count")  # noqa: B009 - a member of models that are made from the registry
    return times


def read_all(models: Sequence[OpModel]) -> list[Asked]:
    """The terms that a list asks for. Raises `InvalidInput` with the faults of all ops."""
    asked: list[Asked] = []
    faults: list[Fault] = []
    for at, model in enumerate(models):
        try:
            asked.append(read(model, f"/ops/{at}"))
        except InvalidInput as error:
            faults += error.faults
    if faults:
        raise InvalidInput(faults)
    return asked


def _reports(asked: Sequence[Asked], setting: Setting) -> dict[int, Report]:
    """The report of each op by its place in the list."""
    together = in_groups(asked, lambda group: _together(group, setting))
    return {place: row for places, report in together for place, row in zip(places, batch.rows_of(report, len(places)), strict=True)}


def in_groups(asked: Sequence[Asked], answer: Callable[[Sequence[Asked]], C]) -> list[tuple[list[int], C]]:
    """What `answer` says of ops that are rows of one engine call, a row per op, with their places in the list."""
    groups: dict[Hashable, list[int]] = {}
    for at, each in enumerate(asked):
        groups.setdefault(each.choices, []).append(at)
    answers: list[tuple[list[int], C]] = []
    faults: dict[int, Sequence[Fault]] = {}
    for places in groups.values():
        try:
            found = answer([asked[at] for at in places])
        except InvalidInput as error:
            faults |= {at: placed(error, asked[at].pointer, asked[at].model).faults for at in places}
            continue
        row = batch.too_large(found)
        if row is not None:
            faults[places[row]] = [Fault(asked[places[row]].pointer, "too-large", TOO_LARGE)]
        answers.append((places, found))
    if faults:
        raise InvalidInput(list(dict.fromkeys(fault for at in sorted(faults) for fault in faults[at])))
    return answers


def stacked(asked: Sequence[Asked]) -> Term:
    """The ops of a group as the rows of one term."""
    return batch.stacked([each.term for each in asked])


def _together(asked: Sequence[Asked], setting: Setting) -> Report:
    """One report with a row per op."""
    term, overlap = stacked(asked), setting.options.overlap
    return batch.evaluate(term, setting.target.machine, setting.fabric, is_class_asked=asked[0].is_class_asked, overlap=overlap)


def _totals(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Sums of count × value. Raises `InvalidInput` (too-large)."""

    def total(values: list[Any]) -> Any:
        whole = sum(result["count"] * value for result, value in zip(results, values, strict=True))
        return float(whole) if isinstance(whole, int) and whole > EXACT else whole

    sums = {
        "flops": total([each["flops"] for each in results]),
        "vector_flops": total([each["vector_flops"] for each in results]),
        "bytes_total": total([each["bytes"]["total"] for each in results]),
    }
    times = {name: total([each["time"][name] for each in results]) for name in TIMES}
    check("/ops", "A total of these ops", *sums.values(), *times.values())
    return {**sums, "time": {**times, **_estimates(results, total)}}


def _estimates(results: Sequence[dict[str, Any]], total: Callable[[list[Any]], Any]) -> dict[str, Any]:
    """The sums of the estimates and of the ends of their bands, where all ops have them; the weakest basis."""
    times = [each["time"] for each in results]
    if any(each["estimate_s"] is None for each in times):
        return dict.fromkeys(ESTIMATES)
    *seconds, basis = ESTIMATES
    found = {name: total([each[name] for each in times]) for name in seconds}
    check("/ops", "A total of these ops", *found.values())
    return {**found, basis: min((each[basis] for each in times), key=BASES.index)}
