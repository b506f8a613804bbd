"""Thresholds of the network path: where the local product takes as long as the collectives of a plan.

A dim v of the whole product, the plan held. All work and the volumes of the arrays that have the dim grow with it, s = v / (v now):

    a·s = Σ max(l_i, b_i·s) + K      a the time of the product now, b and l the bandwidth and latency terms of the collectives
                                     of arrays that have the dim, K the time of the others

The left minus the right is concave and not positive at 0, so its first zero is where the product overtakes the network.

    k   split in both operands: the all-reduce of the result does not grow, D > 2·n·C/W in bf16
    m   where b alone is gathered (FSDP): B/X > C/W in bf16

The chips Y of an axis whose one collective the product has to pay for (tensor parallelism): a·Y0/Y falls, the collective does not.

    Y < F·W/C in bf16, where the sums over a dim F, or what F is split for, are scattered or gathered

The textbook's approximations are the same equations with V/W, no latency, and W both ways on a line as on a ring.
Source: How to Scale Your Model, "All About Rooflines" (two chips), "How to Parallelize a Transformer for Training" (FSDP, TP).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..arrays import Real
from ..collective import Cost
from ..mesh import Axis, Mesh
from ..thresholds import PARALLEL, UNREACHED
from ..wiring import Form
from .layout import Sharding
from .plan import Plan


def textbook(mesh: Mesh) -> Mesh:
    """The mesh of the approximations: no latency, and every line closed to a ring."""
    axes = [dataclasses.replace(axis, latency=0.0, topology="ring" if axis.topology == "line" else axis.topology) for axis in mesh.axes]
    return Mesh(tuple(axes))


def variables(plan: Plan) -> tuple[str, ...]:
    """The dims of a matmul for which a threshold of the network is asked."""
    if not plan.collectives:
        return ()
    gathers_b_alone = all(step.operand == "b" and step.kind == "all_gather" for step in plan.collectives)
    found = (("k", plan.divisors["k"] > 1), ("m", gathers_b_alone))
    return tuple([name for name, is_asked in found if is_asked])


def crossing(plan: Plan, sharding: Sharding, variable: str, *, size: Real, compute_s: Real, found: Sequence[Cost]) -> Real:
    """The size of `variable`, now `size`, at which the local product takes as long as the collectives; NaN where it never does.

    `compute_s` is the time of the local product now, `found` the costs of the collectives of `plan`, in order.
    """
    dims = {array.name: array.dims for array in (*sharding.operands, sharding.out)}
    grows = [variable in dims[step.operand] for step in plan.collectives]
    fixed = sum([each.time for each, does in zip(found, grows, strict=True) if not does], np.zeros(1))
    growing = [each for each, does in zip(found, grows, strict=True) if does]
    rows = np.broadcast_shapes(size.shape, compute_s.shape, *(each.time.shape for each in found))
    bends = [each.latency_s / each.bandwidth_s for each in growing]
    value = np.full(rows, np.nan)
    for start in [np.zeros(1), *bends]:
        risen = sum([np.where(bend <= start, each.bandwidth_s, 0.0) for bend, each in zip(bends, growing, strict=True)], np.zeros(1))
        level = sum([np.where(bend <= start, 0.0, each.latency_s) for bend, each in zip(bends, growing, strict=True)], fixed)
        end = np.minimum.reduce([np.full(rows, np.inf), *(np.where(bend > start, bend, np.inf) for bend in bends)])
        steeper = compute_s - risen
        with np.errstate(divide="ignore", invalid="ignore"):
            root = level / steeper
        meets = (steeper > PARALLEL * compute_s) & (root > 0) & (root >= start * (1 - PARALLEL)) & (root <= end * (1 + PARALLEL))
        value = np.fmin(value, np.where(meets, root, np.nan))
    value = value * size
    return np.where(value < UNREACHED, value, np.nan)


def axis_size(axis: Axis, *, compute_s: Real, cost: Cost, form: Form) -> Real:
    """The chips along `axis` at which the local product takes as long as its one collective, of a plan that `is_tensor_parallel`.

    `compute_s` and `cost` are of the mesh as it is. NaN where every degree is as good: chips that are all connected share the work
    and the volume alike.
    """
    work = compute_s * axis.size
    if axis.topology == "fully_connected":
        return np.full_like(work * cost.volume, np.nan)
    reduces = cost.kind == "all_reduce" and axis.topology == "switch" and axis.in_network_reduction
    share = 1.0 if reduces or form == "asymptotic" else (axis.size - 1.0) / axis.size
    by_bandwidth = work * share / cost.bandwidth_s + (0.0 if reduces or form == "asymptotic" else 1.0)
    with np.errstate(divide="ignore"):
        by_latency = work / cost.latency_s if reduces else _by_hops(axis, work * _hops(axis) / cost.latency_s)
    return np.minimum(by_bandwidth, by_latency)


def is_tensor_parallel(plan: Plan, axis: str) -> bool:
    """Whether `axis` shares the work and pays for it with one gather, scatter or reduction over itself alone."""
    kinds = {"all_gather", "reduce_scatter", "all_reduce"}
    steps = plan.collectives
    return plan.assigned[axis] is not None and len(steps) == 1 and steps[0].axes == (axis,) and steps[0].kind in kinds


def _hops(axis: Axis) -> float:
    return float(axis.size // 2 if axis.topology == "ring" else axis.size - 1)


def _by_hops(axis: Axis, ratio: Real) -> Real:
    """Y where Y·hops(Y) = `ratio`: hops are ⌊Y/2⌋ round a ring, and a step up counts as met; Y − 1 on a line or a switch."""
    if axis.topology != "ring":
        return 0.5 + np.sqrt(0.25 + ratio)
    half = np.floor(np.sqrt(ratio / 2.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isinf(ratio), np.inf, np.fmin(ratio / half, 2.0 * half + 2.0))
