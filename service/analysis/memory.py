"""What the ops of a question take of a chip's memory, in whole bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..engine.fabric import Fabric
from ..engine.memory import held
from ..errors import InvalidInput, refuse
from .cells import EXACT
from .magnitude import LARGEST
from .targets import Target
from .terms import Asked, lists_of, placed


class Part(NamedTuple):
    """An array, or a copy of it, of one op."""

    array: str
    made_by: str | None
    """the collective that writes the copy"""
    bytes: int
    """for one execution of the op"""


def parts(asked: Asked, fabric: Fabric) -> list[Part]:
    """All that a chip holds for one execution of an op. Raises `InvalidInput` with pointers into the question, as too-large."""
    try:
        found = held(asked.term, fabric)
    except InvalidInput as error:
        raise placed(error, asked.pointer, asked.model) from error
    sizes = [each.bytes.item() for each in found]
    if not sum(sizes) <= LARGEST:
        raise refuse(asked.pointer, "too-large", "The bytes of this op exceed 1e300.")
    return [Part(each.array, each.made_by, int(size)) for each, size in zip(found, sizes, strict=True)]


def total(found: Sequence[Part]) -> int:
    """Bytes of all parts together."""
    return sum(each.bytes for each in found)


def capacity(target: Target, pointer: str) -> int:
    """The HBM of a chip [B]; `pointer` is where the target stands. Raises `InvalidInput` (missing)."""
    if target.hbm_bytes is not None:
        return target.hbm_bytes
    if target.chip is None:
        raise refuse(f"{pointer}/chip/hbm/capacity_bytes", "missing", "What fits is a question of the capacity of the HBM.")
    detail = "No capacity of this chip's HBM is known; write the chip in place, with base and hbm.capacity_bytes."
    raise refuse(f"{pointer}/chip", "missing", detail)


def without_columns(asked: Asked, what: str) -> None:
    """Raises `InvalidInput` (use-batches) where a list stands for a number of an op."""
    for step, _ in lists_of(asked.model):
        raise refuse(f"{asked.pointer}/{step}", "use-batches", f"{what} is about one op or a list of ops; columns are for batches.")


def written(count: int) -> int | float:
    """A count as JSON has it: exact up to 2^53, as a float beyond."""
    return count if abs(count) <= EXACT else float(count)
