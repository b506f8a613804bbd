"""How the operands of one term are stored, and in which class the term computes.

The order of defaults: an operand's own format, else `dtype`. An output without either takes the first input's format, or bf16
when that has fewer than 16 bits. The arithmetic class is the promotion of the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from ..errors import Fault, InvalidInput, refuse
from .dtypes import DTYPES, DType, arithmetic, promote, storage


@dataclass(frozen=True)
class Scale:
    """Scales stored beside an operand: one per `group_size` elements along the contraction, or one per block."""

    dtype: str
    group_size: int | None = None
    block: tuple[int, ...] | None = None
    """block of elements that shares a scale, in the operand's own order of dims"""
    zero_point_dtype: str | None = None

    def __post_init__(self) -> None:
        if (self.group_size is None) == (self.block is None):
            raise ValueError("scales are one per group or one per block")


class Storage(NamedTuple):
    """How one operand lies in memory."""

    dtype: DType
    scale: Scale | None = None

    @property
    def has_scales(self) -> bool:
        return self.scale is not None or self.dtype.group > 0

    @property
    def group(self) -> int:
        """Elements along the contraction that share a scale; 0 where none do."""
        return self.dtype.group if self.scale is None else self.scale.group_size or 0

    @property
    def scale_bits(self) -> tuple[int, ...]:
        """Bits of what a group, or a block, has beside its elements: a scale, and a zero point where there are such."""
        if self.scale is None:
            return (self.dtype.scale_bits,)
        held = (self.scale.dtype, self.scale.zero_point_dtype)
        return tuple([DTYPES[name].bits for name in held if name is not None])


class Formats(NamedTuple):
    """The format members of a term, every default filled, by the names of its fields."""

    members: Mapping[str, str | None]


def resolve(
    *, dtype: str | None, inputs: tuple[tuple[str, str | None], ...], out: str | None, compute: str | None, is_common: bool = False
) -> Formats:
    """Fill the defaults. `inputs` pairs the name of each input operand with its own format, if it has one.

    `is_common` when there are inputs that cannot have a format of their own.

    Raises `InvalidInput`: missing, unknown-dtype, ambiguous-compute-dtype; pointers are relative to the op.
    """
    common = None if dtype is None else storage(dtype, "/dtype")
    stored = {name: common if own is None else storage(own, f"/{name}_dtype") for name, own in inputs}
    known = {name: each for name, each in stored.items() if each is not None}
    if len(known) < len(stored):
        every = "" if is_common else f", or each of {', '.join(f'{name}_dtype' for name in stored)}"
        raise refuse("/dtype", "missing", f"State dtype{every}.")
    written = storage(out, "/out_dtype") if out is not None else common or _widened(next(iter(known.values())))
    computed = _promoted(list(known.values())) if compute is None else arithmetic(compute, "/compute_dtype")
    return Formats(
        {
            "dtype": None if common is None else common.name,
            **{f"{name}_dtype": each.name for name, each in known.items()},
            "out_dtype": written.name,
            "compute_dtype": computed,
        }
    )


def _widened(first: DType) -> DType:
    return first if first.bits >= 16 else DTYPES["bf16"]


def _promoted(inputs: list[DType]) -> str:
    """The class of all inputs together; each step keeps the wider of the two formats."""

    def wider(x: DType, y: DType) -> DType:
        winner = promote(x, y, "/compute_dtype")
        return x if x.arithmetic == winner else y

    return reduce(wider, inputs).arithmetic


def quantised_faults(wide: str | None, stored: str | None) -> list[Fault]:
    """What is wrong with `wide`, in which an activation arrives, before what it is quantised to: it has no more bits."""
    if wide is None or stored is None or DTYPES[wide].bits > storage(stored, "/a_dtype").bits:
        return []
    return [Fault("/a_quantized_from", "out-of-range", "An activation is quantised from a format with more bits than a has.")]


def scaled(name: str, dtype: DType, scale: Scale | None, dims: int) -> Storage:
    """The storage of operand `name` with `scale` beside it; `dims` is how many dims a block has.

    Raises `InvalidInput` with all that is wrong: the format carries scales of its own, a format of the scales does, the block has
    another number of dims.
    """
    if scale is None:
        return Storage(dtype)
    if faults := _misplaced(name, dtype, scale, dims):
        raise InvalidInput(faults)
    return Storage(dtype, scale)


def _misplaced(name: str, dtype: DType, scale: Scale, dims: int) -> list[Fault]:
    pointer, faults = f"/{name}_scale", []
    if dtype.group:
        faults.append(Fault(pointer, "invalid-request", f"{dtype.name} carries its own scales; leave {name}_scale out."))
    for member, held in (("dtype", scale.dtype), ("zero_point_dtype", scale.zero_point_dtype)):
        if held is not None and DTYPES[held].group:
            faults.append(Fault(f"{pointer}/{member}", "invalid-request", f"{held} carries scales of its own; a scale has none."))
    if scale.block is not None and len(scale.block) != dims:
        faults.append(Fault(f"{pointer}/block", "out-of-range", f"The block needs {dims} sizes, one per dim of the operand."))
    return faults
