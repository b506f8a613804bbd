"""The use case of `POST /v1/compare`: cases beside each other, each held against the first, and why they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..catalogue import Catalogue, Chip
from ..engine import ENGINE_VERSION, factors
from ..engine.report import Report
from ..errors import Fault, InvalidInput, OverLimit, refuse
from ..schemas.compare import CaseModel, Comparison
from ..schemas.limits import MAX_CASES
from . import canonical, single
from .evaluate import DOCUMENT_VERSION, left_out, members_of
from .layouts import lay
from .magnitude import check
from .measured import with_measured
from .single import Setting
from .targets import Target, of_chip, resolve
from .terms import Asked, read

ROWS_PER_CASE = 60
"""What a case costs, in rows of columns."""

UNCHANGED = ("tile", "engine")
"""Causes that the roofline alone and one engine leave at 1."""

NOTICEABLE = 0.05
"""A factor this far from 1 changes something; a product this close to 1 cancels."""


@dataclass(frozen=True)
class Case:
    """A case evaluated."""

    asked: Asked
    setting: Setting
    report: Report
    found: single.Found
    model: CaseModel
    pointer: str

    @property
    def side(self) -> factors.Side:
        term, placed = self.asked.term, self.report.placement
        return factors.Side(term, term.storages(term.demand()), placed.peak, self.report.bandwidth, self.setting.fabric)

    @property
    def result(self) -> dict[str, Any]:
        seconds = self.model.measured_s
        return (
            self.found.result
            if seconds is None
            else with_measured(self.found.result, seconds, self.setting.target, f"{self.pointer}/measured_s")
        )

    @property
    def threshold(self) -> tuple[str, float | None, float | None]:
        """The first threshold: its variable, exact and approximate value."""
        first = self.found.result["thresholds"][0] if self.found.result["thresholds"] else {}
        return first.get("variable", ""), first.get("exact"), first.get("approximate")


def rows(question: Comparison, catalogue: Catalogue) -> int:
    """The cost of a comparison, in rows of columns."""
    return ROWS_PER_CASE * (len(catalogue.chips) if question.chips is not None else len(question.cases))


def compare(question: Comparison, catalogue: Catalogue) -> bytes:
    """Evaluate all cases and hold them against the first.

    Raises `OverLimit` (too-many-rows) and `InvalidInput` with the faults of all cases.
    """
    if len(question.cases) > MAX_CASES:
        raise OverLimit(f"A comparison holds at most {MAX_CASES} cases. Ask in several requests.")
    excluded: list[dict[str, Any]] = []
    cases = _given(question.cases, catalogue) if question.chips is None else _everywhere(question.cases[0], catalogue, excluded)
    document = {
        "cases": [_written(each, cases[0]) for each in cases],
        "excluded": excluded,
        "engine_version": ENGINE_VERSION,
        "document_version": DOCUMENT_VERSION,
        "catalogue_digest": catalogue.digest,
    }
    return canonical.text(document)


def _given(models: Sequence[CaseModel], catalogue: Catalogue) -> list[Case]:
    cases: list[Case] = []
    faults: list[Fault] = []
    for at, model in enumerate(models):
        pointer = f"/cases/{at}"
        try:
            assert model.target is not None
            cases.append(_case(model, resolve(model.target, catalogue, f"{pointer}/target"), pointer))
        except InvalidInput as error:
            faults += error.faults
    if faults:
        raise InvalidInput(faults)
    return cases


def _everywhere(model: CaseModel, catalogue: Catalogue, excluded: list[dict[str, Any]]) -> list[Case]:
    """The case on its own target, then on every other chip that can run it; the others join `excluded` with their faults."""
    own = None if model.target is None else resolve(model.target, catalogue, "/cases/0/target")
    mesh = None if model.target is None else model.target.mesh
    cases = [] if own is None else [_case(model, own, "/cases/0")]
    refusals: dict[tuple[Fault, ...], InvalidInput] = {}
    for chip in catalogue.chips:
        if own is not None and own.chip is not None and own.chip.id == chip.id:
            continue
        try:
            cases.append(_case(model, of_chip(chip, catalogue).meshed(mesh, chip, catalogue, "/cases/0/target"), "/cases/0"))
        except InvalidInput as error:
            refusals.setdefault(error.faults, error)
            excluded.append(_exclusion(chip, error))
    if not cases and len(refusals) == 1:  # the chips have no part in it
        raise next(iter(refusals.values()))
    if not cases:
        raise InvalidInput([Fault("/cases/0/op", "unsupported-dtype", "No chip of the catalogue can run this op.")])
    return cases


def _exclusion(chip: Chip, error: InvalidInput) -> dict[str, Any]:
    faults = [
        {"pointer": each.pointer, "code": each.code, "detail": each.detail, "suggestions": list(each.suggestions)} for each in error.faults
    ]
    return {"chip": chip.ref, "errors": faults}


def _case(model: CaseModel, target: Target, pointer: str) -> Case:
    asked = read(model.op, f"{pointer}/op")
    setting = Setting(target, model.options, lay(asked, model.sharding, target, model.options, pointer))
    report = single.reported(asked, setting)
    if not report.lower.item():
        raise refuse(f"{pointer}/op", "out-of-range", "An exchange with nobody takes no time, and nothing can be held against it.")
    assumed = [*target.assumed, *left_out(model.options, f"{pointer}/options")]
    return Case(asked, setting, report, single.written(asked, report, setting, assumed), model, pointer)


def _written(case: Case, first: Case) -> dict[str, Any]:
    """A case with its result, then what it is against the first."""
    found = factors.factors(first.side, case.side)
    here, there = case.found.result, first.found.result
    variable, exact, _ = case.threshold
    base_variable, base, _ = first.threshold
    comparable = variable == base_variable and exact is not None and base is not None
    ratios = {
        "time": here["time"]["lower_s"] / there["time"]["lower_s"],
        "bytes": _ratio(here["bytes"]["total"], there["bytes"]["total"]),
        "intensity": _ratio(here["intensity_flops_per_byte"], there["intensity_flops_per_byte"]),
        "threshold": _ratio(exact, base) if comparable else None,
    }
    causes = [
        *(_factor(each.cause, each.factor.item(), each.before.item(), each.after.item()) for each in found),
        *(_factor(cause, 1.0, here["time"]["lower_s"], here["time"]["lower_s"]) for cause in UNCHANGED),
    ]
    check(case.pointer, "A ratio to the first case", *ratios.values(), *(value for each in causes for value in list(each.values())[1:]))
    return {
        "op": case.found.op,
        "target": case.setting.target.document,
        "options": members_of(case.model.options),
        **({} if case.model.sharding is None else {"sharding": case.model.sharding.document()}),
        "result": case.result,
        "target_digest": case.setting.target.digest,
        "ratios": ratios,
        "bound_changed": here["bound"] != there["bound"],
        "factors": causes,
        "cancels": _cancels(case, first),
    }


def _factor(cause: str, factor: float, before: float, after: float) -> dict[str, Any]:
    return {"cause": cause, "factor": factor, "lower_s_before": before, "lower_s_after": after}


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def _cancels(case: Case, first: Case) -> list[dict[str, Any]]:
    """Pairs of causes that move the approximate threshold C·w/(2·W) in opposite directions and leave it where it was."""
    parts = _threshold_factors(case, first)
    pairs = []
    for (one, x), (other, y) in combinations(parts.items(), 2):
        matters = min(abs(math.log(x)), abs(math.log(y))) > math.log1p(NOTICEABLE)
        if matters and abs(math.log(x * y)) <= math.log1p(NOTICEABLE):
            pairs.append({"causes": [one, other], "factors": [x, y], "product": x * y, "in": "threshold"})
    return pairs


def _threshold_factors(case: Case, first: Case) -> Mapping[str, float]:
    """What bytes, peak and bandwidth each do to the approximate threshold; nothing where one of the two has none."""
    _, _, value = case.threshold
    _, _, base = first.threshold
    peak, base_peak = case.report.placement.peak, first.report.placement.peak
    if value is None or base is None or peak is None or base_peak is None:
        return {}
    faster = (peak / base_peak).item()
    assert first.report.bandwidth is not None
    assert case.report.bandwidth is not None
    slower_memory = (first.report.bandwidth / case.report.bandwidth).item()
    return {
        "dtype_bytes": value / base / faster / slower_memory,
        "peak_flops_per_s": faster,
        "hbm_bandwidth_bytes_per_s": slower_memory,
    }
