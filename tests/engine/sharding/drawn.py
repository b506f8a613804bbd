"""Random products on random meshes, drawn so that every case of the textbook and every trouble of its own occurs often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import lcm, prod
from random import Random

import numpy as np

from service.engine.arrays import Real, column
from service.engine.mesh import Axis
from service.engine.mesh import Mesh as Wires
from service.engine.sharding import Sharding, read

MATMUL = {"a": ("m", "k"), "b": ("k", "n"), "out": ("m", "n")}
BATCHED = {name: ("batch", *dims) for name, dims in MATMUL.items()}
EINSUMS: tuple[dict[str, tuple[str, ...]], ...] = (
    {"a": ("i", "j"), "out": ("j",)},
    {"a": ("i", "j"), "out": ("j", "i")},
    {"a": ("i",), "b": ("j",), "out": ("i", "j")},
    {"a": ("i", "j"), "b": ("j", "k"), "c": ("k", "l"), "out": ("i", "l")},
    {"a": ("b", "i"), "b": ("b", "j"), "c": ("i", "j", "k"), "out": ("b", "k")},
    {"a": ("i", "j"), "b": ("i", "j"), "c": ("j", "i"), "out": ()},
    {"a": ("i", "s"), "b": ("j", "s"), "c": ("k", "s"), "d": ("s",), "out": ("i", "j", "k")},
)


SHAPES = ((2,), (4,), (2, 2), (3, 2), (2, 4), (1, 3), (2, 2, 2), (2, 3, 2), (3, 2, 3), (2, 1, 4))
"""Chips along each axis."""


@dataclass(frozen=True)
class Case:
    """Layouts as written: for each array the axes of each of its dims."""

    arrays: Mapping[str, tuple[str, ...]]
    chips: Mapping[str, int]
    specs: Mapping[str, dict[str, list[str]]]
    unreduced: list[str]
    sizes: Mapping[str, int]

    @property
    def columns(self) -> dict[str, Real]:
        return {dim: column(size) for dim, size in self.sizes.items()}

    @cached_property
    def whole(self) -> dict[str, Real]:
        """Elements of each array."""
        return {name: column(prod(self.sizes[dim] for dim in dims)) for name, dims in self.arrays.items()}

    def wires(self, *, turned: bool = False) -> Wires:
        axes = tuple(Axis(name, size, "switch", 1e9) for name, size in self.chips.items())
        return Wires(axes[::-1] if turned else axes)

    def read(self, *, turned: bool = False) -> Sharding:
        specs = {name: list(layout.values()) for name, layout in self.specs.items()}
        return read({**specs, "out_unreduced": self.unreduced}, self.arrays, self.columns, self.wires(turned=turned))

    def layout(self, name: str) -> dict[str, list[str]]:
        """The axes that cut an array: those of one chip cut nothing."""
        return {dim: [axis for axis in axes if self.chips[axis] > 1] for dim, axes in self.specs[name].items()}

    @property
    def equation(self) -> str:
        letters = {dim: chr(ord("a") + at) for at, dim in enumerate(dict.fromkeys(d for dims in self.arrays.values() for d in dims))}
        *operands, out = ("".join(letters[dim] for dim in dims) for dims in self.arrays.values())
        return f"{','.join(operands)}->{out}"

    def operands(self, random: np.random.Generator) -> dict[str, np.ndarray]:
        """Small whole numbers, so that every sum is exact."""
        shapes = {name: tuple(self.sizes[dim] for dim in dims) for name, dims in self.arrays.items() if name != "out"}
        return {name: random.integers(-3, 4, shape).astype(np.float64) for name, shape in shapes.items()}

    def over(self, axis: str) -> dict[str, str | None]:
        """The dim of each array that `axis` splits."""
        return {name: next((dim for dim, axes in of.items() if axis in axes), None) for name, of in self.specs.items()}

    @property
    def traits(self) -> set[str]:
        """What of the textbook a matrix product shows, read off its layouts."""
        found = {"unreduced"} if any(self.chips[axis] > 1 for axis in self.unreduced) else set()
        busy = [axis for axis, size in self.chips.items() if size > 1]
        roles = [self.over(axis) for axis in busy]
        sides = {(role["a"], role["b"]) for role in roles}
        if any(len(axes) > 1 for name in self.specs for axes in self.layout(name).values()):
            found.add("axis list")
        if any(set(role.values()) == {None} for role in roles):
            found.add("idle axis")
        if any((a == "k") != (b == "k") for a, b in sides):
            found.add("case 2")
        if ("k", "k") in sides:
            found.add("case 3")
        if ("m", "n") in sides:
            found.add("case 4")
        if sides != {(None, None)} and all("k" not in side and (None in side or side[0] == side[1]) for side in sides):
            found.add("case 1")
        return found


def draw(random: Random, arrays: Mapping[str, tuple[str, ...]] | None = None) -> Case:
    """A product on one to three axes, of 18 chips at most."""
    arrays = arrays or random.choice((MATMUL, MATMUL, MATMUL, BATCHED, BATCHED, random.choice(EINSUMS)))
    chips = dict(zip("xyz", random.choice(SHAPES), strict=False))
    specs: dict[str, dict[str, list[str]]] = {name: {dim: [] for dim in dims} for name, dims in arrays.items()}
    summed = {dim for dims in arrays.values() for dim in dims} - set(arrays["out"])
    unreduced = []
    for axis in chips:
        theme = random.choice(("any", "any", "any", "idle", "summed", "summed", "alike"))
        common = random.choice(sorted(summed if theme == "summed" and summed else set(specs["a"])))
        for name, layout in specs.items():
            dim = random.choice((None, *layout)) if theme == "any" else None
            if theme in ("summed", "alike") and name != "out":
                dim = common if common in layout else None
            if name == "out" and theme != "idle":
                dim = random.choice((None, None, *layout))
            if dim is not None:
                layout[dim].insert(random.choice((len(layout[dim]), random.randint(0, len(layout[dim])))), axis)
        if theme == "summed" and common in summed and not any(axis in axes for axes in specs["out"].values()) and random.random() < 0.5:
            unreduced.append(axis)
    sizes = {dim: random.choice((1, 1, 2)) * _multiple(dim, specs, chips) for dims in arrays.values() for dim in dims}
    return Case(arrays, chips, specs, unreduced, sizes)


def _multiple(dim: str, specs: Mapping[str, dict[str, list[str]]], chips: Mapping[str, int]) -> int:
    """The least size of a dim that every array cuts into equal blocks."""
    return lcm(*(prod(chips[axis] for axis in of[dim]) for of in specs.values() if dim in of))
