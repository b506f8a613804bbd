"""The sharded products of How to Scale Your Model (J. Austin et al., Google DeepMind, jax-ml.github.io/scaling-book), ch. 3 to 5.

The chapters write A[I_X, J] · B[J, K_Y] → C[I_X, K_Y]{U_Z}; the tests are in the same notation.
"""

from __future__ import annotations

import re

import pytest

from service.engine.arrays import column
from service.engine.mesh import Axis, Mesh, Topology
from service.engine.sharding import alternatives, arrays, costs, local, plan, read, sizes, total

from ..asking import term

NAMES = {"all_gather": "AllGather", "reduce_scatter": "ReduceScatter", "all_reduce": "AllReduce", "all_to_all": "AllToAll"}
ARRAY = re.compile(r"(\w+)\[([^]]*)\](?:\{U_(\w+)\})?")


def array(text: str) -> tuple[str, list[str], list[list[str]], list[str]]:
    """Name, dims, the axes of each dim, and axes over which sums are pending."""
    found = ARRAY.fullmatch(text)
    assert found is not None
    parts = [part.split("_") for part in found[2].split(",")]
    return found[1], [part[0] for part in parts], [list(part[1]) if len(part) > 1 else [] for part in parts], list(found[3] or "")


def steps(lhs: str, rhs: str, out: str) -> list[str]:
    """The collectives of a product in the notation of the book."""
    read_ = {name: array(text) for name, text in (("a", lhs), ("b", rhs), ("out", out))}
    dims = {name: tuple(of[1]) for name, of in read_.items()}
    mesh = Mesh(tuple(Axis(name, 4, "ring", 4.5e10) for name in "XYZ"))
    lengths = {dim: column(4096) for of in dims.values() for dim in of}
    specs = {name: of[2] for name, of in read_.items()}
    sharding = read({**specs, "out_unreduced": read_["out"][3]}, dims, lengths, mesh)
    (choice,) = plan(sharding, lengths, dict.fromkeys(dims, column(2 * 4096**2)))
    return [
        f"{NAMES[step.kind]}_{''.join(step.axes)}({','.join([read_[step.operand][0], *filter(None, [step.dim])])})"
        for step in choice.plan.collectives
    ]


@pytest.mark.parametrize(
    ("lhs", "rhs", "out", "expected"),
    [
        # ch. 3, the four cases
        ("A[I_X,J]", "B[J,K_Y]", "C[I_X,K_Y]", []),
        ("A[I_X,J]", "B[J,K]", "C[I,K]", ["AllGather_X(C,I)"]),
        ("A[I,J_X]", "B[J,K]", "C[I,K]", ["AllGather_X(A,J)"]),
        ("A[I,J_X]", "B[J_X,K]", "C[I,K]", ["AllReduce_X(C)"]),
        ("A[I,J_X]", "B[J_X,K]", "C[I,K_X]", ["ReduceScatter_X(C,K)"]),
        ("A[I,J_X]", "B[J_X,K]", "C[I,K]{U_X}", []),
        ("A[I_X,J]", "B[J,K_X]", "C[I,K_X]", ["AllGather_X(A,I)"]),
        ("A[I_X,J]", "B[J,K_X]", "C[I_X,K]", ["AllGather_X(B,K)"]),
        # ch. 3, problem 6
        ("A[I_X,J_Y]", "B[J_Y,K]", "C[I_X,K]", ["AllReduce_Y(C)"]),
        ("A[I_X,J]", "B[J_X,K_Y]", "C[I_X,K_Y]", ["AllGather_X(B,J)"]),
        # ch. 5, tensor parallelism, data parallelism, FSDP
        ("Tmp[B,F_Y]", "W[F_Y,D]", "Out[B,D_Y]", ["ReduceScatter_Y(Out,D)"]),
        ("In[B,D_Y]", "W[D,F_Y]", "Tmp[B,F_Y]", ["AllGather_Y(In,D)"]),
        ("In[B_X,D_Y]", "W[D_X,F_Y]", "Tmp[B_X,F_Y]", ["AllGather_Y(In,D)", "AllGather_X(W,D)"]),
    ],
)
def test_the_collectives_of_the_book(lhs: str, rhs: str, out: str, expected: list[str]) -> None:
    assert steps(lhs, rhs, out) == expected


@pytest.mark.parametrize(("out", "expected"), [("dW[F,D]", ["AllReduce_X(dW)"]), ("dW[F,D_X]", ["ReduceScatter_X(dW,D)"])])
def test_gradients_sum_over_the_batch(out: str, expected: list[str]) -> None:
    """Ch. 5: Tmp[B_X, F] · dOut[B_X, D], where the batch is what is summed."""
    assert steps("Tmp[B_X,F]", "dOut[B_X,D]", out) == expected


C4 = 2.75e14
"""bf16 peak of a v4p as the chapter has it."""


def v4p() -> Mesh:
    return Mesh(tuple(Axis(name, 4, "ring", 4.5e10) for name in "xyz"))


def test_a_replicated_result_from_layouts_of_ones_choice() -> None:
    """Ch. 3, problem 5, with sizes: on 4×4×4 chips split an output dim and gather, or the contraction and reduce, or repeat all work."""
    product = term("matmul", m=8192, k=8192, n=8192, dtype="bf16")
    mesh, whole = v4p(), dict.fromkeys(("a", "b", "out"), column(2 * 8192**2))
    sharding = read({name: [None, None] for name in arrays(product)}, arrays(product), sizes(product), mesh)
    (rules,) = plan(sharding, sizes(product), whole)
    times = {"rules": (local(product, rules.plan).demand().flops / C4).item()}
    for other in alternatives(sharding, sizes(product), [rules]):
        math = local(product, other.plan).demand().flops / C4
        times[other.plan.name] = max(math.item(), total(costs(other.plan, whole, mesh, form="asymptotic")).item())
    assert times == pytest.approx(
        {
            "rules": 0.003998224101003637,
            "split m over x and y and z": 0.0004971026962962963,
            "split k over x and y and z": 0.0009942053925925925,
            "split n over x and y and z": 0.0004971026962962963,
        },
        rel=1e-9,
    )


@pytest.mark.parametrize(
    ("a", "b", "out", "expected"),
    [
        (["x", "y"], ["y", None], ["x", None], 0.0011184810666666667),
        (["x", None], ["x", "y"], ["x", "y"], 0.0005592405333333334),
        (["x", None], [None, "y"], ["x", "y"], 0.0),
    ],
)
def test_the_three_products_of_problem_6(a: list[str | None], b: list[str | None], out: list[str | None], expected: float) -> None:
    """Ch. 3, problem 6, on a 4×4 slice of v5e, which closes no ring; I = J = K = 8192 in bf16, 349 µs of arithmetic each."""
    product = term("matmul", m=8192, k=8192, n=8192, dtype="bf16")
    topology: Topology = "line"
    mesh = Mesh((Axis("x", 4, topology, 4.5e10), Axis("y", 4, topology, 4.5e10)))
    whole = dict.fromkeys(("a", "b", "out"), column(2 * 8192**2))
    sharding = read({"a": a, "b": b, "out": out}, arrays(product), sizes(product), mesh)
    (choice,) = plan(sharding, sizes(product), whole)
    assert total(costs(choice.plan, whole, mesh)).item() == pytest.approx(expected, rel=1e-12)
    assert (local(product, choice.plan).demand().flops / 1.97e14).item() == pytest.approx(0.0003488298311472081, rel=1e-12)


def test_work_repeats_over_an_axis_that_splits_nothing() -> None:
    """Ch. 4, problem 2: A[B_X, D_Y] · W[D_Y, F] on 4×8×4 chips: 1/32 of the work each, four times the work in all."""
    product = term("matmul", m=1024, k=4096, n=16384, dtype="bf16")
    mesh = Mesh((Axis("x", 4, "ring", 4.5e10), Axis("y", 8, "ring", 4.5e10), Axis("z", 4, "ring", 4.5e10)))
    sharding = read({"a": ["x", "y"], "b": ["y", None], "out": ["x", None]}, arrays(product), sizes(product), mesh)
    (choice,) = plan(sharding, sizes(product), dict.fromkeys(("a", "b", "out"), column(1)))
    ideal, each = product.demand().flops.item(), local(product, choice.plan).demand().flops.item()
    assert (ideal, each, each * choice.plan.devices) == (137438953472, 4294967296, 549755813888)
    assert choice.plan.repeated == ("z",)
    assert choice.plan.devices // choice.plan.work_divisor == 4


@pytest.mark.parametrize(("d", "winner"), [(2044, "rules"), (2052, "split k over x")])
def test_slicing_and_reducing_beats_a_gather_of_a_long_contraction(d: int, winner: str) -> None:
    """Ch. 3, problem 4: A[B, D] · W[D_X, F] → C[B, F]: 2DF/W against 4BF/W, so reducing wins where D > 2·B."""
    product = term("matmul", m=1024, k=d, n=4096, dtype="bf16")
    mesh = Mesh((Axis("x", 4, "ring", 4.5e10),))
    whole = {"a": column(2 * 1024 * d), "b": column(2 * d * 4096), "out": column(2 * 1024 * 4096)}
    sharding = read({"a": [None, None], "b": ["x", None], "out": [None, None]}, arrays(product), sizes(product), mesh)
    chosen = plan(sharding, sizes(product), whole)
    plans = [each.plan for each in (*chosen, *alternatives(sharding, sizes(product), chosen))]
    times = {each.name: total(costs(each, whole, mesh, form="asymptotic")).item() for each in plans}
    assert times["rules"] == pytest.approx(2 * d * 4096 / 9e10, rel=1e-12)
    assert times["split k over x"] == pytest.approx(4 * 1024 * 4096 / 9e10, rel=1e-12)
    assert min(("rules", "split k over x"), key=times.__getitem__) == winner
