"""The hardware of rows: each target is resolved once, and those on which an op runs alike become the columns of one machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...catalogue import Catalogue
from ...engine.machine import Machine, Placement, stacked
from ...errors import InvalidInput, OverLimit, refuse
from ...schemas.reading import validate
from ...schemas.target import TargetModel
from ..targets import Target, resolve
from .fields import CHIP, Path
from .questions import MOST_GROUPS, nested

Stated = Sequence[tuple[Path, Any]]
"""The members of its target that a row states."""


class Targets:
    """The targets that rows state, each resolved once."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[Any, Target | InvalidInput] = {}

    def of(self, stated: Stated) -> Target | InvalidInput:
        """The target of a row, or what is wrong with it; pointers begin at the question."""
        key = tuple([(path, type(value), value) for path, value in stated])
        found = self._known.get(key)
        if found is None:
            if len(self._known) == MOST_GROUPS:
                raise OverLimit(f"The rows of a table may name {MOST_GROUPS} different chips. Send it in parts.")
            found = self._known[key] = self._resolved(dict(stated))
        return found

    def _resolved(self, members: Mapping[Path, Any]) -> Target | InvalidInput:
        try:
            _check_one_chip(members)
            return resolve(validate(TargetModel, nested(members).get("target", {}), "/target"), self._catalogue)
        except InvalidInput as error:
            return error


def _check_one_chip(members: Mapping[Path, Any]) -> None:
    if CHIP.path in members and any(path[:2] == CHIP.path and path != CHIP.path for path in members):
        raise refuse("/target/chip", "invalid-request", "State a chip or its numbers; chip.base names one that some numbers replace.")


@dataclass(frozen=True)
class Run:
    """Places in a block of rows whose op runs alike, on the same unit in the same class, each with its target."""

    places: Sequence[int]
    targets: Sequence[Target]
    placed: Placement

    @property
    def machine(self) -> Machine:
        first = self.targets[0]
        if all(target is first for target in self.targets):
            return first.machine
        return stacked([target.machine for target in self.targets], self.placed)

    def of(self, some: Sequence[int]) -> Run:
        """The run of some of its rows."""
        return Run([self.places[at] for at in some], [self.targets[at] for at in some], self.placed)


def runs(targets: Sequence[Target | InvalidInput], placed: Mapping[int, Placement]) -> Iterator[Run]:
    """The rows of a block whose targets are in `placed`, by their identity, told apart by how the op runs there."""
    alike: dict[tuple[str, str, bool], list[tuple[int, Target]]] = {}
    for place, target in enumerate(targets):
        placement = placed.get(id(target))
        if placement is not None and isinstance(target, Target):
            alike.setdefault((placement.unit, placement.dtype, placement.peak is None), []).append((place, target))
    for rows in alike.values():
        yield Run([place for place, _ in rows], [target for _, target in rows], placed[id(rows[0][1])])
