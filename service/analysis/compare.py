"""The use case of `POST /v1/compare`: cases beside each other, each held against the first, and why they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..catalogue import Catalogue, Chip
from ..engine import ENGINE_VERSION, factors
from ..engine.report import Report
from ..errors import Fault, InvalidInput, OverLimit, refuse
from ..schemas.compare import CaseModel, Comparison
from ..schemas.limits import MAX_CASES
from . import against, canonical, causes, single
from .evaluate import DOCUMENT_VERSION, left_out, members_of
from .layouts import lay
from .magnitude import check
from .measured import with_measured
from .single import Setting
from .targets import Target, of_chip, resolve
from .terms import Asked, read

ROWS_PER_CASE = 60
"""What a case costs, in rows of columns."""


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
        return causes.side(self.asked, self.report, self.setting)

    @property
    def result(self) -> dict[str, Any]:
        seconds = self.model.measured_s
        return (
            self.found.result
            if seconds is None
            else with_measured(self.found.result, seconds, self.setting.target, f"{self.pointer}/measured_s")
        )


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
    here, there = case.found.result, first.found.result
    ratios, steps = _ratios(there, here), _factors(first, case)
    beyond = against.estimate_factors(_times(there), _times(here))
    check(
        case.pointer,
        "A ratio to the first case",
        *ratios.values(),
        *(value for each in (*steps, *beyond) for value in list(each.values())[1:]),
    )
    return {
        "op": case.found.op,
        "target": case.setting.target.document,
        "options": members_of(case.model.options),
        **({} if case.model.sharding is None else {"sharding": case.model.sharding.document()}),
        "result": case.result,
        "target_digest": case.setting.target.digest,
        "ratios": ratios,
        "bound_changed": here["bound"] != there["bound"],
        "moves": against.moves(there, here),
        "factors": steps,
        "estimate_factors": beyond,
        "cancels": against.cancels(there, here),
    }


def _ratios(first: against.Result, case: against.Result) -> dict[str, float | None]:
    (base_variable, base, _), (variable, exact, _) = against.threshold(first), against.threshold(case)
    return {
        "time": case["time"]["lower_s"] / first["time"]["lower_s"],
        "estimate": against.ratio(case["time"]["estimate_s"], first["time"]["estimate_s"]),
        "bytes": against.ratio(case["bytes"]["total"], first["bytes"]["total"]),
        "intensity": against.ratio(case["intensity_flops_per_byte"], first["intensity_flops_per_byte"]),
        "threshold": against.ratio(exact, base) if variable == base_variable else None,
    }


def _factors(first: Case, case: Case) -> Sequence[dict[str, Any]]:
    found = factors.factors(first.side, case.side)
    return causes.documents(found[0].before.item(), {each.cause: each.after.item() for each in found})


def _times(result: against.Result) -> tuple[against.Result, float | None]:
    return result["time"], against.tiled_s(result)
