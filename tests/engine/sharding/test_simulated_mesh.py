"""Every plan does what it says: real blocks go where it sends them, in the amounts that it states, and the product comes out right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from random import Random

import numpy as np
import pytest

from service.engine.sharding import Plan, Step, alternatives, plan

from . import simulated_mesh as simulated
from .drawn import EINSUMS, Case, draw
from .simulated_mesh import Moved, Spread, cut

PLANS = 2_100
LEAST = 100
TRAITS = ("case 1", "case 2", "case 3", "case 4", "unreduced", "axis list", "idle axis", "final reshard")
RESHARDS = {"all_gather", "all_to_all"}


def rules(case: Case, *, turned: bool = False) -> Plan:
    (choice,) = plan(case.read(turned=turned), case.columns, case.whole)
    return choice.plan


@cache
def mesh_of(sizes: tuple[tuple[str, int], ...]) -> simulated.Mesh:
    return simulated.Mesh(dict(sizes))


def run(case: Case, found: Plan, whole: Mapping[str, np.ndarray]) -> None:
    """Follow `found` on the simulated mesh and check blocks, volumes, work and result."""
    mesh = mesh_of(tuple(case.chips.items()))
    spread = {name: Spread.of(mesh, dims, case.layout(name), whole[name]) for name, dims in case.arrays.items() if name != "out"}
    before = [step for step in found.steps if step.operand != "out"]
    assert before == list(found.steps[: len(before)]), "operands come before the result"
    for step in before:
        check(step, spread[step.operand].take(step.kind, step.dim, step.to, step.axes), case)
    for name, array in spread.items():
        shape = tuple(case.sizes[dim] // found.divisors[dim] for dim in case.arrays[name])
        assert {block.shape for block in array.blocks.values()} == {shape}
    blocks = {chip: np.einsum(case.equation, *(array.blocks[chip] for array in spread.values())) for chip in mesh.chips}
    out = Spread(mesh, case.arrays["out"], {dim: found.splits[dim] for dim in case.arrays["out"]}, blocks)
    for step in found.steps[len(before) :]:
        check(step, out.take(step.kind, step.dim, step.to, step.axes), case)
    asked = case.layout("out")
    assert out.layout == asked
    if case.unreduced:
        out.take("all_reduce", None, None, case.unreduced)
    product = np.einsum(case.equation, *whole.values())
    assert all(np.array_equal(out.blocks[chip], cut(mesh, out.dims, asked, product, chip)) for chip in mesh.chips)


def check(step: Step, moved: Moved, case: Case) -> None:
    """What a step states is what it moves."""
    if step.is_free:
        assert moved.sent == 0
        return
    volume, others = step.volume(case.whole[step.operand]).item(), moved.group - 1
    assert moved.volume == volume
    if step.dim == step.to and step.kind == "all_to_all":
        assert 0 < moved.sent <= volume
    else:
        share = {"all_gather": others, "reduce_scatter": others, "all_reduce": 2 * others, "all_to_all": others / moved.group}
        assert moved.sent == pytest.approx(volume * share[step.kind], rel=1e-12)


def test_plans_by_the_rules_compute_the_product_with_the_bytes_they_state() -> None:
    random, numbers, seen = Random(2024), np.random.default_rng(2024), Counter[str]()
    for _ in range(PLANS):
        case = draw(random)
        found = rules(case)
        run(case, found, case.operands(numbers))
        if {"m", "k", "n"} <= set(case.sizes):
            seen.update(case.traits)
        seen.update(["final reshard"] if any(s.operand == "out" and s.kind in RESHARDS for s in found.collectives) else [])
    counts = {trait: seen[trait] for trait in TRAITS}
    print(f"{PLANS} plans simulated: {counts}")  # noqa: T201 - how often each case was met
    assert all(count >= LEAST for count in counts.values()), counts


def test_alternatives_compute_the_same_product() -> None:
    random, numbers, names = Random(7), np.random.default_rng(7), Counter[str]()
    for _ in range(100):
        case = draw(random)
        chosen = plan(case.read(), case.columns, case.whole)
        whole = case.operands(numbers)
        for other in alternatives(case.read(), case.columns, chosen):
            run(case, other.plan, whole)
            names[other.plan.name.split(" ")[0]] += 1
    print(f"alternatives simulated: {dict(names)}")  # noqa: T201 - how often each kind was met
    assert sum(names.values()) >= 500
    assert set(names) == {"split", "repeat", "exchange", "gather"}


@pytest.mark.parametrize("arrays", EINSUMS, ids=lambda arrays: ",".join("".join(dims) for dims in arrays.values()))
def test_einsums_of_any_number_of_operands(arrays: Mapping[str, tuple[str, ...]]) -> None:
    random, numbers = Random(5), np.random.default_rng(5)
    for _ in range(40):
        case = draw(random, arrays)
        run(case, rules(case), case.operands(numbers))
