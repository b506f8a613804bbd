"""The use cases of roofline charts: the roofs of a chip as series, and the points of ops on them.

A roof is y = min(C, W·x) over the arithmetic intensity x [FLOP/B], y the attainable rate [FLOP/s]; below the ridge C/W it rises
with the bandwidth W, above it the peak C is the limit. Source: Williams, Waterman, Patterson 2009, section 3. Each memory whose
bandwidth is known has a line of its own: main memory, the last cache in front of it, the stores beside all cores together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from ..catalogue import Catalogue
from ..engine.arrays import Real
from ..engine.dtypes import arithmetic
from ..errors import Fault, Gathered, InvalidInput, OverLimit, refuse
from ..schemas.charts import ChartQuestion
from ..schemas.compare import CaseModel
from ..schemas.limits import MAX_CASES, MAX_POINTS
from . import canonical, single
from .layouts import lay
from .measured import with_measured
from .single import Setting
from .targets import of_chip, resolve
from .terms import read

BELOW, ABOVE = 1.0 / 1024.0, 64.0
"""Where a series starts and ends, as multiples of the ridge."""
NAMES = {"l2": "L2", "on_chip": "on-chip"}
"""Memories nearer than HBM."""


@dataclass(frozen=True)
class Roof:
    """One roof: whose it is, and its peak [FLOP/s] and bandwidth [B/s]."""

    chip: str
    dtype: str
    unit: str
    peak: float
    bandwidth: float
    nearer: tuple[tuple[str, float], ...] = ()
    """memories between HBM and the cores, each with its bandwidth [B/s]"""

    @property
    def name(self) -> str:
        return f"{self.chip} {self.dtype} ({self.unit})"

    def lines(self, label: str) -> Iterator[Line]:
        """A line for each memory, HBM first; `label` is that of the roof."""
        yield Line("hbm", label, self.peak, self.bandwidth)
        for path, bandwidth in self.nearer:
            yield Line(path, f"{label} {NAMES[path]}", self.peak, bandwidth)


@dataclass(frozen=True)
class Line:
    """The roof under one memory."""

    path: str
    label: str
    peak: float
    bandwidth: float

    @property
    def ridge(self) -> float:
        return self.peak / self.bandwidth

    @property
    def ceiling(self) -> dict[str, Any]:
        return {"path": self.path, "kind": "bandwidth", "label": self.label, "value": self.bandwidth}

    def series(self, points: int) -> dict[str, Any]:
        x: Real = self.ridge * np.geomspace(BELOW, ABOVE, points)
        return {"path": self.path, "label": self.label, "x": x, "y": np.minimum(self.peak, self.bandwidth * x)}


CHIP, DTYPE = "/query/chip", "/query/dtype"
"""Where a chart of the catalogue is asked for."""
Drawn = tuple[Roof | None, dict[str, Any]]
"""A point, and the roof that it stands under."""


def of_catalogue(chip: str, dtype: str, points: int, catalogue: Catalogue) -> bytes:
    """The chart of a chip in one number format.

    Raises `OverLimit` (too-many-rows) and `InvalidInput` with pointers into the query: unknown-chip, unknown-dtype, unsupported-dtype.
    """
    _check_points(points)
    if wrong := faults_of_names(chip, dtype, catalogue):
        raise InvalidInput(wrong)
    target, asked = of_chip(catalogue.chip(chip, CHIP), catalogue), arithmetic(dtype, DTYPE)
    machine = target.machine
    nearer = _nearer(target.document["chip"], catalogue)
    units = (("matrix", machine.matrix_peaks), ("vector", machine.vector_peaks))
    roofs = [
        Roof(target.document["chip"], asked, unit, peaks[asked].item(), machine.memory.item(), nearer)
        for unit, peaks in units
        if asked in peaks
    ]
    if not roofs:
        has = tuple(dict.fromkeys((*machine.matrix_peaks, *machine.vector_peaks)))
        raise refuse(DTYPE, "unsupported-dtype", f"The chip has no {asked} peak; it has {', '.join(has)}.", has)
    return _document(roofs[:1], [], points)


def faults_of_names(chip: str | None, dtype: str | None, catalogue: Catalogue) -> list[Fault]:
    """What is wrong with the names of a chip and of a number format in a query, as far as they are given."""
    found = Gathered()
    if chip:
        found.of(lambda: catalogue.chip(chip, CHIP))
    if dtype:
        found.of(lambda: arithmetic(dtype, DTYPE))
    return found.faults


def of_questions(question: ChartQuestion, catalogue: Catalogue, stored: Mapping[str, str]) -> bytes:
    """The chart of cases and of saved analyses; `stored` has the answer text of each id that exists.

    Raises `OverLimit` (too-many-rows) and `InvalidInput` with the faults of all cases and unknown ids (unknown-analysis).
    """
    check_limits(question)
    drawn: list[Drawn] = []
    faults: list[Fault] = []
    for at, case in enumerate(question.cases):
        try:
            drawn.append(_case(at, case, catalogue))
        except InvalidInput as error:
            faults += error.faults
    for at, name in enumerate(question.analyses):
        if name in stored:
            drawn += _analysis(name, orjson.loads(stored[name]), catalogue)
        else:
            faults.append(Fault(f"/analyses/{at}", "unknown-analysis", "No analysis has this id."))
    if faults:
        raise InvalidInput(faults)
    roofs = list(dict.fromkeys(roof for roof, _ in drawn if roof is not None))
    return _document(roofs, drawn, question.points)


def check_limits(question: ChartQuestion) -> None:
    """Raises `OverLimit` (too-many-rows)."""
    _check_points(question.points)
    if len(question.cases) + len(question.analyses) > MAX_CASES:
        raise OverLimit(f"A chart shows at most {MAX_CASES} cases and analyses. Ask in several requests.")


def _check_points(points: int) -> None:
    if points > MAX_POINTS:
        raise OverLimit(f"A series has at most {MAX_POINTS} points.")


def _document(roofs: Sequence[Roof], drawn: Sequence[Drawn], count: int) -> bytes:
    first = roofs[0] if roofs else None
    labels = _labels(roofs)
    lines = [line for roof in roofs for line in roof.lines(labels[roof])]
    return canonical.text(
        {
            "chip": None if first is None else first.chip,
            "dtype": None if first is None else first.dtype,
            "ceilings": [ceiling for roof in roofs for ceiling in _ceilings(roof, labels[roof])],
            "ridges": [{"path": line.path, "label": line.label, "x": line.ridge, "y": line.peak} for line in lines],
            "series": [line.series(count) for line in lines],
            "points": [{**point, "roof": None if roof is None else labels[roof]} for roof, point in drawn],
        }
    )


def _labels(roofs: Sequence[Roof]) -> dict[Roof, str]:
    """A label of its own for each roof: chips in place may share a name and differ in their numbers."""
    labels: dict[Roof, str] = {}
    seen: Counter[str] = Counter()
    for roof in roofs:
        seen[roof.name] += 1
        labels[roof] = roof.name if seen[roof.name] == 1 else f"{roof.name} #{seen[roof.name]}"
    return labels


def _ceilings(roof: Roof, label: str) -> Iterator[dict[str, Any]]:
    hbm, *nearer = roof.lines(label)
    yield hbm.ceiling
    yield {"path": "compute", "kind": "peak", "label": label, "value": roof.peak}
    yield from (line.ceiling for line in nearer)


def _case(at: int, case: CaseModel, catalogue: Catalogue) -> Drawn:
    assert case.target is not None
    pointer = f"/cases/{at}"
    target = resolve(case.target, catalogue, f"{pointer}/target")
    asked = read(case.op, f"{pointer}/op")
    setting = Setting(target, case.options, lay(asked, case.sharding, target, case.options, pointer))
    found = single.written(asked, single.reported(asked, setting), setting, [])
    result = found.result if case.measured_s is None else with_measured(found.result, case.measured_s, target, f"{pointer}/measured_s")
    return _drawn({"case": at}, found.op["kind"], target.document, result, catalogue)


def _analysis(name: str, answer: Mapping[str, Any], catalogue: Catalogue) -> list[Drawn]:
    """The points of a saved answer: one, or one for each op of a list."""
    if "op" in answer:
        return [_drawn({"analysis": name}, answer["op"]["kind"], answer["target"], answer["result"], catalogue)]
    ops = zip(answer["ops"], answer["result"]["per_op"], strict=True)
    return [_drawn({"analysis": name, "op": at}, op["kind"], answer["target"], result, catalogue) for at, (op, result) in enumerate(ops)]


def _drawn(origin: Mapping[str, Any], kind: str, target: Mapping[str, Any], result: Mapping[str, Any], catalogue: Catalogue) -> Drawn:
    """A point, its roof still to be named, and the roof that it stands under; an op without a peak stands under none."""
    compute, hbm = result["layers"]["compute"], result["layers"]["hbm"]
    peak = compute["peak_flops_per_s"]
    known = (_chip(target["chip"]), compute["dtype"], compute["unit"], peak, hbm["bandwidth_bytes_per_s"])
    roof = None if peak is None else Roof(*known, _nearer(target["chip"], catalogue))
    measured = result.get("measured")
    return roof, {
        **origin,
        "kind": kind,
        "path": "hbm",
        "roof": None,
        "bound": result["bound"],
        "x": result["intensity_flops_per_byte"],
        "y": result["attainable_flops_per_s"],
        "tile": _tiled(result),
        "measured_flops_per_s": None if measured is None else measured["achieved_flops_per_s"],
    }


def _chip(chip: str | Mapping[str, Any]) -> str:
    """Whose roof it is."""
    if isinstance(chip, str):
        return chip
    return f"{chip['base']}, changed" if "base" in chip else "chip in place"


def _tiled(result: Mapping[str, Any]) -> dict[str, float] | None:
    """The point with tiles: operations for each byte that they read, and the rate that they leave at most."""
    tile = result["layers"]["tile"]
    if tile is None:
        return None
    return {"x": tile["intensity_flops_per_byte"], "y": result["flops"] / max(tile["compute_time_s"], tile["hbm_time_s"])}


def _nearer(chip: str | Mapping[str, Any], catalogue: Catalogue) -> tuple[tuple[str, float], ...]:
    """The memories between HBM and the cores whose bandwidth is known [B/s]; of a saved chip that is no longer kept none."""
    stated = {} if isinstance(chip, str) else chip
    ref = chip if isinstance(chip, str) else chip.get("base")
    try:
        base = None if ref is None else catalogue.chip(ref, "")
    except InvalidInput:
        base = None
    numbers = {} if base is None else base.numbers()
    l2 = {**numbers.get("l2", {}), **stated.get("l2", {})}.get("bandwidth_bytes_per_s")
    cores = stated.get("cores", numbers.get("cores"))
    core = None if base is None else base.core_bandwidth
    on_chip = None if core is None or cores is None else core * cores
    return tuple((path, float(bandwidth)) for path, bandwidth in (("l2", l2), ("on_chip", on_chip)) if bandwidth is not None)
