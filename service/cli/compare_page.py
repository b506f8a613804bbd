"""A comparison as a page of text: the cases in a table, why each differs from the first, what offsets what, and who is not in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from ..page.quantities import number, quantity, times
from .blocks import heading, paragraph, table

Document = Mapping[str, Any]

CAUSES: Final = {
    "op_counts": "other work",
    "dtype_bytes": "number formats",
    "peak_flops_per_s": "peak",
    "hbm_bandwidth_bytes_per_s": "memory bandwidth",
    "mesh_and_sharding": "mesh and sharding",
    "tile": "tile",
    "engine": "engine",
}
"""What the factors are called, in the order in which they are applied."""


def page(comparison: Document) -> Iterator[RenderableType]:
    """The page of a comparison."""
    cases, excluded = comparison["cases"], comparison["excluded"]
    kinds = dict.fromkeys(case["op"]["kind"] for case in cases)
    yield heading(f"{len(cases)} case{'s' * (len(cases) != 1)} of {', '.join(kinds)}")
    yield _table(cases)
    yield from _measured(cases)
    if len(cases) > 1:
        yield from _why(cases)
    yield from _cancels(cases)
    if excluded:
        yield heading("Not in it")
        rows = [(each["chip"], " ".join(error["detail"] for error in each["errors"])) for each in excluded]
        yield table(["chip", "why"], rows, left=2, prose=("why",))


def _table(cases: Sequence[Document]) -> RenderableType:
    """A line for every case. Where all turn in the same dim, that dim stands in the head of the table."""
    turns = [_threshold(case["result"]["thresholds"]) for case in cases]
    variables = {variable for variable, _ in turns if variable}
    common = f" {variables.pop()}" if len(variables) == 1 else ""
    return table(
        ["", "on", "formats", "at least", "bound", "bytes", "FLOP/B", "critical", f"turns at{common}", "time"],
        [
            (str(at), *_line(case), value if common or not variable else f"{variable} = {value}", times(case["ratios"]["time"]))
            for at, (case, (variable, value)) in enumerate(zip(cases, turns, strict=True), start=1)
        ],
        left=3,
        names=2,
    )


def _line(case: Document) -> tuple[str, ...]:
    result = case["result"]
    critical = result["layers"]["hbm"]["critical_intensity_flops_per_byte"]
    return (
        on(case["target"]["chip"]),
        formats(case["op"], result["layers"]["compute"]["dtype"]),
        quantity(result["time"]["lower_s"], "s"),
        result["bound"] or "–",
        quantity(result["bytes"]["total"], "B"),
        "–" if result["intensity_flops_per_byte"] is None else number(result["intensity_flops_per_byte"]),
        "–" if critical is None else number(critical),
    )


def on(chip: str | Document) -> str:
    """What a target is called where there is little room."""
    return chip if isinstance(chip, str) else f"{chip['base']}, changed" if "base" in chip else "in place"


def formats(op: Document, computed: str | None) -> str:
    """The storage formats of the operands, and the arithmetic where it is none of these; a collective has neither.

    >>> formats({"kind": "matmul", "dtype": None, "a_dtype": "bf16", "b_dtype": "int4", "out_dtype": "bf16"}, "bf16")
    'bf16/int4/bf16'
    >>> formats({"kind": "softmax", "dtype": "bf16"}, "fp32")
    'bf16 in fp32'
    """
    if computed is None:
        return "–"
    stored = [value for name, value in op.items() if name.endswith("_dtype") and name != "compute_dtype" and value is not None]
    stored = stored or [op["dtype"]]
    spelt = stored[0] if len(set(stored)) == 1 else "/".join(stored)
    return spelt if computed in stored else f"{spelt} in {computed}"


def _threshold(thresholds: Sequence[Document]) -> tuple[str, str]:
    """The first dim in which the verdict turns, and at which size."""
    found = next((each for each in thresholds if each["exact"] is not None), None)
    return ("", "–") if found is None else (found["variable"], number(found["exact"]))


def _measured(cases: Sequence[Document]) -> Iterator[RenderableType]:
    """What was measured, as a share of the roof; above it, what to look into first."""
    found = [(at, case["result"]["measured"]) for at, case in enumerate(cases, start=1) if "measured" in case["result"]]
    if not found:
        return
    yield heading("What was measured")
    for at, measured in found:
        causes = ", ".join(each["cause"] for each in measured["causes"] if each["consistent"])
        above = f", above the roof; look into {causes}" if measured["above_roof"] else ""
        share = number(100 * measured["achieved_fraction"])
        yield paragraph(f"{at}: {quantity(measured['measured_s'], 's')}, {share} % of the roof{above}.")


def _why(cases: Sequence[Document]) -> Iterator[RenderableType]:
    """What each cause does to the least time; causes that do nothing anywhere are left out."""
    factors = [{each["cause"]: each["factor"] for each in case["factors"]} for case in cases]
    acting = [cause for cause in CAUSES if any(number(each[cause]) != "1" for each in factors)]
    yield heading("Why the least time differs from that of the first")
    if not acting:
        yield paragraph("It does not.")
        return
    lines = [
        (str(at), on(case["target"]["chip"]), times(case["ratios"]["time"]), *(times(each[cause]) for cause in acting))
        for at, (case, each) in enumerate(zip(cases, factors, strict=True), start=1)
    ]
    yield table(["", "on", "time", *(f"by {CAUSES[cause]}" for cause in acting)], lines[1:], left=2, names=2)
    yield paragraph("One after another in this order, so that they multiply to the time.")


def _cancels(cases: Sequence[Document]) -> Iterator[RenderableType]:
    """Pairs of causes that leave the size at which the verdict turns where it was."""
    if not any(case["cancels"] for case in cases):
        return
    yield heading("What cancels")
    for at, case in enumerate(cases, start=1):
        for pair in case["cancels"]:
            one, other = (f"{CAUSES[cause]} ({times(factor)})" for cause, factor in zip(pair["causes"], pair["factors"], strict=True))
            yield paragraph(f"{at}: {one} and {other} offset each other: the size at which the verdict turns stays where case 1 has it.")
