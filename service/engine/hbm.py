"""The memory layer: elements become bytes here and nowhere else, so packing, scales and mixed formats hold for every op.

Every operand moves once between HBM and the chip (`traffic: "ideal"`), which is the least that any kernel can do.
Source: How to Scale Your Model, "All About Rooflines"; Williams, Waterman, Patterson 2009, "Roofline", section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from .arrays import Real, column, constant, product
from .demand import NOTHING, Demand, Operand, Shape
from .dtypes import DTYPES
from .formats import Storage

BYTES = {dtype.bits: constant(dtype.bits / 8) for dtype in DTYPES.values()}
"""Bytes of a value by its bits."""

SPARED = {bits: constant((8 - bits) / 8) for bits in BYTES if bits < 8}
"""Bytes that packing spares for each value."""


class Traffic(NamedTuple):
    """Bytes between HBM and the chip [B]."""

    by_operand: Mapping[str, Real]
    total: Real


def traffic(demand: Demand, storages: Mapping[str, Storage], shrink: Mapping[str, Real]) -> Traffic:
    """Bytes of each operand and in all [B]; `shrink` multiplies the bytes of an operand (a lever's what-if)."""
    by_operand = {each.name: operand_bytes(each, storages[each.name]) for each in demand.operands}
    for name, factor in shrink.items():
        by_operand[name] = by_operand[name] * factor
    return Traffic(by_operand, reduce(add, by_operand.values()) if by_operand else NOTHING)


def operand_bytes(operand: Operand, stored: Storage) -> Real:
    """Bytes of one operand: its packed elements, then its scales [B]."""
    total = _packed(operand.elements, stored.dtype.bits)
    if stored.has_scales:
        cut = _cut(operand, stored)
        count = product((*cut.whole, *[np.ceil(dim / size) for dim, size in zip(cut.dims, cut.sizes, strict=True)]))
        total = total + reduce(add, [_packed(count, bits) for bits in stored.scale_bits])
    return total


class Stairs(NamedTuple):
    """Bytes of scales: `height` more [B] each time that `dim` has passed another multiple of `size`."""

    dim: Real
    size: int
    height: Real


def stairs(demand: Demand, storages: Mapping[str, Storage]) -> list[Stairs]:
    """The stairs in which the scales of all operands grow. Below a byte a scale counts with its share of one."""
    return [stair for each in demand.operands if storages[each.name].has_scales for stair in _stairs(each, storages[each.name])]


def _stairs(operand: Operand, stored: Storage) -> Iterator[Stairs]:
    cut = _cut(operand, stored)
    scale_bytes = sum(stored.scale_bits) / 8
    groups = [np.ceil(dim / size) for dim, size in zip(cut.dims, cut.sizes, strict=True)]
    for at, (dim, size) in enumerate(zip(cut.dims, cut.sizes, strict=True)):
        beside = (*cut.whole, *groups[:at], *groups[at + 1 :])
        yield Stairs(dim, size, scale_bytes * product(beside) if beside else column(scale_bytes))


class Cut(NamedTuple):
    """How scales cut an operand: `dims` into parts of `sizes` elements, the last of them ragged; the `whole` dims not at all."""

    whole: Shape
    dims: Shape
    sizes: tuple[int, ...]


def _cut(operand: Operand, stored: Storage) -> Cut:
    """Blocks cut the innermost dims; groups cut the contraction as one dim, each line of it anew."""
    scale = stored.scale
    if scale is not None and scale.block is not None:
        outer = len(operand.shape) - len(scale.block)
        return Cut(operand.shape[:outer], operand.shape[outer:], scale.block)
    along = {axis % len(operand.shape) for axis in operand.along}
    lines = tuple([dim for axis, dim in enumerate(operand.shape) if axis not in along])
    return Cut(lines, (product(operand.shape[axis] for axis in operand.along),), (stored.group,))


def _packed(count: Real, bits: int) -> Real:
    """Bytes of `count` values of `bits` bits each; a tensor ends on a whole byte.

    Below a byte the n values fill n bytes but for ⌊n·(8−bits)/8⌋: with 4 or 6 bits that is exact, where n·6 would be rounded above 2^53.
    """
    if bits >= 8:
        return count * BYTES[bits]
    values = np.ceil(count)
    return values - np.floor(values * SPARED[bits])
