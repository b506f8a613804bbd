"""What stops the start: a catalogue that cannot be believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ServiceError


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the files: which file, which key in it (dotted), and why."""

    file: str
    key: str
    reason: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.key, self.reason) if part)


class CatalogueError(ServiceError):
    """The catalogue cannot be loaded. Loading is all or nothing, so this carries every problem that was found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)
