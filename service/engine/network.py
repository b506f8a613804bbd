"""The network layer: what a collective over axes of a mesh takes, by its kind.

The laws stand with the collectives, one per file; the levels of the wiring in `wiring`; here they are only called.
"""

from __future__ import annotations

from collections.abc import Sequence

from .arrays import Real
from .collective import ONE, Cost, cost_of
from .collectives import COLLECTIVES
from .mesh import Mesh
from .wiring import Form


def cost(kind: str, volume: Real, axes: Sequence[str], mesh: Mesh, *, form: Form = "exact", link: Real = ONE) -> Cost:
    """The collective `kind` of V = `volume` [B] over `axes` of `mesh`; `link` multiplies the bandwidth of every link.

    Volume and link are columns over rows, with variants before them where they have variants.

    >>> import numpy as np
    >>> from .mesh import Axis
    >>> ring = Mesh((Axis("x", 4, "ring", bandwidth=5e9),))
    >>> cost("all_gather", np.array([4e9]), ["x"], ring).time  # three quarters over both links
    array([0.3])
    """
    return cost_of(COLLECTIVES[kind](bytes=volume, axes=tuple(axes)), mesh, form, link)
