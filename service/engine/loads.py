"""What a collective puts on the wires of a mesh, as a pace takes it: bytes as time, pieces, rounds inside a domain and between.

The levels of the group are those of `wiring`, and the bytes go as the exact form of the roofline has them, without latency and
without a switch that adds: a library decides for itself whether it uses that, and a measured pace has its decision inside.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from .collective import Collective, cost_of
from .mesh import Mesh
from .pace import Load
from .wiring import Torus, group, width


def load(asked: Collective, mesh: Mesh, outer: Collection[str] = ()) -> Load | None:
    """The load of `asked` on `mesh`; None where there is nobody to exchange with.

    The innermost level is a domain, unless its axes are among `outer`, the names of axes that are networks; all others lie between.
    """
    plain = Mesh(tuple([replace(axis, in_network_reduction=False) for axis in mesh.axes]))
    cost = cost_of(asked, plain)
    axes = plain.select(asked.axes)
    if not axes:
        return None
    levels = group(axes).levels
    times = cost.steps / max(level.steps for level in levels)
    piece = cost.payload / cost.chips
    inner = levels[0]
    first = inner.axes if isinstance(inner, Torus) else axes[:1]
    is_inside = not all(axis.name in outer for axis in first)
    rounds = times * inner.steps if is_inside else 0.0
    return Load(
        wire=cost.bandwidth_s,
        piece=piece,
        piece_s=piece / sum(map(width, first)),
        rounds=rounds,
        outer_rounds=times * sum(level.steps for level in levels) - rounds,
    )
