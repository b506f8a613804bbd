"""Einstein summation against a slow twin that walks the index space, and against NumPy's own einsum."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.engine.formats import Scale
from service.errors import InvalidInput

from ..asking import ask, term
from ..chips import EVERYTHING, V5E
from ..drawing import Members, equations

TINY = equations(most=4, size=st.integers(1, 3))
FEW = settings(max_examples=50)


def split(equation: str) -> tuple[list[str], str]:
    left, out = equation.split("->")
    return left.split(","), out


def walked(members: Members) -> tuple[int, dict[str, int]]:
    """Operations and elements, by visiting every point of the index space.

    At each point the operands are multiplied with each other and the product is added to its element of the result: a multiply
    and an add where something is summed, one of the two where nothing is, or where one operand alone has nothing to multiply.
    """
    operands, out = split(members["equation"])
    indices = list(dict.fromkeys("".join(operands)))
    is_summed = set(indices) != set(out)
    touched: dict[str, set[Any]] = {name: set() for name in [*"abc"[: len(operands)], "out"]}
    operations = 0
    for point in product(*(range(members["dims"][index]) for index in indices)):
        at = dict(zip(indices, point, strict=True))
        for name, part in zip(touched, [*operands, out], strict=True):
            touched[name].add(tuple(at[index] for index in part))
        operations += (len(operands) > 1) + is_summed
    return operations, {name: len(seen) for name, seen in touched.items()}


def is_matrix_product(equation: str) -> bool:
    """Two operands share an index that is summed, and each has one for the result, or for a third, that the other lacks."""
    operands, out = split(equation)
    for first, second in combinations(range(len(operands)), 2):
        x, y = operands[first], operands[second]
        needed = out + "".join(part for at, part in enumerate(operands) if at not in (first, second))
        shared_and_summed = [index for index in x if index in y and index not in out]
        kept_by_x = [index for index in x if index in needed and index not in y]
        kept_by_y = [index for index in y if index in needed and index not in x]
        if shared_and_summed and kept_by_x and kept_by_y:
            return True
    return False


@FEW
@given(members=TINY)
def test_counts_are_those_of_a_walk_over_the_index_space(members: Members) -> None:
    found = ask("einsum", EVERYTHING, **members, dtype="int8")
    operations, elements = walked(members)
    assert found.flops.item() == operations
    assert {name: each.item() for name, each in found.bytes.items()} == elements


@FEW
@given(members=TINY)
def test_sizes_of_the_result_are_those_of_numpy(members: Members) -> None:
    operands, _ = split(members["equation"])
    arrays = [np.ones([members["dims"][index] for index in part]) for part in operands]
    out = np.einsum(members["equation"], *arrays)
    assert ask("einsum", EVERYTHING, **members, dtype="int8").bytes["out"].item() == out.size


@FEW
@given(members=TINY)
def test_the_unit_is_the_matrix_unit_for_products_alone(members: Members) -> None:
    found = ask("einsum", EVERYTHING, **members, dtype="bf16")
    is_product = is_matrix_product(members["equation"])
    assert found.placement.unit == ("matrix" if is_product else "vector")
    assert found.vector_flops.item() == (0 if is_product else found.flops.item())


@FEW
@given(members=TINY)
def test_the_gemm_of_a_product_has_all_of_its_operations(members: Members) -> None:
    demand = term("einsum", **members, dtype="bf16").demand()
    for gemm in demand.gemms:
        points = math.prod(members["dims"].values())
        assert (gemm.m * gemm.k * gemm.n * gemm.batch).item() == points


@pytest.mark.parametrize(
    ("equation", "dims", "flops", "unit"),
    [
        ("bd,df->bf", {"b": 64, "d": 8192, "f": 4096}, 2 * 64 * 8192 * 4096, "matrix"),
        ("bmk,bkn->bmn", {"b": 3, "m": 5, "k": 7, "n": 11}, 2 * 3 * 5 * 7 * 11, "matrix"),
        ("bshd,bthd->bhst", {"b": 2, "s": 3, "t": 5, "h": 7, "d": 11}, 2 * 2 * 3 * 5 * 7 * 11, "matrix"),
        ("i,j->ij", {"i": 30, "j": 40}, 1200, "vector"),
        ("i,i->", {"i": 30}, 60, "vector"),
        ("ij,j->i", {"i": 30, "j": 40}, 2400, "vector"),
        ("ij,ij->ij", {"i": 30, "j": 40}, 1200, "vector"),
        ("ij->i", {"i": 30, "j": 40}, 1200, "vector"),
        ("ij->ji", {"i": 30, "j": 40}, 0, "vector"),
        ("ij,jk,kl->il", {"i": 2, "j": 3, "k": 5, "l": 7}, 2 * 2 * 3 * 5 * 7, "matrix"),
        ("a,b,c->abc", {"a": 2, "b": 3, "c": 5}, 30, "vector"),
    ],
)
def test_known_shapes(equation: str, dims: dict[str, int], flops: int, unit: str) -> None:
    found = ask("einsum", EVERYTHING, equation=equation, dims=dims, dtype="bf16")
    assert (found.flops.item(), found.placement.unit) == (flops, unit)


def test_a_product_written_as_an_einsum_is_the_matmul() -> None:
    product_ = ask("matmul", V5E, m=64, k=8192, n=4096, dtype="bf16")
    written = ask("einsum", V5E, equation="bd,df->bf", dims={"b": 64, "d": 8192, "f": 4096}, dtype="bf16")
    assert written.flops == product_.flops
    assert written.lower == product_.lower
    assert {name: each.item() for name, each in written.bytes.items()} == {name: each.item() for name, each in product_.bytes.items()}


def test_group_scales_run_along_what_is_summed() -> None:
    """A[i, k, l]·B[k, l, j]: k and l together are the contraction, 15 long, so two groups of 8 for each i and each j."""
    found = ask(
        "einsum",
        EVERYTHING,
        equation="ikl,klj->ij",
        dims={"i": 4, "k": 3, "l": 5, "j": 6},
        dtype="int8",
        a_scale=Scale("fp32", group_size=8),
        b_scale=Scale("fp16", group_size=8),
    )
    assert found.bytes["a"].item() == 60 + 4 * 2 * 4
    assert found.bytes["b"].item() == 90 + 6 * 2 * 2


def test_a_transposition_needs_no_peak() -> None:
    found = ask("einsum", V5E, equation="ij->ji", dims={"i": 30, "j": 40}, dtype="int8")
    assert found.placement.peak is None
    assert found.lower.item() == 2400 / 8.2e11


def test_blanks_in_the_equation_are_ignored() -> None:
    assert term("einsum", equation=" b d , d f -> b f ", dims={"b": 1, "d": 2, "f": 3}, dtype="bf16").__dict__["equation"] == "bd,df->bf"


@pytest.mark.parametrize(
    "equation",
    ["", "bd,df", "bd;df->bf", "bd,,df->bf", ",->", "->", "bb->b", "bd->bdd", "bd,df->bg", "b1->b", "bd,df->bf->b", "...d->d", "é->é"],
)
def test_what_is_no_equation_is_refused(equation: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        term("einsum", equation=equation, dims={"b": 2, "d": 3, "f": 4}, dtype="bf16")
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/equation", "wrong-type")]


def test_sizes_and_indices_must_match() -> None:
    with pytest.raises(InvalidInput) as refused:
        term("einsum", equation="bd,df->bf", dims={"b": 2, "x": 3, "f": 4}, dtype="bf16")
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/dims/d", "missing"), ("/dims/x", "unknown-member")]


@pytest.mark.parametrize(
    ("members", "pointer", "code"),
    [
        ({"equation": "ij->ji", "dtype": "bf16", "b_dtype": "int8"}, "/b_dtype", "invalid-request"),
        ({"equation": "ij->ji", "dtype": "bf16", "b_scale": Scale("fp32", group_size=8)}, "/b_scale", "invalid-request"),
        ({"equation": "ij,i,j->ij", "a_dtype": "bf16", "b_dtype": "bf16"}, "/dtype", "missing"),
    ],
)
def test_formats_belong_to_an_operand(members: Members, pointer: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        term("einsum", dims={"i": 2, "j": 3}, **members)
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [(pointer, code)]
