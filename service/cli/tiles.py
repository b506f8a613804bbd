"""How an op is tiled, what its kernel is expected to take, and what it loses on the way, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import RenderableType

from ..page.quantities import number, quantity
from .blocks import heading, paragraph

Document = Mapping[str, Any]

LOST: Final = {
    "padding_s": "padding",
    "waves_s": "incomplete waves",
    "rereads_s": "bytes read again",
    "bandwidth_s": "bandwidth",
    "rate_s": "rate",
    "quantization_s": "quantisation",
    "launch_s": "launch",
}
"""Losses in the order in which the model gives up its idealisations."""


def tiles(result: Document) -> Iterator[RenderableType]:
    """The tile layer of one op, where it has one; then the estimate with what it loses to the roofline."""
    layer = result["layers"]["tile"]
    if layer is None:
        return
    yield heading("How it is tiled")
    yield paragraph(_cut(layer))
    yield paragraph(
        f"With them {quantity(layer['compute_time_s'], 's')} of compute and {quantity(layer['hbm_time_s'], 's')} of hbm, "
        f"{number(layer['intensity_flops_per_byte'])} FLOP/B: {_verdict(layer['bound'])}."
    )
    if layer["estimate_s"] is not None:
        yield paragraph(_estimate(layer))


def _cut(layer: Document) -> str:
    shape, split = layer["tile"], layer["split_k"]
    shared = "" if split == 1 else f", each shared by {split:,} cores"
    room = layer["on_chip_capacity_bytes"]
    store = "" if room is None else f" of {quantity(room, 'B')}"
    return (
        f"{_count(layer['tiles'], 'tile')} of {shape['m']:,} x {shape['n']:,}, {shape['k']:,} of k at a step{shared}, in "
        f"{_count(layer['waves'], 'wave')}; {number(100 * layer['padding_efficiency'])} % of the operations count and "
        f"{number(100 * layer['wave_efficiency'])} % of the cores work; {quantity(layer['on_chip_bytes'], 'B')}{store} beside a core."
    )


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _verdict(bound: str | None) -> str:
    return "balanced" if bound == "balanced" else f"limited by {bound}"


def _estimate(layer: Document) -> str:
    """The estimate, and the losses that are any."""
    lost = [f"{quantity(layer['losses'][name], 's')} {words}" for name, words in LOST.items() if layer["losses"][name] > 0]
    why = f", which loses {', '.join(lost)}" if lost else ""
    return f"A good kernel is expected to take {quantity(layer['estimate_s'], 's')}{why}."
