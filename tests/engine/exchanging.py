"""Collectives carried out, piece by piece and step by step, on small groups of chips: the slow twins of the formulas.

Chips hold pieces. In a step each wire carries some bytes, and a step takes as long as its busiest wire. A wire is named by who
sends and how, so that the two wires of a ring of two, or the level that a chip sends through, are told apart.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

Wire = Any
At = tuple[int, ...]
"""A chip, by its coordinates on the axes."""


class Wires:
    """What the wires carried: step after step, and in all."""

    def __init__(self, rate: Callable[[Wire], int]) -> None:
        self._rate = rate
        self._step: dict[Wire, Fraction] = defaultdict(Fraction)
        self._total: dict[Wire, Fraction] = defaultdict(Fraction)
        self.seconds = Fraction(0)
        self.steps = 0

    def carry(self, wire: Wire, size: Fraction) -> None:
        self._step[wire] += size
        self._total[wire] += size

    def end_step(self) -> None:
        self.seconds += max(size / self._rate(wire) for wire, size in self._step.items())
        self.steps += 1
        self._step.clear()

    @property
    def busiest(self) -> Fraction:
        """Time of the wire that carries most, when all steps flow into each other [s]."""
        return max(size / self._rate(wire) for wire, size in self._total.items())

    @property
    def sent(self) -> Fraction:
        """Bytes on all wires."""
        return sum(self._total.values(), Fraction(0))


def gathered(side: int, axes: int, volume: int, link: int, *, wraps: bool) -> Wires:
    """A gather on a ring or line, or on a square or cube of them, of `side` chips each.

    Each chip passes on, both ways, what came last; the piece from the far side of an even ring comes in halves. The array is in as
    many parts as there are axes; every part is gathered along one axis after the other and starts on another, so that all wires work.
    """
    sizes = [side] * axes
    held = {chip: {(chip, part, half) for part in range(axes) for half in (0, 1)} for chip in _chips(sizes)}
    wires = Wires(lambda _: link)
    for phase in range(axes):
        start = {chip: set(pieces) for chip, pieces in held.items()}
        for step in range(1, (side // 2 if wraps else side - 1) + 1):
            arrivals = []
            for chip, part, way in itertools.product(held, range(axes), (1, -1)):
                axis = (part + phase) % axes
                sender, origin = (_shifted(chip, axis, -way * far, side, wraps=wraps) for far in (1, step))
                if sender is None or origin is None:
                    continue
                halves = {1: {0}, -1: {1}}[way] if wraps and 2 * step == side else {0, 1}
                for piece in start[origin]:
                    if piece[1] == part and piece[2] in halves:
                        assert piece in held[sender]
                        wires.carry((sender, axis, way), Fraction(volume, 2 * axes * side**axes))
                        arrivals.append((chip, piece))
            for chip, piece in arrivals:
                held[chip].add(piece)
            wires.end_step()
    assert all(len(pieces) == 2 * axes * len(held) for pieces in held.values())
    return wires


def _shifted(chip: At, axis: int, way: int, side: int, *, wraps: bool) -> At | None:
    """The chip some steps further along an axis, where there is one."""
    there = chip[axis] + way
    return (*chip[:axis], there % side, *chip[axis + 1 :]) if wraps or 0 <= there < side else None


def reduced_on_a_ring(values: list[list[int]], link: int, *, everywhere: bool) -> tuple[Wires, list[dict[int, int]]]:
    """Sums travel round, half of the array each way; each chip adds its own number to what passes. A reduce-scatter.

    `values[chip][piece]` are one-byte numbers, two pieces per chip. With `everywhere` the totals travel on to all: an all-reduce.
    """
    chips = len(values)
    wires = Wires(lambda _: link)
    starts = ((at, way, at if way == 1 else chips + at) for at in range(chips) for way in (1, -1))
    moving = {(at, way): (piece, values[at][piece]) for at, way, piece in starts}
    for _ in range(1, chips):
        moving = _passed_on(moving, wires, chips)
        moving = {(at, way): (piece, total + values[at][piece]) for (at, way), (piece, total) in moving.items()}
    ends: list[dict[int, int]] = [{} for _ in range(chips)]
    for (at, _), (piece, total) in moving.items():
        ends[at][piece] = total
    for _ in range(1, chips) if everywhere else ():
        moving = _passed_on(moving, wires, chips)
        for (at, _), (piece, total) in moving.items():
            ends[at][piece] = total
    return wires, ends


def _passed_on(moving: dict[tuple[int, int], tuple[int, int]], wires: Wires, chips: int) -> dict[tuple[int, int], tuple[int, int]]:
    for sender in moving:
        wires.carry(sender, Fraction(1))
    wires.end_step()
    return {((at + way) % chips, way): what for (at, way), what in moving.items()}


def exchanged_on_a_torus(shape: list[tuple[int, bool, int]], volume: int) -> Wires:
    """Every chip sends a piece to every chip, along one axis after the other, on the shorter way round; half each where both are equal.

    An axis is (chips, whether it wraps, bytes per second of a link).
    """
    sizes = [size for size, _, _ in shape]
    wires = Wires(lambda wire: shape[wire[1]][2])
    piece = Fraction(volume, math.prod(sizes) ** 2)
    for start, end in itertools.product(_chips(sizes), repeat=2):
        here = start
        for axis, (size, wraps, _) in enumerate(shape):
            for way, steps, part in _routes(here[axis], end[axis], size, wraps=wraps):
                for step in range(steps):
                    at = (*here[:axis], (here[axis] + way * step) % size, *here[axis + 1 :])
                    wires.carry((at, axis, way), piece * part)
            here = (*here[:axis], end[axis], *here[axis + 1 :])
        assert here == end
    wires.end_step()
    return wires


def _routes(here: int, there: int, size: int, *, wraps: bool) -> Iterator[tuple[int, int, Fraction]]:
    """Ways, their steps, and the part of a piece that goes there."""
    if not wraps:
        yield (1 if there > here else -1), abs(there - here), Fraction(1)
        return
    forth = (there - here) % size
    if 2 * forth == size:
        yield from ((way, forth, Fraction(1, 2)) for way in (1, -1))
    else:
        yield (1, forth, Fraction(1)) if 2 * forth < size else (-1, size - forth, Fraction(1))


def gathered_through_levels(levels: list[tuple[int, int]], volume: int) -> Wires:
    """Switched levels, innermost first, as (children, bytes per second of a chip): from the outermost in, each chip gathers from
    the chips that stand where it stands in the other children, all that they hold by then; one round after the other.
    """
    sizes = [size for size, _ in levels]
    held = {chip: {chip} for chip in _chips(sizes)}
    wires = Wires(lambda wire: levels[wire[1]][1])
    piece = Fraction(volume, math.prod(sizes))
    for level in reversed(range(len(levels))):
        start = {chip: set(pieces) for chip, pieces in held.items()}
        for turn in range(1, sizes[level]):
            for chip in held:
                peer = (*chip[:level], (chip[level] + turn) % sizes[level], *chip[level + 1 :])
                wires.carry((chip, level), piece * len(start[chip]))
                held[peer] |= start[chip]
            wires.end_step()
    assert all(len(pieces) == math.prod(sizes) for pieces in held.values())
    return wires


def exchanged_through_levels(levels: list[tuple[int, int]], volume: int) -> Wires:
    """Every chip sends a piece to every chip; it leaves each child on the way, through the links of all the chips in it."""
    sizes = [size for size, _ in levels]
    wires = Wires(lambda wire: levels[wire[0]][1] * math.prod(sizes[: wire[0]]))
    piece = Fraction(volume, math.prod(sizes) ** 2)
    for start, end in itertools.permutations(_chips(sizes), 2):
        for level in range(len(levels)):
            if start[level:] != end[level:]:
                wires.carry((level, start[level:]), piece)
    wires.end_step()
    return wires


def streamed_down_a_line(chips: int, pieces: int, volume: int, link: int) -> Wires:
    """A broadcast from one end: each chip passes on the piece that came last."""
    wires = Wires(lambda _: link)
    for step in range(chips - 1 + pieces - 1):
        for at in range(chips - 1):
            if 0 <= step - at < pieces:
                wires.carry(at, Fraction(volume, pieces))
        wires.end_step()
    return wires


def _chips(sizes: list[int]) -> Iterator[At]:
    return itertools.product(*map(range, sizes))
