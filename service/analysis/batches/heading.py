"""Which columns of a table ask, and which are the caller's own.

A name that is no member of a question is the caller's own, and passes untouched. Two things keep a slip of the pen from being
taken for that: a dotted name that starts like a member is refused, and a name that resembles a member is remembered, so that a
row which lacks the member and fills the column is told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Final

from ...errors import Fault, InvalidInput, near
from . import fields
from .fields import KIND, Field, Path, find

MAP: Final = "/query/map"
ALIKE: Final = 0.8
"""Share of letters that two names must have in common to be taken for each other, as `difflib` counts."""

SHORTEST: Final = 4
"""Names of fewer letters are taken for each other only where they differ in case and punctuation alone."""

UNASKED: Final = frozenset({"sharding", "out_unreduced", "mesh", "measured_s"})
"""Members of a question that no row has: a table asks about one chip at a time, and about nothing that was measured."""

_NO_LETTER: Final = re.compile("[^0-9a-z]")


@dataclass(frozen=True)
class Heading:
    """What each column of a table is for."""

    header: Sequence[str]
    places: Mapping[Path, int]
    """the column of each member that has one"""
    own: tuple[int, ...]
    """columns of the caller's own that were not declared to be"""
    theirs: tuple[int, ...]
    """all columns that the caller wrote"""

    def said(self, path: Path) -> str:
        """How the table calls the member at `path`."""
        return self.header[self.places[path]] if path in self.places else fields.short(path)

    def resembling(self, members: Collection[Path]) -> Iterator[tuple[int, Path]]:
        """Own columns that may have been meant for one of `members`, each with that member."""
        for at in self.own:
            meant = next((path for path in _meant(self.header[at]) if path in members), None)
            if meant is not None:
                yield at, meant


def read(header: Sequence[str], renamed: Mapping[str, str], ours: Collection[int] = ()) -> Heading:
    """The heading of a table; `renamed` tells what the caller means by some names, `ours` are columns that we wrote.

    Raises InvalidInput: what `renamed` cannot mean, dotted names without a member, two columns for one member.
    """
    faults = [*_misnamed(header, renamed)]
    places: dict[Path, int] = {}
    own: list[int] = []
    theirs = tuple(at for at in range(len(header)) if at not in ours)
    for at, name in ((at, header[at]) for at in theirs):
        field = find(renamed.get(name, name))
        if field is None and name not in renamed:
            own.append(at)
            faults += [*_dotted(at, name), *_unasked(at, name)]
        elif field is not None and places.setdefault(field.path, at) != at:
            faults.append(Fault(f"/header/{at}", "invalid-request", f"Column {places[field.path]}, counted from 0, holds this member too."))
    if faults:
        raise InvalidInput(faults)
    return Heading(header, places, tuple(own), theirs)


def _misnamed(header: Sequence[str], renamed: Mapping[str, str]) -> Iterator[Fault]:
    for name, meaning in renamed.items():
        if name not in header:
            yield Fault(MAP, "unknown-member", "The table has no column of a name that is mapped.", near(name, header))
        if meaning and find(meaning) is None:
            yield Fault(MAP, "unknown-member", "A column is mapped to what is no member of a question.", near(meaning, fields.names()))


def _dotted(at: int, name: str) -> Iterator[Fault]:
    first, dot, _ = name.partition(".")
    if dot and first in fields.reserved():
        yield Fault(f"/header/{at}", "unknown-member", f"There is no such member of {first}.", near(name, fields.names()))


def _unasked(at: int, name: str) -> Iterator[Fault]:
    first = name.partition(".")[0]
    if first in UNASKED:
        detail = f"A table has no {first}: ask POST /v1/evaluate. Declare a column of your own that is called so by map={first}:."
        yield Fault(f"/header/{at}", "not-supported-yet", detail)


@lru_cache(maxsize=4096)
def _meant(name: str) -> tuple[Path, ...]:
    """The members that a column of this name may have been meant for, the likeliest first."""
    letters = _letters(name)
    known = _known()
    alike = get_close_matches(letters, known, n=8, cutoff=ALIKE) if len(letters) >= SHORTEST else [letters]
    return tuple(path for each in alike if len(each) >= SHORTEST or each == letters for path in known.get(each, ()))


@cache
def _known() -> Mapping[str, tuple[Path, ...]]:
    """Members by the letters of their names. Numbers of a chip in place are left out: sheets have such columns of their own."""
    known: dict[str, tuple[Path, ...]] = {}
    for field in map(_found, fields.names()):
        if field.path[0] != "target" or len(field.path) == 2:
            is_plain = field is KIND or (field.path[0] == "options" and len(field.path) == 2)
            for each in {_letters(field.name), _letters(field.path[-1]) if is_plain else ""} - {""}:
                known[each] = (*known.get(each, ()), field.path)
    return known


def _found(name: str) -> Field:
    field = find(name)
    assert field is not None
    return field


def _letters(name: str) -> str:
    """A name without case and punctuation."""
    return _NO_LETTER.sub("", name.lower())


def mapping(text: str) -> Mapping[str, str]:
    """What `Batch:m,Hidden:k,Note:` says: columns by their names, and the members they hold; nothing for one of the caller's own.

    Raises InvalidInput at /query/map.

    >>> mapping("Batch:m,Note:")
    {'Batch': 'm', 'Note': ''}
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        name, colon, meaning = part.rpartition(":")
        if not colon or not name:
            raise InvalidInput([Fault(MAP, "wrong-type", "A mapping reads like Batch:m,Hidden:k.")])
        if name in found:
            raise InvalidInput([Fault(MAP, "invalid-request", "A column is mapped twice.")])
        found[name] = meaning
    return found
