"""From the partition specs of a question to a `Sharding`, or to all that is wrong with them.

A spec has one entry for each dim of its array: None, the name of an axis, or a list of names. Refused are, in document order:

    missing, unknown-member   an operand without a spec, a spec without an operand
    bad-sharding              more or fewer entries than dims; `out_unreduced` over an axis that does not split a summed dim everywhere
    unknown-axis              a name that the mesh lacks
    axis-repeated             an axis twice in one array: the pending sums of the result count as part of it
    not-divisible             a dim that its axes do not cut into equal blocks, in any of its rows
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...errors import Fault, InvalidInput, near
from ..arrays import Real
from ..mesh import Mesh
from .layout import Array, Sharding

Entry = None | str | Sequence[str]
Spec = Sequence[Entry]

OUT = "out"
UNREDUCED = "out_unreduced"


def read(
    specs: Mapping[str, Spec],
    arrays: Mapping[str, tuple[str, ...]],
    sizes: Mapping[str, Real],
    mesh: Mesh,
    *,
    pointer: str = "/sharding",
) -> Sharding:
    """The layouts that `specs` ask for: one for every array, and `out_unreduced` where the result is to stay a partial sum.

    `arrays` has the dims of every operand and, last, of the result as `out`; `sizes` has a column for each dim. Raises `InvalidInput`.
    """
    reader = _Reader(arrays, sizes, mesh, pointer)
    unreduced = _listed(specs.get(UNREDUCED, ()))
    faults: list[Fault] = []
    for name, spec in specs.items():
        faults += reader.unreduced_faults(unreduced, specs) if name == UNREDUCED else reader.faults(name, spec)
    faults += [Fault(f"{pointer}/{name}", "missing", "Every array needs a spec.") for name in arrays if name not in specs]
    if faults:
        raise InvalidInput(faults)
    laid = {name: reader.array(name, specs[name]) for name in arrays}
    out = laid.pop(OUT)
    kept = tuple([axis for axis in unreduced if mesh.size(axis) > 1])
    return Sharding(tuple(laid.values()), out, kept, tuple([(axis.name, axis.size) for axis in mesh.axes]))


def faults_of_axes(specs: Mapping[str, Spec], mesh: Mesh, *, pointer: str = "/sharding") -> list[Fault]:
    """What is wrong with the axes that are named, whatever the arrays are: unknown-axis, axis-repeated."""
    reader = _Reader({}, {}, mesh, pointer)
    return [fault for name, spec in specs.items() for fault in reader.faults_of_axes(f"{pointer}/{name}", spec)]


def names(entry: Entry) -> tuple[str, ...]:
    """The axes that an entry lists."""
    if entry is None:
        return ()
    return (entry,) if isinstance(entry, str) else tuple(entry)


def _listed(spec: Spec) -> list[str]:
    """All axes of a spec in a row."""
    return [axis for entry in spec for axis in names(entry)]


class _Reader:
    """What the specs are checked against."""

    def __init__(self, arrays: Mapping[str, tuple[str, ...]], sizes: Mapping[str, Real], mesh: Mesh, pointer: str) -> None:
        self.arrays = arrays
        self.sizes = sizes
        self.mesh = mesh
        self.pointer = pointer
        self.chips = {axis.name: axis.size for axis in mesh.axes}

    def array(self, name: str, spec: Spec) -> Array:
        split = tuple([tuple([axis for axis in names(entry) if self.chips[axis] > 1]) for entry in spec])
        return Array(name, self.arrays[name], split)

    def faults(self, name: str, spec: Spec) -> Iterator[Fault]:
        """What is wrong with the spec of one array."""
        at = f"{self.pointer}/{name}"
        known = (*self.arrays, UNREDUCED)
        if name not in self.arrays:
            yield Fault(at, "unknown-member", "The op has no such array.", near(name, known) or known)
            return
        dims = self.arrays[name]
        if len(spec) != len(dims):
            yield Fault(at, "bad-sharding", f"A spec has one entry for each dim: {name} has {_counted(dims)}.", _blank(dims))
        yield from self.faults_of_axes(at, spec)
        if len(spec) == len(dims):
            for place, dim in enumerate(dims):
                yield from self._division_faults(f"{at}/{place}", dim, names(spec[place]))

    def faults_of_axes(self, at: str, spec: Spec) -> Iterator[Fault]:
        seen: set[str] = set()
        for place, entry in enumerate(spec):
            for step, axis in enumerate(names(entry)):
                where = f"{at}/{place}" if isinstance(entry, str) else f"{at}/{place}/{step}"
                if axis not in self.chips:
                    yield self._unknown(where, axis)
                elif axis in seen:
                    yield Fault(where, "axis-repeated", "The axis splits another part of this array already.", self._others(seen))
                seen.add(axis)

    def _unknown(self, where: str, axis: str) -> Fault:
        known = tuple(self.chips)
        detail = "The mesh has no axis of this name." if known else "The target has no mesh, so there is no axis; state target.mesh."
        return Fault(where, "unknown-axis", detail, near(axis, known) or known)

    def _others(self, seen: set[str]) -> tuple[str, ...]:
        return tuple([axis for axis in self.chips if axis not in seen])

    def _division_faults(self, where: str, dim: str, axes: tuple[str, ...]) -> Iterator[Fault]:
        known = [axis for axis in dict.fromkeys(axes) if axis in self.chips]
        parts = float(np.prod([self.chips[axis] for axis in known], dtype=np.float64))
        rest = np.fmod(self.sizes[dim], parts)
        if not rest.any():
            return
        row = f" in row {int(np.argmax(rest != 0))}" if rest.size > 1 else ""
        sized = " times ".join(f"the size of {axis}" for axis in known)
        fits = tuple([axis for axis, chips in self.chips.items() if chips > 1 and not np.fmod(self.sizes[dim], chips).any()])
        yield Fault(where, "not-divisible", f"{dim} is no multiple of {sized}{row}; every chip must hold an equal block.", fits)

    def unreduced_faults(self, unreduced: Sequence[str], specs: Mapping[str, Spec]) -> Iterator[Fault]:
        """What is wrong with the axes over which the result is to stay a partial sum."""
        taken = _listed(specs.get(OUT, ()))
        for place, axis in enumerate(unreduced):
            where = f"{self.pointer}/{UNREDUCED}/{place}"
            if axis not in self.chips:
                yield self._unknown(where, axis)
            elif axis in taken or axis in unreduced[:place]:
                yield Fault(where, "axis-repeated", "The axis splits another part of the result already, or is listed twice.")
            elif axis not in (summing := self._summing(specs)):
                detail = "Partial sums are left only over an axis that splits a summed dim in every operand that has the dim."
                yield Fault(where, "bad-sharding", detail, summing)

    def _summing(self, specs: Mapping[str, Spec]) -> tuple[str, ...]:
        """The axes that split a summed dim in every operand that has it, as far as the specs can be read."""
        laid = {name: dict(zip(dims, map(names, specs.get(name, ())), strict=False)) for name, dims in self.arrays.items() if name != OUT}
        summed = {dim for dims in laid.values() for dim in dims} - set(self.arrays[OUT])
        return tuple([axis for axis in self.chips if any(all(axis in of[dim] for of in laid.values() if dim in of) for dim in summed)])


def _counted(dims: tuple[str, ...]) -> str:
    return f"{len(dims)} ({', '.join(dims)})" if dims else "none"


def _blank(dims: tuple[str, ...]) -> tuple[str, ...]:
    """The spec of an array that no axis splits."""
    return (f"[{', '.join(['null'] * len(dims))}]",)
