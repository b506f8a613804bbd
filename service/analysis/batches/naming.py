"""What the columns that we append are called beside those of the caller, which are never overwritten.

A name that the caller has already is written with `roofline_` before it. But a table that we answered before, and that is sent again,
has our columns side by side, in our order and under just these names: then they are renewed where they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Final, TypeVar

T = TypeVar("T")

PREFIX: Final = "roofline_"


@dataclass(frozen=True)
class Naming:
    """Where our columns stand in the header of an answer, and how they are called."""

    names: Sequence[str]
    start: int
    is_renewed: bool
    """whether the table has them already"""

    @property
    def ours(self) -> range:
        """The columns of the table that are ours."""
        return range(self.start, self.start + len(self.names)) if self.is_renewed else range(0)

    def placed(self, theirs: Sequence[T], ours: Sequence[T]) -> tuple[T, ...]:
        """One thing for each column of the table, with ours where they belong."""
        after = self.start + len(self.ours)
        return (*theirs[: self.start], *ours, *theirs[after:])


def naming(header: Sequence[str], wanted: Sequence[str]) -> Naming:
    """How the columns `wanted` are called beside those of `header`.

    >>> naming(["m", "bound"], ["bound", "error"]).names
    ('roofline_bound', 'error')
    >>> naming(["m", "bound", "error", "note"], ["bound", "error"])
    Naming(names=('bound', 'error'), start=1, is_renewed=True)
    """
    for start in range(len(header) - len(wanted) + 1):
        if header[start].startswith((wanted[0], PREFIX)):
            after = start + len(wanted)
            names = _beside((*header[:start], *header[after:]), wanted)
            if tuple(header[start:after]) == names:
                return Naming(names, start, is_renewed=True)
    return Naming(_beside(header, wanted), len(header), is_renewed=False)


def _beside(theirs: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    taken = set(theirs)
    return tuple(_free(name, taken) for name in wanted)


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or the first like it that is not taken."""
    others = (f"{PREFIX}{name}{number}" for number in chain([""], map("_{}".format, count(2))))
    return next(each for each in chain([name], others) if each not in taken)
