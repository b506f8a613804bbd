"""Layouts: which axes of the mesh split which dim of which array.

A dim that a list of axes splits is cut into equal blocks, as many as the axes have chips together; the first axis of the list is the
outermost digit of a block's number. An axis that splits no dim of an array repeats it, and an axis of one chip splits nothing.

    carriers   the operands that have a dim
    summed     a dim that the result lacks: chips that split it hold partial sums of the result
Source: How to Scale Your Model, "Sharded Matrices", notation A[I_X, J_YZ]{U_W}.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Array:
    """An operand, or the result, as it lies across the mesh."""

    name: str
    dims: tuple[str, ...]
    split: tuple[tuple[str, ...], ...]
    """the axes that split each dim, the outermost first"""

    @cached_property
    def layout(self) -> dict[str, tuple[str, ...]]:
        return dict(zip(self.dims, self.split, strict=True))

    def dim_over(self, axis: str) -> str | None:
        """The dim that `axis` splits; None where the array repeats over it."""
        return next((dim for dim, axes in self.layout.items() if axis in axes), None)


@dataclass(frozen=True)
class Sharding:
    """The layouts of all arrays of a product, on a mesh."""

    operands: tuple[Array, ...]
    out: Array
    unreduced: tuple[str, ...]
    """axes over which the result stays a partial sum"""
    mesh: tuple[tuple[str, int], ...]
    """every axis with its chips, innermost first"""

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The axes of more than one chip."""
        return tuple([name for name, size in self.mesh if size > 1])

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return dict(self.mesh)

    def chips(self, axes: Iterable[str]) -> int:
        """Chips that `axes` span together: the blocks into which they cut a dim."""
        sizes = self._sizes
        return math.prod([sizes[axis] for axis in axes])

    @property
    def devices(self) -> int:
        return self.chips(self._sizes)

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """All dims of the product, in the order of appearance."""
        return tuple(dict.fromkeys(dim for each in self.operands for dim in each.dims))

    def is_summed(self, dim: str) -> bool:
        return dim not in self.out.dims

    def carriers(self, dim: str) -> tuple[Array, ...]:
        return tuple([each for each in self.operands if dim in each.dims])

    def splits_everywhere(self, axis: str, dim: str) -> bool:
        """Whether `axis` splits `dim` in every operand that has it."""
        return all(axis in each.layout[dim] for each in self.carriers(dim))
