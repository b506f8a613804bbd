"""What the chips of a mesh exchange: the collectives in order, and the plans that would do instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from ..page.quantities import quantity
from .blocks import heading, paragraph, table

Document = Mapping[str, Any]


def plan(result: Document) -> Iterator[RenderableType]:
    """The steps of a sharded op, and what it would be on one chip; nothing where the op is whole on every chip."""
    network = result["layers"]["network"]
    if "single_chip" not in result and not network["collectives"]:
        return
    yield heading("Between the chips", f"{result['devices']:,} of them")
    if network["collectives"]:
        yield table(["", "step", "of", "over", "volume", "takes", "bus rate"], list(_steps(network["collectives"])), left=4)
    else:
        yield paragraph("Nothing is sent.")
    if others := network["alternatives"]:
        yield paragraph("Instead:")
        yield table(["plan", "collectives", "at least"], [_other(each) for each in others], left=2)
    if "single_chip" in result:
        alone = result["single_chip"]
        yield paragraph(f"Whole on one chip it takes at least {quantity(alone['time']['lower_s'], 's')}, limited by {alone['bound']}.")


def _steps(collectives: list[Document]) -> Iterator[tuple[str, ...]]:
    for at, each in enumerate(collectives, start=1):
        operand = "" if each["operand"] is None else each["operand"] + (f" along {each['dim']}" if each["dim"] else "")
        seconds = quantity(each["time_s"], "s") + (" for its steps" if each["latency_bound"] else "")
        rate = quantity(each["busbw_bytes_per_s"], "B/s")
        yield str(at), each["kind"], operand, ", ".join(each["axes"]), quantity(each["bytes"], "B"), seconds, rate


def _other(alternative: Document) -> tuple[str, ...]:
    kinds = [f"{each['kind']} of {each['operand']} over {', '.join(each['axes'])}" for each in alternative["collectives"]]
    return alternative["plan"], "; ".join(kinds) or "none", quantity(alternative["lower_s"], "s")
