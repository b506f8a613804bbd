"""A mesh that holds real blocks in a dict and moves them one piece at a time, counting every element that changes chip.

It knows nothing of how a plan is found: it is given the layouts as written and the steps, and does what a step says. The order of
the axes of a dim, outermost first, it keeps by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import NDArray

Block = NDArray[np.float64]
Chip = tuple[int, ...]
Layout = dict[str, list[str]]


@dataclass(frozen=True)
class Moved:
    """What a step did, in elements: V by its definition, and all that changed chip within one group."""

    volume: float
    sent: float
    group: int


class Mesh:
    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = dict(sizes)
        self.axes = list(sizes)
        self.chips: list[Chip] = list(product(*(range(size) for size in sizes.values())))
        self._numbers: dict[tuple[str, ...], dict[Chip, int]] = {}
        self._groups: dict[tuple[str, ...], list[list[Chip]]] = {}

    def number(self, chip: Chip, axes: Sequence[str]) -> int:
        """Which of the blocks cut by `axes` the chip has, counted with the first axis outermost."""
        if (key := tuple(axes)) not in self._numbers:
            places = [(self.sizes[axis], self.axes.index(axis)) for axis in axes]
            self._numbers[key] = {each: reduce(lambda found, at: found * at[0] + each[at[1]], places, 0) for each in self.chips}
        return self._numbers[key][chip]

    def parts(self, axes: Sequence[str]) -> int:
        return int(np.prod([self.sizes[axis] for axis in axes], dtype=int))

    def groups(self, axes: Sequence[str]) -> list[list[Chip]]:
        """The chips that differ in `axes` alone, in the order of their numbers."""
        if (key := tuple(axes)) not in self._groups:
            found: dict[Chip, list[Chip]] = defaultdict(list)
            for chip in self.chips:
                found[tuple(-1 if axis in axes else at for axis, at in zip(self.axes, chip, strict=True))].append(chip)
            self._groups[key] = [sorted(group, key=lambda chip: self.number(chip, axes)) for group in found.values()]
        return self._groups[key]


class Spread:
    """An array spread over a mesh."""

    def __init__(self, mesh: Mesh, dims: Sequence[str], layout: Mapping[str, Sequence[str]], blocks: dict[Chip, Block]) -> None:
        self.mesh = mesh
        self.dims = list(dims)
        self.layout: Layout = {dim: list(layout[dim]) for dim in dims}
        self.blocks = blocks

    @classmethod
    def of(cls, mesh: Mesh, dims: Sequence[str], layout: Mapping[str, Sequence[str]], whole: Block) -> Spread:
        return cls(mesh, dims, layout, {chip: cut(mesh, dims, layout, whole, chip) for chip in mesh.chips})

    def take(self, kind: str, dim: str | None, to: str | None, axes: Sequence[str]) -> Moved:
        """Do one step."""
        if kind == "slice":
            return self._slice(str(dim), axes)
        if kind == "all_to_all":
            return self._turn(str(dim), axes) if dim == to else self._exchange(str(dim), str(to), axes)
        if kind == "all_gather":
            return self._gather(str(dim), axes)
        return self._scatter(str(dim), axes) if kind == "reduce_scatter" else self._add(axes)

    def _axis(self, dim: str) -> int:
        return self.dims.index(dim)

    def _pieces(self, block: Block, dim: str, count: int) -> list[Block]:
        """Equal pieces, or an error."""
        return np.split(block, count, axis=self._axis(dim))

    def _slice(self, dim: str, axes: Sequence[str]) -> Moved:
        count = self.mesh.parts(axes)
        self.blocks = {chip: self._pieces(block, dim, count)[self.mesh.number(chip, axes)] for chip, block in self.blocks.items()}
        self.layout[dim] += axes
        return Moved(0, 0, 1)

    def _take_off(self, dim: str, axes: Sequence[str]) -> None:
        kept = self.layout[dim][: -len(axes)]
        assert [*kept, *axes] == self.layout[dim], "only innermost axes can be taken off"
        self.layout[dim] = kept

    def _gather(self, dim: str, axes: Sequence[str]) -> Moved:
        self._take_off(dim, axes)
        return self._grouped(axes, lambda held: [np.concatenate(held, axis=self._axis(dim))] * len(held), after=True)

    def _exchange(self, dim: str, to: str, axes: Sequence[str]) -> Moved:
        self._take_off(dim, axes)
        self.layout[to] += axes

        def swapped(held: list[Block]) -> list[Block]:
            sent = [self._pieces(block, to, len(held)) for block in held]
            return [np.concatenate([pieces[at] for pieces in sent], axis=self._axis(dim)) for at in range(len(held))]

        volume = self._volume_of_group(axes)
        moved = self._grouped(axes, swapped)
        return Moved(volume, volume * (moved.group - 1) / moved.group, moved.group)

    def _turn(self, dim: str, axes: Sequence[str]) -> Moved:
        """Blocks change places so that the list of `dim` reads in the order of `axes`."""
        old = self.layout[dim]
        start = min(old.index(axis) for axis in axes)
        before = old[start : start + len(axes)]
        assert sorted(before) == sorted(axes), "the axes that change places stand side by side"
        volume, sent = self._volume_of_group(axes), 0.0
        blocks: dict[Chip, Block] = {}
        for group in self.mesh.groups(axes):
            holds = {self.mesh.number(chip, before): chip for chip in group}
            sources = {chip: holds[self.mesh.number(chip, axes)] for chip in group}
            blocks |= {chip: self.blocks[source] for chip, source in sources.items()}
            sent = sum(float(self.blocks[source].size) for chip, source in sources.items() if chip != source)
        self.blocks = blocks
        self.layout[dim] = [*old[:start], *axes, *old[start + len(axes) :]]
        return Moved(volume, sent, self.mesh.parts(axes))

    def _scatter(self, dim: str, axes: Sequence[str]) -> Moved:
        self.layout[dim] += axes

        def added(held: list[Block]) -> list[Block]:
            sent = [self._pieces(block, dim, len(held)) for block in held]
            return [np.sum([pieces[at] for pieces in sent], axis=0) for at in range(len(held))]

        return self._grouped(axes, added)

    def _add(self, axes: Sequence[str]) -> Moved:
        """Every chip adds one piece of all, and sends it to all."""
        moved = self._grouped(axes, lambda held: [np.sum(held, axis=0)] * len(held))
        return Moved(moved.volume, 2 * moved.sent, moved.group)

    def _grouped(self, axes: Sequence[str], exchange: Callable[[list[Block]], list[Block]], *, after: bool = False) -> Moved:
        """Let every group exchange; all chips but the one that a piece belongs to send or receive it: V·(N−1) in all."""
        blocks: dict[Chip, Block] = {}
        volume = 0.0
        for group in self.mesh.groups(axes):
            held = [self.blocks[chip] for chip in group]
            got = exchange(held)
            volume = float((got if after else held)[0].size)
            blocks |= dict(zip(group, got, strict=True))
        self.blocks = blocks
        count = self.mesh.parts(axes)
        return Moved(volume, volume * (count - 1), count)

    def _volume_of_group(self, axes: Sequence[str]) -> float:
        return float(sum(self.blocks[chip].size for chip in self.mesh.groups(axes)[0]))


def cut(mesh: Mesh, dims: Sequence[str], layout: Mapping[str, Sequence[str]], whole: Block, chip: Chip) -> Block:
    """The block of a chip."""
    found = whole
    for place, dim in enumerate(dims):
        found = np.split(found, mesh.parts(layout[dim]), axis=place)[mesh.number(chip, layout[dim])]
    return found
