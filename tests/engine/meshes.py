"""Meshes to ask about, and collectives on them as a reader would ask: plain numbers in, a cost of one row out."""

from __future__ import annotations

from typing import Any

from service.engine.arrays import column
from service.engine.collective import Cost
from service.engine.mesh import Axis, Mesh
from service.engine.network import cost

V5E_LINK = 4.5e10
"""One link of a TPU v4 or v5e, one way [B/s]."""

EGRESS = 4.5e11
"""What one H100 sends over NVLink [B/s]."""

RAIL = 5e10
"""What one of eight H100 sends out of its node, of 400 GB/s for all [B/s]."""


def ring(size: int, link: float = V5E_LINK, latency: float = 0.0, name: str = "x") -> Axis:
    return Axis(name, size, "ring", link, latency)


def line(size: int, link: float = V5E_LINK, latency: float = 0.0, name: str = "x") -> Axis:
    return Axis(name, size, "line", link, latency)


def switch(size: int, egress: float = EGRESS, name: str = "gpu", **more: Any) -> Axis:
    return Axis(name, size, "switch", egress, **more)


def full(size: int, pair: float = 6.4e10, name: str = "gpu", **more: Any) -> Axis:
    return Axis(name, size, "fully_connected", pair, **more)


def over(kind: str, volume: float, *axes: Axis, names: tuple[str, ...] | None = None, form: Any = "exact") -> Cost:
    """The collective over the axes called `names`, or over all of them, of a mesh made of `axes`."""
    return cost(kind, column(volume), names or [axis.name for axis in axes], Mesh(axes), form=form)


def seconds(kind: str, volume: float, *axes: Axis, names: tuple[str, ...] | None = None, form: Any = "exact") -> float:
    found: float = over(kind, volume, *axes, names=names, form=form).time.item()
    return found
