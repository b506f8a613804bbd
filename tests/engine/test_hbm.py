"""Bytes: packing and scales against a slow twin that lays the elements out one by one, and values that the formats' makers print."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.demand import Operand
from service.engine.dtypes import DTYPES
from service.engine.formats import Scale, Storage
from service.engine.hbm import operand_bytes

from .asking import ask
from .chips import EVERYTHING, machine

Shape = tuple[int, ...]


def twin(shape: Shape, along: tuple[int, ...], uncut: int, stored: Storage) -> int:
    """Bytes of an operand, by walking over all of its elements with whole numbers of Python.

    Elements that share a scale are those whose key is the same: in a block, the block that each dim falls in; in a group, the
    line on which the element lies and its place along the contraction.
    """
    places = list(product(*map(range, shape)))
    total = whole_bytes(len(places) * stored.dtype.bits)
    if stored.dtype.group:
        return total + whole_bytes(len({group_of(at, shape, along, stored.dtype.group) for at in places}) * stored.dtype.scale_bits)
    scale = stored.scale
    if scale is None:
        return total
    if scale.block is not None:
        keys: set[Any] = {(at[:uncut], tuple(place // size for place, size in zip(at[uncut:], scale.block, strict=True))) for at in places}
    else:
        keys = {group_of(at, shape, along, scale.group_size or 1) for at in places}
    zero_points = 0 if scale.zero_point_dtype is None else whole_bytes(len(keys) * DTYPES[scale.zero_point_dtype].bits)
    return total + whole_bytes(len(keys) * DTYPES[scale.dtype].bits) + zero_points


def whole_bytes(bits: int) -> int:
    return -(-bits // 8)


def group_of(at: tuple[int, ...], shape: Shape, along: tuple[int, ...], size: int) -> tuple[Any, int]:
    """The line of an element and the number of its group there; a contraction over several dims is walked in their order."""
    axes = {axis % len(shape) for axis in along}
    depth = 0
    for axis in sorted(axes):
        depth = depth * shape[axis] + at[axis]
    return tuple(place for axis, place in enumerate(at) if axis not in axes), depth // size


def counted(shape: Shape, along: tuple[int, ...], uncut: int, stored: Storage) -> float:
    operand = Operand("x", tuple(np.array([float(size)]) for size in shape), along=along, uncut=uncut)
    found: float = operand_bytes(operand, stored).item()
    return found


SIZES = st.integers(1, 7)
SHAPES = st.lists(SIZES, min_size=1, max_size=3).map(tuple)
SCALE_FORMATS = st.sampled_from(["fp32", "fp16", "fp8_e4m3", "int4"])
ZERO_POINTS = st.sampled_from([None, "int4", "int8", "fp16"])


@given(shape=SHAPES, dtype=st.sampled_from(sorted(DTYPES)), data=st.data())
def test_packed_elements_and_built_in_scales_are_those_of_the_twin(shape: Shape, dtype: str, data: st.DataObject) -> None:
    along = tuple(data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True)))
    stored = Storage(DTYPES[dtype])
    assert counted(shape, along, 0, stored) == twin(shape, along, 0, stored)


@given(shape=SHAPES, dtype=st.sampled_from(["int8", "int4", "fp6", "fp8_e4m3"]), size=st.integers(1, 9), data=st.data())
def test_scales_of_ragged_groups_are_those_of_the_twin(shape: Shape, dtype: str, size: int, data: st.DataObject) -> None:
    along = tuple(data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True)))
    stored = Storage(DTYPES[dtype], Scale(data.draw(SCALE_FORMATS), group_size=size, zero_point_dtype=data.draw(ZERO_POINTS)))
    assert counted(shape, along, 0, stored) == twin(shape, along, 0, stored)


@given(shape=SHAPES, data=st.data())
def test_scales_of_ragged_blocks_are_those_of_the_twin(shape: Shape, data: st.DataObject) -> None:
    uncut = data.draw(st.integers(0, len(shape) - 1))
    block = tuple(data.draw(st.lists(st.integers(1, 9), min_size=len(shape) - uncut, max_size=len(shape) - uncut)))
    stored = Storage(DTYPES["int8"], Scale(data.draw(SCALE_FORMATS), block=block, zero_point_dtype=data.draw(ZERO_POINTS)))
    assert counted(shape, (-1,), uncut, stored) == twin(shape, (-1,), uncut, stored)


@pytest.mark.parametrize(
    ("stored", "bytes_per_weight"),
    [
        (Storage(DTYPES["bf16"]), 2),
        (Storage(DTYPES["mxfp4"]), 0.53125),
        (Storage(DTYPES["nvfp4"]), 0.5625),
        (Storage(DTYPES["mxfp8"]), 1.03125),
        (Storage(DTYPES["int4"], Scale("fp16", group_size=128)), 0.515625),
        (Storage(DTYPES["int4"], Scale("fp16", group_size=128, zero_point_dtype="int4")), 0.51953125),
        (Storage(DTYPES["fp8_e4m3"], Scale("fp32", block=(128, 128))), 1 + 4 / 128**2),
    ],
)
def test_bytes_per_weight_of_a_square_matrix(stored: Storage, bytes_per_weight: float) -> None:
    """Element bits and the share of a scale; tools that leave the scales out are 3 to 12 % short of a checkpoint's size."""
    assert counted((4096, 4096), (-2,), 0, stored) == bytes_per_weight * 4096**2


def test_the_experts_of_gpt_oss_120b_fill_their_share_of_the_checkpoint() -> None:
    """114,661,785,600 expert weights in mxfp4 are 60.91 GB. Source: the published checkpoint of gpt-oss-120b, 65,248,815,744 B."""
    assert counted((114_661_785_600 // 2880, 2880), (-1,), 0, Storage(DTYPES["mxfp4"])) == 60_914_073_600


def test_an_odd_count_of_int4_ends_on_a_whole_byte() -> None:
    assert [counted((count,), (-1,), 0, Storage(DTYPES["int4"])) for count in (1, 2, 3, 7)] == [1, 1, 2, 4]


@pytest.mark.parametrize("dtype", ["fp6", "int4", "int8"])
@pytest.mark.parametrize("count", [2**51 + 3, 5_456_703_623_666_007, 2**53 - 2, 2**53 - 1])
def test_bytes_are_exact_up_to_the_largest_dim(count: int, dtype: str) -> None:
    """6·count alone would be rounded above 2^53, and a byte be lost."""
    assert counted((count,), (-1,), 0, Storage(DTYPES[dtype])) == -(-count * DTYPES[dtype].bits // 8)


def test_the_operands_of_a_product_have_scales_along_the_contraction() -> None:
    """a is [batch, m, k] and b [batch, k, n]: ⌈k/group⌉ scales for each row of a, and for each column of b."""
    scale = Scale("fp32", group_size=100)
    found = ask("matmul", EVERYTHING, batch=3, m=5, k=250, n=7, dtype="int8", a_scale=scale, b_scale=scale).bytes
    assert found["a"].item() == 3 * (5 * 250 + 5 * 3 * 4)
    assert found["b"].item() == 3 * (250 * 7 + 3 * 7 * 4)
    assert found["out"].item() == 3 * 5 * 7


def test_a_block_is_given_in_the_operands_own_order() -> None:
    """b is [k, n]: blocks of (100, 3) over (250, 7) are 3 by 3, and the batch is not cut."""
    found = ask("matmul", EVERYTHING, batch=3, m=5, k=250, n=7, dtype="int8", b_scale=Scale("fp32", block=(100, 3))).bytes
    assert found["b"].item() == 3 * (250 * 7 + 9 * 4)


def test_a_gigabyte_at_a_gigabyte_per_second_takes_a_second_and_a_gibibyte_more() -> None:
    """GB is 10^9 and GiB 2^30; the tools that mix them are 7 % off."""
    chip = machine(hbm=1e9)
    assert ask("elementwise", chip, n=10**9, inputs=1, outputs=1, dtype="int8").times.hbm.item() == 2.0
    assert ask("elementwise", chip, n=2**30, inputs=1, outputs=1, dtype="int8").times.hbm.item() == 2.147483648
