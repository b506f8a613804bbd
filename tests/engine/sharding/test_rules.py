"""Which plan the layouts call for, where the textbook's cases leave a choice or say nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
import pytest

from service.engine.arrays import column
from service.engine.mesh import Axis, Mesh
from service.engine.sharding import Choice, Plan, alternatives, plan, read
from service.engine.sharding.reading import Spec
from service.engine.sharding.rules import candidates

from .drawn import BATCHED, MATMUL, draw

MESH = Mesh((Axis("x", 4, "ring", 1e9), Axis("y", 2, "ring", 1e9)))
N = None


def plans(
    arrays: Mapping[str, tuple[str, ...]],
    specs: Mapping[str, Spec],
    dims: Mapping[str, float | Sequence[float]] | None = None,
    whole: Mapping[str, float | Sequence[float]] | None = None,
) -> tuple[Choice, ...]:
    names = {dim for each in arrays.values() for dim in each}
    sizes = {dim: column((dims or {}).get(dim, 64)) for dim in names}
    return plan(read(specs, arrays, sizes, MESH), sizes, {name: column((whole or {}).get(name, 4096)) for name in arrays})


def the(arrays: Mapping[str, tuple[str, ...]], specs: Mapping[str, Spec], **more: Mapping[str, float | Sequence[float]]) -> Plan:
    (choice,) = plans(arrays, specs, **more)
    return choice.plan


def told(found: Plan) -> list[str]:
    return [
        f"{step.kind} {step.operand} {step.dim or ''}{f'>{step.to}' if step.to else ''} {','.join(step.axes)} /{step.parts}"
        for step in found.steps
    ]


def test_a_clash_that_the_result_does_not_decide_gathers_the_fewer_bytes_in_every_row() -> None:
    """Case 4 with a result that is split over neither: rows of one question may differ."""
    specs: dict[str, Spec] = {"a": ["x", N], "b": [N, "x"], "out": [N, N]}
    first, second = plans(MATMUL, specs, whole={"a": [100, 900, 500], "b": [900, 100, 500]})
    assert told(first.plan) == ["all_gather b n x /1", "all_gather out m x /1"]
    assert told(second.plan) == ["all_gather a m x /1", "all_gather out n x /1"]
    assert (first.rows.tolist(), second.rows.tolist()) == ([False, True, True], [True, False, False])
    assert [step.forced for step in first.plan.steps] == [False, True]


def test_what_nothing_else_could_do_is_forced() -> None:
    found = the(MATMUL, {"a": ["x", N], "b": ["x", "y"], "out": [N, "y"]})
    assert told(found) == ["all_gather b k x /2", "all_gather out m x /2"]
    assert all(step.forced for step in found.steps)


def test_an_axis_goes_over_to_another_dim_of_the_result() -> None:
    assert told(the(MATMUL, {"a": ["x", N], "b": [N, N], "out": [N, "x"]})) == ["all_to_all out m>n x /1"]


def test_an_axis_that_only_the_result_has_slices_an_operand_for_free() -> None:
    found = the(MATMUL, {"a": [N, "x"], "b": [N, N], "out": [N, "y"]})
    assert told(found) == ["all_gather a k x /1", "slice b n y /1"]
    assert (found.work_divisor, found.repeated, found.devices) == (2, ("x",), 8)


def test_a_slice_comes_before_what_it_makes_cheaper() -> None:
    assert told(the(MATMUL, {"a": [N, "x"], "b": [N, N], "out": ["y", N]})) == ["slice a m y /4", "all_gather a k x /2"]


def test_a_batch_that_one_operand_splits_is_sliced_in_the_other() -> None:
    assert told(the(BATCHED, {"a": ["x", N, N], "b": [N, N, N], "out": ["x", N, N]})) == ["slice b batch x /1"]


def test_a_batch_that_the_operands_split_unlike_is_resharded_in_one() -> None:
    """b goes from n to the batch by an all-to-all, as the result keeps the batch."""
    assert told(the(BATCHED, {"a": ["x", N, N], "b": [N, N, "x"], "out": ["x", N, N]})) == ["all_to_all b n>batch x /1"]


def test_lists_in_unlike_order_do_not_line_up() -> None:
    """Block 1 of (x, y) is chip (0, 1), block 1 of (y, x) is chip (1, 0): blocks of b change places before they are multiplied."""
    found = the(MATMUL, {"a": [N, ["x", "y"]], "b": [["y", "x"], N], "out": [N, N]})
    assert told(found) == ["all_to_all b k>k x,y /1", "all_reduce out  x,y /1"]


def test_an_outer_axis_leaves_after_blocks_have_changed_places() -> None:
    found = the(MATMUL, {"a": [["x", "y"], N], "b": [N, "x"], "out": ["y", "x"]})
    assert told(found) == ["all_to_all a m>m y,x /1", "all_gather a m x /2"]


def test_an_axis_is_left_out_where_a_dim_cannot_be_cut_by_all() -> None:
    """The batch of 4 is cut by x in a and by y in b, and not by 8 chips together."""
    specs: dict[str, Spec] = {"a": ["x", N, N], "b": ["y", N, N], "out": [N, N, N]}
    both, one = plans(BATCHED, specs, {"batch": [4, 8]})
    by_rows = {tuple(each.rows.tolist()): each.plan for each in (both, one)}
    assert by_rows[False, True].work_divisor == 8
    assert by_rows[True, False].work_divisor == 4


def test_a_summed_dim_stays_split_only_if_it_is_in_every_operand_that_has_it() -> None:
    arrays = {"a": ("i", "s"), "b": ("j", "s"), "c": ("s",), "out": ("i", "j")}
    split = the(arrays, {"a": [N, "x"], "b": [N, "x"], "c": ["x"], "out": [N, N]})
    assert told(split) == ["all_reduce out  x /1"]
    partly = the(arrays, {"a": [N, "x"], "b": [N, "x"], "c": [N], "out": [N, N]})
    assert told(partly) == ["all_gather a s x /1", "all_gather b s x /1"]


def test_a_third_operand_that_needs_the_axis_elsewhere_is_a_clash() -> None:
    """x splits j in a and b, and l in c: the result takes l, so a and b are gathered; without it the fewer bytes decide."""
    arrays = {"a": ("i", "j"), "b": ("j", "k"), "c": ("k", "l"), "out": ("i", "l")}
    specs: dict[str, Spec] = {"a": [N, "x"], "b": ["x", N], "c": [N, "x"], "out": [N, "x"]}
    assert told(the(arrays, specs)) == ["all_gather a j x /1", "all_gather b j x /1"]
    undecided = the(arrays, {**specs, "out": [N, N]}, whole={"a": 10**6})
    assert told(undecided) == ["all_gather c l x /1", "all_reduce out  x /1"]


def test_one_operand_alone_sums_what_it_has() -> None:
    assert told(the({"a": ("i", "j"), "out": ("i",)}, {"a": ["y", "x"], "out": [N]})) == ["all_reduce out  x /2", "all_gather out i y /1"]


def test_axes_of_one_signature_are_chosen_together() -> None:
    """Nothing is split: the alternatives split each dim over both axes at once."""
    sizes = {dim: column(64) for dim in "mkn"}
    sharding = read({name: [N, N] for name in MATMUL}, MATMUL, sizes, MESH)
    chosen = plan(sharding, sizes, dict.fromkeys(MATMUL, column(1)))
    names = [each.plan.name for each in alternatives(sharding, sizes, chosen)]
    assert names == [f"split {dim} over x and y" for dim in "mkn"]


def test_no_alternative_where_nothing_is_sent_and_nothing_repeats() -> None:
    sizes = {dim: column(64) for dim in "mkn"}
    sharding = read({"a": ["x", N], "b": [N, "y"], "out": ["x", "y"]}, MATMUL, sizes, MESH)
    chosen = plan(sharding, sizes, dict.fromkeys(MATMUL, column(1)))
    assert alternatives(sharding, sizes, chosen) == ()


def test_an_alternative_stands_for_the_rows_that_it_divides() -> None:
    sizes = {"m": column([64, 66]), "k": column(64), "n": column(63)}
    sharding = read({"a": [N, "x"], "b": [N, N], "out": [N, N]}, MATMUL, sizes, MESH)
    chosen = plan(sharding, sizes, dict.fromkeys(MATMUL, column(1)))
    rows = {each.plan.name: each.rows.tolist() for each in alternatives(sharding, sizes, chosen)}
    assert rows["split m over x"] == [True, False]
    assert rows["split m over y"] == [True, True]
    assert "split n over x" not in rows


def test_many_clashes_are_planned_in_bounded_time() -> None:
    """Twelve axes that a splits on m and b on n make 2¹² plans, of which those are looked at that differ from the first in one axis."""
    axes = [f"x{at}" for at in range(12)]
    mesh = Mesh(tuple(Axis(name, 2, "ring", 1e9) for name in axes))
    sizes = {dim: column(2**12) for dim in "mkn"}
    sharding = read({"a": [axes, N], "b": [N, axes], "out": [N, N]}, MATMUL, sizes, mesh)
    assert len(candidates(sharding)) == 13
    assert len(candidates(sharding, may_leave_out=True)) == 26
    ((found, _),) = plan(sharding, sizes, {"a": column(1), "b": column(10), "out": column(1)})
    assert found.work_divisor == 2**12


def test_the_order_of_the_axes_of_a_mesh_changes_no_amount() -> None:
    random = Random(11)
    for _ in range(400):
        case = draw(random)
        ((one, _), *more), ((other, _), *_) = (plan(case.read(turned=turned), case.columns, case.whole) for turned in (False, True))
        assert not more
        assert one.work_divisor == other.work_divisor
        assert one.sent(case.whole).item() == pytest.approx(other.sent(case.whole).item(), rel=1e-12)


def test_chips_share_the_work_and_repeat_what_no_axis_splits() -> None:
    random = Random(13)
    for _ in range(400):
        case = draw(random)
        ((found, _),) = plan(case.read(), case.columns, case.whole)
        repeats = np.prod([case.chips[axis] for axis in found.repeated])
        assert found.work_divisor * repeats == found.devices == np.prod([*case.chips.values()])


def test_columns_are_planned_as_single_rows_are() -> None:
    random, numbers = Random(17), np.random.default_rng(17)
    for _ in range(100):
        case = draw(random, random.choice((MATMUL, BATCHED)))
        factors = {dim: numbers.integers(1, 5, 20).astype(np.float64) for dim in case.sizes}
        sizes = {dim: size * factors[dim] for dim, size in case.columns.items()}
        whole = {name: np.prod([sizes[dim] for dim in dims], axis=0) for name, dims in case.arrays.items()}
        sharding = case.read()
        together = [(choice.plan.deeds, np.broadcast_to(choice.rows, 20)) for choice in plan(sharding, sizes, whole)]
        for row in range(20):
            one = slice(row, row + 1)
            sized, held = ({name: each[one] for name, each in columns.items()} for columns in (sizes, whole))
            ((alone, _),) = plan(sharding, sized, held)
            assert [deeds for deeds, rows in together if rows[row]] == [alone.deeds]
