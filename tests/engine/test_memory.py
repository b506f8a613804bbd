"""What a chip holds, against what moves and against the blocks on a simulated mesh; and the largest batch, by trying all."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pytest

from service.engine.arrays import Real, column
from service.engine.collectives import COLLECTIVES
from service.engine.fabric import Fabric
from service.engine.hbm import traffic
from service.engine.memory import even_step, held, largest_batch, total
from service.engine.mesh import Axis, Mesh
from service.engine.ops import OPS
from service.engine.sharding import Choice, Sharding, plan
from service.engine.term import LARGEST_DIM, Term

from .asking import term
from .drawing import examples
from .sharding import simulated_mesh as simulated
from .sharding.drawn import EINSUMS, MATMUL, Case, draw
from .sharding.simulated_mesh import Spread

Arrays = Mapping[str, tuple[str, ...]]

ONE_CHIP = Fabric()
PRODUCTS: tuple[Arrays, ...] = (MATMUL, MATMUL, *EINSUMS)
KEPT_WHOLE = {
    "attention": "the keys before a window too",
    "embedding": "the whole table, not the rows that are read",
    "grouped_matmul": "all experts, not those that have a row",
    "optimizer_step": "what is updated in place lies there once",
}
"""Ops that hold other bytes than they move, and what they hold."""


def sizes(asked: Term, fabric: Fabric = ONE_CHIP) -> list[tuple[str, str | None, float]]:
    return [(each.array, each.made_by, each.bytes.item()) for each in held(asked, fabric)]


def moved(asked: Term) -> dict[str, float]:
    demand = asked.demand()
    return {name: each.item() for name, each in traffic(demand, asked.storages(demand), {}).by_operand.items()}


@pytest.mark.parametrize("kind", sorted(OPS.keys() - KEPT_WHOLE.keys()))
def test_one_chip_holds_what_it_moves(kind: str) -> None:
    for members in examples(kind):
        asked = term(kind, **members)
        assert sizes(asked) == [(name, None, each) for name, each in moved(asked).items()]


def test_an_embedding_holds_its_whole_table() -> None:
    """128,256 rows of 8,192 in bf16 are 2.1 GB, of which a token reads 16 KiB."""
    found = sizes(term("embedding", tokens=8, vocab=128_256, d=8192, dtype="bf16"))
    assert found == [("table", None, 2 * 128_256 * 8192), ("ids", None, 32), ("out", None, 2 * 8 * 8192)]


def test_a_mixture_of_experts_holds_them_all() -> None:
    """One token of two experts reads two matrices of 128."""
    asked = term("grouped_matmul", tokens=1, experts=128, top_k=2, k=64, n=32, dtype="bf16")
    assert moved(asked)["b"] == 2 * 64 * 32 * 2
    assert sizes(asked) == [("a", None, 2 * 64 * 2), ("b", None, 128 * 64 * 32 * 2), ("out", None, 2 * 32 * 2)]


def test_a_cache_holds_what_lies_before_the_window() -> None:
    """A query sees 100 keys of 1,000, which lie in 63 pages of 16 rows."""
    members: dict[str, Any] = {"batch": 3, "q_len": 1, "kv_len": 1000, "heads": 8, "kv_heads": 2, "head_dim": 64, "dtype": "bf16"}
    windowed = term("attention", **members, window=100, page_size=16)
    assert moved(windowed)["k"] == 3 * 112 * 2 * 64 * 2
    cached = 3 * 63 * 16 * 2 * 64 * 2
    assert sizes(windowed)[1:3] == [("k", None, cached), ("v", None, cached)]
    whole = term("attention", **members)
    assert sizes(whole) == [(name, None, each) for name, each in moved(whole).items()]


def test_an_optimizer_step_updates_in_place() -> None:
    """Adam with bf16 weights and fp32 moments: 10 bytes a parameter (How to Scale Your Model, training), and 2 of its gradient."""
    found = {name: each for name, _, each in sizes(term("optimizer_step", n=1000, algorithm="adam", dtype="bf16"))}
    assert found == {"weights": 2000, "moment1": 4000, "moment2": 4000, "gradients": 2000}
    with_master = sizes(term("optimizer_step", n=1000, algorithm="adam", dtype="bf16", master_dtype="fp32"))
    assert sum(each for *_, each in with_master) == 16_000


def test_a_collective_holds_what_it_reads_and_what_it_writes() -> None:
    """Of 1,001 bytes over eight chips a piece is 126, the last one short."""
    mesh = Mesh((Axis("x", 4, "ring", 1e9), Axis("y", 2, "switch", 1e9), Axis("z", 1, "ring", 1e9)))
    expected = {
        "all_gather": (126, 1001),
        "reduce_scatter": (1001, 126),
        "all_reduce": (1001, 1001),
        "all_to_all": (126, 126),
        "broadcast": (1001, 1001),
        "send": (1001, 1001),
    }
    for kind, cls in COLLECTIVES.items():
        asked = cls(bytes=column(1001), axes=("x",) if kind == "send" else ("x", "y", "z"))
        assert tuple(each for *_, each in sizes(asked, Fabric(mesh))) == expected[kind]


def equation(arrays: Arrays) -> str:
    *operands, out = ("".join(dims) for dims in arrays.values())
    return f"{','.join(operands)}->{out}"


def asked_of(case: Case, **members: Any) -> Term:
    return term("einsum", equation=equation(case.arrays), dims=dict(case.sizes), **{"dtype": "fp32", **members})


def laid_out(asked: Term, laid: Sharding) -> Fabric:
    demand, columns = asked.demand(), asked.columns()
    whole = traffic(demand, asked.storages(demand), {}).by_operand
    return Fabric(sharding=laid, choices=plan(laid, {dim: columns[dim] for dim in laid.dims}, whole))


def lying(case: Case, found: Choice) -> list[tuple[str, str | None, float]]:
    """Bytes of the blocks that a chip of a simulated mesh has had once it has followed a plan; slices are views."""
    mesh = simulated.Mesh(case.chips)
    blocks: list[tuple[str, str | None, float]] = []
    for name, dims in case.arrays.items():
        whole = np.zeros([case.sizes[dim] for dim in dims])
        layout = case.layout(name) if name != "out" else {dim: list(found.plan.splits[dim]) for dim in dims}
        array = Spread.of(mesh, dims, layout, whole)
        first = mesh.chips[0]
        blocks.append((name, None, 4.0 * array.blocks[first].size))
        for step in found.plan.steps:
            if step.operand == name:
                array.take(step.kind, step.dim, step.to, step.axes)
                blocks += [] if step.is_free else [(name, step.kind, 4.0 * array.blocks[first].size)]
    return blocks


def test_what_is_held_is_what_lies_on_a_simulated_mesh() -> None:
    random, copies = Random(11), 0
    for _ in range(120):
        case = draw(random, random.choice(PRODUCTS))
        asked, laid = asked_of(case), case.read()
        fabric = laid_out(asked, laid)
        (choice,) = fabric.choices
        expected = lying(case, choice)
        assert sizes(asked, fabric) == expected
        assert total(asked, fabric).item() == sum(each for *_, each in expected)
        copies += sum(made_by is not None for _, made_by, _ in expected)
    assert copies > 120


SCALES: tuple[dict[str, Any], ...] = (
    {"dtype": "bf16"},
    {"dtype": "int4", "compute_dtype": "int8", "a_scale": {"group_size": 3, "dtype": "fp16"}},
    {"dtype": "mxfp4", "out_dtype": "bf16"},
    {"dtype": "fp8", "a_scale": {"group_size": 7, "dtype": "fp32"}, "out_dtype": "fp32"},
)
TRIED = 600


def found_for(asked: Term, fabric: Fabric, limit: float) -> int:
    """The largest batch with the plan of the question."""
    laid = fabric.sharding
    return largest_batch(asked, [fabric], limit, 1 if laid is None else even_step(asked, laid, [each.plan for each in fabric.choices]))


def test_the_largest_batch_is_the_largest_of_all_that_fit() -> None:
    random, nulls = Random(5), 0
    for _ in range(120):
        case = draw(random, random.choice(PRODUCTS))
        asked, laid = asked_of(case, **random.choice(SCALES)), case.read()
        if asked.batch_dim is None:
            continue
        fabric = laid_out(asked, laid)
        step = even_step(asked, laid, [fabric.choices[0].plan])
        held_by_size = total(asked.batch_of(step * column(np.arange(1, TRIED))), fabric)
        limit = held_by_size[random.randint(0, TRIED // 2)] - random.choice((0, 0, 1, random.randint(0, 1000)))
        fine = np.flatnonzero(held_by_size <= limit)
        expected = step * (int(fine[-1]) + 1) if fine.size else 0
        assert found_for(asked, fabric, limit) == expected, (case, limit)
        nulls += not expected
    assert nulls < 24


def test_the_largest_batch_of_one_chip() -> None:
    """a, b and out of [m, 512]·[512, 512] in bf16 take 512 KiB of b and 2 KiB a row: 1 MiB holds 256 rows."""
    asked = term("matmul", m=1, k=512, n=512, dtype="bf16")
    limits = (2**20, 2**20 + 2047, 2**20 + 2048, 2**19, 2**19 + 2048)
    assert [found_for(asked, ONE_CHIP, limit) for limit in limits] == [256, 256, 257, 0, 1]
    assert found_for(asked, ONE_CHIP, 2.0**63) == 2**63 // 2048 - 256
    assert found_for(asked, ONE_CHIP, 2.0**80) == LARGEST_DIM


@pytest.mark.parametrize("parts", [1, 2, 3, 8])
def test_the_most_sequences(parts: int) -> None:
    """Each replica has whole sequences of 20 tokens, and its rows are cut into equal parts."""
    members: dict[str, Any] = {"sequence_length": 20, "replicas": 6, "k": 64, "n": 64, "dtype": "bf16"}
    asked = term("matmul", sequences=240, **members)
    laid = rows_over(parts)
    limit = 64 * 64 * 2 + 1000 * (64 + 64) * 2 / parts

    def rows(sequences: int) -> Real:
        return term("matmul", sequences=sequences, **members).columns()["m"]

    fine = [each for each in range(6, 700) if rows(each).item() % parts == 0 and rows(each).item() <= 1000]
    assert found_for(asked, laid_out(asked, laid), limit) == fine[-1]


def rows_over(parts: int) -> Sharding:
    """The rows cut over the chips of one axis."""
    chips = {"x": parts}
    layout: dict[str, dict[str, list[str]]] = {"a": {"m": ["x"], "k": []}, "b": {"k": [], "n": []}, "out": {"m": ["x"], "n": []}}
    return Case(MATMUL, chips, layout, [], {"m": 120, "k": 64, "n": 64}).read()
