"""The five steps of a roofline analysis, in order, each with its formula, the formula with numbers, value, unit and source.

    flops      how much work
    bytes      how much is moved
    intensity  work per byte against what the chip needs to be kept busy
    where      time on each path, and which is longest
    overlap    the bounds of the time, between which the truth lies

Counts are those of one chip. Of a question with columns the first row is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..engine.arrays import Real
from ..engine.collective import SOURCE as COLLECTIVES
from ..engine.dtypes import DTYPES
from ..engine.fabric import Exchange
from ..engine.formats import Storage
from ..engine.kernels.layer import Layer
from ..engine.report import Report
from ..engine.term import Term
from . import tile_steps
from .cells import OneRow
from .targets import Target

ROOFLINE = "Williams, Waterman, Patterson 2009, Roofline; How to Scale Your Model, All About Rooflines"
MICROSCALING = "OCP Microscaling Formats 1.0; one scale per group, ragged groups rounded up"

Step = list[dict[str, Any]]
Tiled = tuple[Layer, Real]
"""The tiles of a row, and the cores of its chip."""


def explain(term: Term, report: Report, target: Target, overlap: float, tiled: Tiled | None = None) -> dict[str, Step]:
    """The five steps of one answer, a report of one row; `term` is what one chip computes, `tiled` how."""
    one = OneRow()
    return {
        "flops": _flops(term, report, one),
        "bytes": _bytes(term, report, one),
        "intensity": _intensity(report, target, one),
        "where": _where(report, target, tiled, one),
        "overlap": _overlap(report, overlap, one),
    }


def _entry(formula: str, numbers: str, value: Any, unit: str, source: str) -> dict[str, Any]:
    return {"formula": formula, "numbers": numbers, "value": value, "unit": unit, "source": source}


def _flops(term: Term, report: Report, one: OneRow) -> Step:
    formulas = term.formulas()
    return [_entry(f"flops = {formulas.flops}", _put_in(formulas.flops, term, one), one.whole(report.flops), "FLOP", formulas.source)]


def _bytes(term: Term, report: Report, one: OneRow) -> Step:
    formulas = term.formulas()
    storages = term.storages(term.demand())
    steps = [
        _entry(
            f"bytes of {name} = {_stored(elements, storages[name])}",
            _stored(_put_in(elements, term, one), storages[name]),
            one.whole(report.bytes[name]),
            "B",
            MICROSCALING if storages[name].has_scales else formulas.source,
        )
        for name, elements in formulas.elements.items()
    ]
    if not report.bytes:
        return [_entry("bytes = 0", "0", 0, "B", "a collective is judged by its wires; its HBM traffic is not counted")]
    names = " + ".join(report.bytes)
    parts = " + ".join(str(one.whole(each)) for each in report.bytes.values())
    return [*steps, _entry(f"bytes = {names}", parts, one.whole(report.bytes_total), "B", "every block moved once (ideal traffic)")]


def _stored(elements: str, stored: Storage) -> str:
    """The bytes of an operand as a formula over its elements; scales are named and not spelt out."""
    size = f"⌈{elements}·{stored.dtype.bits} bit / 8⌉"
    if stored.dtype.group:
        return f"{size} + scales of {stored.dtype.scale_bits} bit per {stored.dtype.group} along the contraction"
    if stored.scale is None:
        return size
    scale = stored.scale
    shape = f"block of {' x '.join(map(str, scale.block))}" if scale.block else f"{scale.group_size} along the contraction"
    zero = "" if scale.zero_point_dtype is None else f" and zero points of {DTYPES[scale.zero_point_dtype].bits} bit"
    return f"{size} + scales of {DTYPES[scale.dtype].bits} bit{zero} per {shape}"


def _intensity(report: Report, target: Target, one: OneRow) -> Step:
    flops, moved, peak = one.whole(report.flops), one.whole(report.bytes_total), report.placement.peak
    steps = []
    if report.bytes:
        steps.append(_entry("I = flops / bytes", f"{flops} / {moved}", one.number(report.intensity), "FLOP/B", ROOFLINE))
    if report.critical is not None and peak is not None and report.bandwidth is not None:
        ratio = f"{one.number(peak)!r} / {one.number(report.bandwidth)!r}"
        steps.append(_entry("I_crit = peak / bandwidth", ratio, one.number(report.critical), "FLOP/B", target.source))
    return [*steps, *_network_intensity(report, one)]


def _network_intensity(report: Report, one: OneRow) -> Step:
    """Operations for each byte that a chip sends, where it sends any."""
    sent, flops, peak = report.network.wire_bytes, one.whole(report.flops), report.placement.peak
    if not sent.item():
        return []
    steps = [
        _entry("I_network = flops / bytes sent", f"{flops} / {one.whole(sent)}", one.number(report.flops / sent), "FLOP/B", COLLECTIVES)
    ]
    if peak is not None:
        numbers = f"{one.number(peak)!r} · {one.number(report.network.time)!r} / {one.whole(sent)}"
        critical = one.number(peak * report.network.time / sent)
        steps.append(_entry("I_network_crit = peak · t_network / bytes sent", numbers, critical, "FLOP/B", COLLECTIVES))
    return steps


def _where(report: Report, target: Target, tiled: Tiled | None, one: OneRow) -> Step:
    placed = report.placement
    steps = []
    if placed.peak is not None:
        steps.append(
            _entry(
                f"t_math = flops / peak of the {placed.unit} unit in {placed.dtype}",
                f"{one.whole(report.flops)} / {one.number(placed.peak)!r}",
                one.number(report.times.math),
                "s",
                target.source_of_peak(placed),
            )
        )
    if report.bytes and report.bandwidth is not None:
        moved = f"{one.whole(report.bytes_total)} / {one.number(report.bandwidth)!r}"
        steps.append(_entry("t_hbm = bytes / HBM bandwidth", moved, one.number(report.times.hbm), "s", target.source_of_bandwidth))
    return [*steps, *([] if tiled is None else tile_steps.steps(*tiled, report, one)), *_network(report, one)]


def _network(report: Report, one: OneRow) -> Step:
    """Each collective of the row, and their sum."""
    present = [each for each in report.network.exchanges if each.rows is None or each.rows.item()]
    steps = [
        _entry(
            f"t of {_called(each)} = max(V · seconds per byte, time of {cost.steps:g} steps)",
            f"max({one.whole(cost.volume)} · {one.number(cost.bandwidth_s / cost.volume)!r}, {one.number(cost.latency_s)!r})",
            one.number(cost.time),
            "s",
            COLLECTIVES,
        )
        for each in present
        for cost in (each.cost,)
    ]
    if present:
        parts = " + ".join(repr(one.number(each.cost.time)) for each in present)
        steps.append(
            _entry("t_network = sum over the collectives", parts, one.number(report.network.time), "s", "they run one after another")
        )
    return steps


def _called(each: Exchange) -> str:
    """A collective in words: what is exchanged over which axes."""
    operand = "" if each.step is None else f" of {each.step.operand}"
    return f"{each.cost.kind}{operand} over {', '.join(each.cost.axes)}"


def _overlap(report: Report, overlap: float, one: OneRow) -> Step:
    paths = {"t_math": report.times.math, "t_hbm": report.times.hbm}
    if report.network.exchanges:
        paths["t_network"] = report.network.time
    seconds = [repr(one.number(each)) for each in paths.values()]
    least, most = one.number(report.lower), one.number(report.upper)
    return [
        _entry(f"lower = max({', '.join(paths)})", f"max({', '.join(seconds)})", least, "s", ROOFLINE),
        _entry(f"upper = {' + '.join(paths)}", " + ".join(seconds), most, "s", ROOFLINE),
        _entry(
            "overlapped = lower + (1 − overlap)·(upper − lower)",
            f"{least!r} + (1 − {overlap!r})·({most!r} − {least!r})",
            one.number(report.overlapped),
            "s",
            "linear between the bounds, a convention of this service",
        ),
    ]


def _put_in(formula: str, term: Term, one: OneRow) -> str:
    """`formula` with the numbers of the first row for its symbols."""
    values: Mapping[str, Any] = {name: one.whole(column[:1]) for name, column in term.columns().items()}
    return re.sub(r"[A-Za-z_]+", lambda match: str(values.get(match[0], match[0])), formula)
