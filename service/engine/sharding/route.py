"""How one array gets from one layout to another: the steps, in order.

    slice           an axis is added to a dim: every chip keeps its block of what it holds; free
    all_gather      an axis leaves: every chip receives the blocks of the others
    all_to_all      an axis goes over from one dim to another, or blocks change places because lists of axes differ in order
    reduce_scatter  pending sums over an axis are added, every chip keeps one block of a dim
    all_reduce      pending sums are added, every chip keeps all

V of a step is the whole array divided by the axes that split it and take no part in the step: of a gather after it, of a scatter before.

Only the innermost axis of a list can be taken off or put on, as blocks are contiguous. Where another one leaves, the blocks change
places first. Such an exchange sends every chip's block to one chip and is counted as an all-to-all over the axes that change places:
V·(N−1)/N² sent per chip where V/N is the exact figure.
Source: How to Scale Your Model, "Sharded Matrices"; Xu et al. 2021, "GSPMD", section 4 (resharding).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from math import lcm
from typing import NamedTuple

from ..arrays import Real
from .layout import Sharding

Layout = Mapping[str, tuple[str, ...]]


class Step(NamedTuple):
    """One step of a plan."""

    kind: str
    operand: str
    dim: str | None
    """the dim that is sliced, gathered, scattered, or from which axes go over; None where sums are added and nothing is cut"""
    to: str | None
    """the dim to which axes go over in an all-to-all: `dim` itself where blocks change places"""
    axes: tuple[str, ...]
    parts: int
    """into how many parts axes that take no part split the array"""
    forced: bool
    """whether the layouts as written leave no other way"""

    @property
    def is_free(self) -> bool:
        return self.kind == "slice"

    def volume(self, whole: Real) -> Real:
        """V from the size of the whole array, in whatever it is counted (elements, bytes)."""
        return whole / self.parts


class Route:
    """The steps of one array, and where they have brought it."""

    def __init__(self, name: str, start: Layout, sharding: Sharding, *, pending: Iterable[str] = (), chosen: Iterable[str] = ()) -> None:
        self.name = name
        self.layout = dict(start)
        self.pending = list(pending)
        self.chosen = frozenset(chosen)
        self.sharding = sharding
        self.steps: list[Step] = []
        self.cuts = {dim: sharding.chips(axes) for dim, axes in start.items()}
        """what the size of each dim has to be a multiple of, for equal blocks all along"""

    def reduce(self, target: Layout, kept: Iterable[str]) -> None:
        """Add the pending sums but those `kept`: scattered over the dim that `target` splits by their axis, else repeated."""
        self._trim(target)
        sums = [axis for axis in self.pending if axis not in kept]
        for dim, axes in target.items():
            if scattered := [axis for axis in axes if axis in sums]:
                self._record("reduce_scatter", dim, dim, scattered)
                self._put(dim, scattered)
                self.pending = [axis for axis in self.pending if axis not in scattered]
        if rest := [axis for axis in sums if axis in self.pending]:
            self._record("all_reduce", None, None, rest)
            self.pending = [axis for axis in self.pending if axis not in rest]

    def reach(self, target: Layout, *, moves_sums: bool = True, is_wide: bool = False) -> None:
        """Go to `target`.

        An axis that goes over from one dim to another does so by all-to-all; from a summed dim only if `moves_sums`, else by a
        gather and a slice. Gathers of summed dims come first. `is_wide`: what is gathered is sliced over idle axes before.
        """
        self._trim(target)
        self._move(target, moves_sums=moves_sums)
        for dim in sorted(self.layout, key=self._gather_order):
            if leaving := self._leaving(dim, target):
                self._gather(dim, leaving, target[dim], is_wide=is_wide)
        for dim, axes in target.items():
            self._slice(dim, self._absent(axes))
            self._settle(dim, axes)

    def _gather_order(self, dim: str) -> bool:
        return not self.sharding.is_summed(dim)

    def _trim(self, target: Layout) -> None:
        """Slice what can be sliced before anything is sent: dims that no axis leaves, up to the first axis that is yet to arrive."""
        for dim, axes in target.items():
            if not self._leaving(dim, target):
                missing = [axis for axis in axes if axis not in self.layout[dim]]
                self._slice(dim, list(takewhile(frozenset(self._absent(axes)).__contains__, missing)))

    def _move(self, target: Layout, *, moves_sums: bool) -> None:
        goals = {axis: dim for dim, axes in target.items() for axis in axes}
        for dim in tuple(self.layout):
            if self.sharding.is_summed(dim) and not moves_sums:
                continue
            going = [axis for axis in self._leaving(dim, target) if axis in goals]
            for to in dict.fromkeys(goals[axis] for axis in going):
                axes = self._taken(dim, [axis for axis in going if goals[axis] == to], target[dim])
                self._record("all_to_all", dim, to, axes)
                self._put(to, axes)

    def _gather(self, dim: str, leaving: list[str], staying: tuple[str, ...], *, is_wide: bool) -> None:
        if is_wide:
            idle = self._absent(self.sharding.axes)
            self._slice(dim, idle)
            leaving = [*leaving, *idle]
        axes = self._taken(dim, leaving, staying)
        self._record("all_gather", dim, None, axes)

    def _settle(self, dim: str, axes: tuple[str, ...]) -> None:
        """Let blocks change places where the axes of `dim` stand in another order than wanted."""
        held = self.layout[dim]
        differ = [place for place, pair in enumerate(zip(held, axes, strict=True)) if pair[0] != pair[1]]
        if differ:
            turned = axes[differ[0] : differ[-1] + 1]
            self._record("all_to_all", dim, dim, turned)
            self.layout[dim] = axes

    def _slice(self, dim: str, axes: list[str]) -> None:
        if axes:
            self._record("slice", dim, None, axes)
            self._put(dim, axes)

    def _taken(self, dim: str, axes: list[str], staying: tuple[str, ...]) -> list[str]:
        """`axes` off the end of the list of `dim`; those that stay take the order in which they are wanted, if any has to move."""
        held = self.layout[dim]
        rest = [axis for axis in held if axis not in axes]
        last = [axis for axis in held if axis in axes]
        if held != (*rest, *last):
            rest.sort(key=lambda axis: staying.index(axis) if axis in staying else len(staying))
            self._settle(dim, (*rest, *last))
        self.layout[dim] = tuple(rest)
        return last

    def _put(self, dim: str, axes: list[str]) -> None:
        self.layout[dim] = (*self.layout[dim], *axes)
        self.cuts[dim] = lcm(self.cuts[dim], self.sharding.chips(self.layout[dim]))

    def _leaving(self, dim: str, target: Layout) -> list[str]:
        return [axis for axis in self.layout[dim] if axis not in target[dim]]

    def _absent(self, axes: Iterable[str]) -> list[str]:
        """Those of `axes` over which the array repeats now."""
        used = {axis for held in self.layout.values() for axis in held}.union(self.pending)
        return [axis for axis in axes if axis not in used]

    def _record(self, kind: str, dim: str | None, to: str | None, axes: Iterable[str]) -> None:
        """Note a step, before or after the layout has changed by it: the axes of the step do not count into its parts."""
        over = tuple(axes)
        others = [axis for held in self.layout.values() for axis in held if axis not in over]
        self.steps.append(Step(kind, self.name, dim, to, over, self.sharding.chips(others), self.chosen.isdisjoint(over)))
