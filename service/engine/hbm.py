"""The memory layer: elements become bytes here and nowhere else, so packing, scales and mixed formats hold for every op.

Every operand moves once between HBM and the chip (`traffic: "ideal"`), which is the least that any kernel can do.
Source: How to Scale Your Model, "All About Rooflines"; Williams, Waterman, Patterson 2009, "Roofline", section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from .arrays import Real, product
from .demand import ZERO, Demand, Operand
from .dtypes import DTYPES
from .formats import Scale, Storage


class Traffic(NamedTuple):
    """Bytes between HBM and the chip [B]."""

    by_operand: Mapping[str, Real]
    total: Real


def traffic(demand: Demand, storages: Mapping[str, Storage], shrink: Mapping[str, Real]) -> Traffic:
    """Bytes of each operand and in all [B]; `shrink` multiplies the bytes of an operand (a lever's what-if)."""
    by_operand = {each.name: operand_bytes(each, storages[each.name]) for each in demand.operands}
    for name, factor in shrink.items():
        by_operand[name] = by_operand[name] * factor
    return Traffic(by_operand, reduce(add, by_operand.values()) if by_operand else ZERO)


def operand_bytes(operand: Operand, stored: Storage) -> Real:
    """Bytes of one operand: its packed elements, then its scales [B]."""
    elements = _packed(operand.elements, stored.dtype.bits)
    return elements + scale_bytes(operand, stored) if stored.has_scales else elements


def scale_traffic(demand: Demand, storages: Mapping[str, Storage]) -> Real:
    """Bytes of the scales of all operands [B]."""
    scaled = (each for each in demand.operands if storages[each.name].has_scales)
    return reduce(add, (scale_bytes(each, storages[each.name]) for each in scaled))


def scale_bytes(operand: Operand, stored: Storage) -> Real:
    """Bytes of the scales of one operand: those that its format carries, or those stored beside it [B]."""
    if stored.scale is None:
        return _packed(_groups(operand, stored.dtype.group), stored.dtype.scale_bits)
    return _side_bytes(operand, stored.scale)


def _side_bytes(operand: Operand, scale: Scale) -> Real:
    count = _blocks(operand, scale.block) if scale.block is not None else _groups(operand, scale.group_size or 1)
    total = _packed(count, DTYPES[scale.dtype].bits)
    if scale.zero_point_dtype is not None:
        total = total + _packed(count, DTYPES[scale.zero_point_dtype].bits)
    return total


def _packed(count: Real, bits: int) -> Real:
    """Bytes of `count` values of `bits` bits each; a tensor ends on a whole byte.

    Below a byte the n values fill n bytes but for ⌊n·(8−bits)/8⌋: with 4 or 6 bits that is exact, where n·6 would be rounded above 2^53.
    """
    whole, rest = divmod(bits, 8)
    if rest == 0:
        return count * whole
    values = np.ceil(count)
    return values - np.floor(values * ((8 - bits) / 8))


def _groups(operand: Operand, size: int) -> Real:
    """Groups of `size` elements along the contraction, the ragged last one of each line included."""
    depth = product(operand.shape[axis] for axis in operand.along)
    return np.ceil(depth / size) * _lines(operand)


def _lines(operand: Operand) -> Real:
    along = {axis % len(operand.shape) for axis in operand.along}
    rest = [dim for axis, dim in enumerate(operand.shape) if axis not in along]
    return product(rest) if rest else np.ones(1)


def _blocks(operand: Operand, block: tuple[int, ...]) -> Real:
    """Blocks that cover the operand; dims outside the block (the batch) are not cut."""
    outer, inner = operand.shape[: -len(block)], operand.shape[-len(block) :]
    return product((*outer, *(np.ceil(dim / size) for dim, size in zip(inner, block, strict=True))))
