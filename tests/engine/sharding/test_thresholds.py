"""Thresholds of the network path, against a direct comparison of the two times on both sides of them."""

from __future__ import annotations

import dataclasses
from random import Random

import numpy as np
import pytest

from service.engine.arrays import Real, column
from service.engine.mesh import Axis, Mesh, Topology
from service.engine.sharding import Choice, Sharding, costs, plan, read, total
from service.engine.sharding.thresholds import axis_size, crossing, is_tensor_parallel, textbook, variables
from service.engine.wiring import Form

ARRAYS = {"a": ("m", "k"), "b": ("k", "n"), "out": ("m", "n")}
PEAK = 1.97e14
WIDTH = 2
Specs = dict[str, list[str | None]]

SPLIT: Specs = {"a": [None, "x"], "b": ["x", None], "out": [None, None]}
SCATTERED: Specs = {"a": [None, "x"], "b": ["x", None], "out": [None, "x"]}
FSDP: Specs = {"a": ["x", None], "b": ["x", None], "out": ["x", None]}
BOTH: Specs = {"a": ["x", "y"], "b": ["y", "x"], "out": ["x", None]}
"""The contraction over y, and b gathered over x, which grows with k."""
GATHERED: Specs = {"a": [None, "x"], "b": [None, "x"], "out": [None, "x"]}
"""Activations gathered for weights that are split by columns."""


def wire(name: str, size: int, topology: Topology = "line", latency: float = 0.0) -> Axis:
    return Axis(name, size, topology, 4.5e10, latency)


class Asked:
    """A matmul on a mesh: its plan and both times."""

    def __init__(self, specs: Specs, mesh: Mesh, sizes: dict[str, float], form: Form = "exact") -> None:
        self.mesh, self.form = mesh, form
        self.sizes = {dim: column(size) for dim, size in sizes.items()}
        self.whole = {name: WIDTH * self.sizes[dims[0]] * self.sizes[dims[1]] for name, dims in ARRAYS.items()}
        whole_dims = {dim: column(mesh.devices) for dim in sizes}  # plans do not depend on sizes, thresholds are asked off the grid
        self.sharding: Sharding = read(specs, ARRAYS, whole_dims, mesh)
        (choice,) = plan(self.sharding, whole_dims, self.whole)
        self.choice: Choice = choice
        self.found = costs(choice.plan, self.whole, mesh, form=form)

    @property
    def compute_s(self) -> Real:
        flops = 2 * self.sizes["m"] * self.sizes["k"] * self.sizes["n"]
        return flops / self.choice.plan.work_divisor / PEAK

    @property
    def lead(self) -> float:
        """By how much the product takes longer than the network [s]."""
        return (self.compute_s - total(self.found)).item()

    def threshold(self, variable: str) -> float:
        now = {"size": self.sizes[variable], "compute_s": self.compute_s}
        return crossing(self.choice.plan, self.sharding, variable, **now, found=self.found).item()


@pytest.mark.parametrize("k", [64, 8192, 10**6])
def test_two_chips_that_split_the_contraction(k: int) -> None:
    """Ch. 1: D > 2·C/W one way, "D > 8755"; it moves with no other dim."""
    mesh = Mesh((wire("x", 2),))
    for m in (1, 1024, 10**7):
        asked = Asked(SPLIT, mesh, {"m": m, "k": k, "n": 16384})
        assert variables(asked.choice.plan) == ("k",)
        assert asked.threshold("k") == pytest.approx(8755.555555555555, rel=1e-12)
        near = Asked(SPLIT, textbook(mesh), {"m": m, "k": k, "n": 16384}, "asymptotic")
        assert near.threshold("k") == pytest.approx(2 * 2 * PEAK / 9e10, rel=1e-12)


def test_rows_that_pay_for_a_gather_of_the_weights() -> None:
    """Ch. 5: tokens per chip B/X > C/W, 2550 on one axis of a v5p."""
    mesh = Mesh((Axis("x", 16, "ring", 9e10),))
    asked = Asked(FSDP, mesh, {"m": 10**6, "k": 8192, "n": 28672}, "asymptotic")
    assert variables(asked.choice.plan) == ("m",)
    assert asked.threshold("m") / 16 * (4.59e14 / PEAK) == pytest.approx(2550, rel=1e-12)


@pytest.mark.parametrize("form", ["exact", "asymptotic"])
@pytest.mark.parametrize("topology", ["ring", "line", "switch", "fully_connected"])
def test_thresholds_are_where_the_times_change_places(topology: Topology, form: Form) -> None:
    random, met = Random(f"{topology} {form}"), 0
    for _ in range(60):
        latency = random.choice([0.0, 1e-6, 1e-4])
        mesh = Mesh((wire("x", random.randint(2, 9), topology, latency), wire("y", random.randint(2, 9), "ring", latency / 2)))
        specs, variable = random.choice([(SPLIT, "k"), (SCATTERED, "k"), (FSDP, "m"), (BOTH, "k"), (BOTH, "m")])
        sizes = {dim: float(round(2 ** random.uniform(4, 17))) for dim in "mkn"}
        found = Asked(specs, mesh, sizes, form).threshold(variable)
        if np.isnan(found):
            # nothing is overtaken: the product never takes the lead, however large the dim
            leads = [Asked(specs, mesh, {**sizes, variable: 2.0**e}, form).lead for e in range(-8, 50, 4)]
            assert all(lead <= 0 for lead in leads) or all(lead >= 0 for lead in leads)
            continue
        met += 1
        assert Asked(specs, mesh, {**sizes, variable: found * (1 - 1e-9)}, form).lead < 0
        assert Asked(specs, mesh, {**sizes, variable: found * (1 + 1e-9)}, form).lead > 0
    assert met >= 30


def test_no_threshold_where_partial_sums_stay() -> None:
    mesh = Mesh((wire("x", 2),))
    sizes = {dim: column(64) for dim in "mkn"}
    sharding = read({**SPLIT, "out_unreduced": ["x"]}, ARRAYS, sizes, mesh)
    (choice,) = plan(sharding, sizes, {name: column(8192) for name in ARRAYS})
    assert variables(choice.plan) == ()


@pytest.mark.parametrize(("axes", "degree"), [(1, 11.764705882352942), (2, 23.529411764705884)])
def test_the_largest_tensor_parallel_degree_of_llama_70b(axes: int, degree: float) -> None:
    """Ch. 5: Y < F·W/C with F = 30,000 and C/W = 2550 on one axis of a v5p; twice as many on two axes, here as one of twice the links."""
    axis = Axis("x", 4, "ring", axes * PEAK / 2550 / 2)
    asked = Asked(SCATTERED, Mesh((axis,)), {"m": 8192, "k": 30000, "n": 8192}, "asymptotic")
    assert is_tensor_parallel(asked.choice.plan, "x")
    assert axis_size(axis, compute_s=asked.compute_s, cost=asked.found[0], form="asymptotic").item() == pytest.approx(degree, rel=1e-12)


@pytest.mark.parametrize("form", ["exact", "asymptotic"])
@pytest.mark.parametrize("is_reducing", [False, True])
@pytest.mark.parametrize("topology", ["ring", "line", "switch"])
@pytest.mark.parametrize("specs", [SPLIT, SCATTERED, GATHERED], ids=["all-reduce", "scatter", "gather"])
def test_degrees_are_where_the_times_change_places(specs: Specs, topology: Topology, form: Form, *, is_reducing: bool) -> None:
    """Whole degrees below lead, whole degrees above lag."""
    random = Random(f"{topology} {form}")
    for _ in range(20):
        latency = random.choice([0.0, 1e-6, 1e-5, 1e-4])
        wired = Axis("x", 4, topology, 10 ** random.uniform(9, 12), latency, in_network_reduction=is_reducing and topology == "switch")
        sizes = {dim: float(round(2 ** random.uniform(9, 16))) for dim in "mkn"}
        asked = Asked(specs, Mesh((wired,)), sizes, form)
        degree = axis_size(wired, compute_s=asked.compute_s, cost=asked.found[0], form=form).item()
        for size in {int(degree * (1 - 1e-12)), int(degree * (1 + 1e-12)) + 1, int(degree / 2), int(degree) * 3}:
            if size >= 2 and size < 10**9 and abs(size - degree) > 1e-9 * degree:
                lead = Asked(specs, Mesh((dataclasses.replace(wired, size=size),)), sizes, form).lead
                assert (lead > 0) == (size < degree)
