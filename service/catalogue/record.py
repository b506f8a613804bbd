"""An entry of the catalogue as the rest of the service holds it: immutable, with its digest and its document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from .digests import digest_of
from .document import Sources, cell, render, source_lines, stated_values
from .entry import Entry

FileT = TypeVar("FileT", bound=Entry)


@dataclass(frozen=True)
class Own:
    """What is told of an entry that users of this service added, and not of one that it ships.

    base         the revision that it was copied from
    measured_as  id of the shipped chip whose measured times serve for it: the one at the root of its copies
    override     why it is right although it breaks rules of plausibility
    """

    base: str | None = None
    measured_as: str | None = None
    override: str | None = None

    def document(self) -> dict[str, str]:
        """The members that an entry's document has of it."""
        return {name: text for name, text in (("base", self.base), ("override", self.override)) if text is not None}


@dataclass(frozen=True, eq=False)
class Record(Generic[FileT]):
    """One revision of one entry; `own` is None where it is shipped."""

    file: FileT = field(repr=False)
    sources: Sources = field(repr=False)
    own: Own | None = None

    @property
    def id(self) -> str:
        return self.file.id

    @property
    def revision(self) -> int:
        return self.file.revision

    @property
    def ref(self) -> str:
        """The id pinned to this revision: `nvidia-h100-sxm@1`."""
        return self.file.ref

    @property
    def reason(self) -> str:
        return self.file.reason

    @property
    def confidence(self) -> str:
        return self.file.confidence

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def origin(self) -> str:
        """Who keeps it: `shipped` with the service, or the users' `own`."""
        return "shipped" if self.own is None else "own"

    @cached_property
    def digest(self) -> str:
        """Digest of every value that the file states, in SI."""
        return digest_of({path: value.si for path, value in stated_values(self.file)})

    def document(self) -> dict[str, Any]:
        """All that is known, every value with its sources, in a fixed order."""
        stated: dict[str, Any] = render(self.file, self.sources, self.confidence)
        told = {} if self.own is None else self.own.document()
        return {"id": self.id, "ref": self.ref, "digest": self.digest, "origin": self.origin, **told, **stated}

    @cached_property
    def works(self) -> tuple[dict[str, str], ...]:
        """The works that its values rest on, each once."""
        keys = dict.fromkeys(key for _, value in stated_values(self.file) for key in value.source)
        return tuple(source_lines(tuple(keys), self.sources))

    def values(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every stated value by its dotted path in the document, as it stands there."""
        for path, value in stated_values(self.file):
            yield path, cell(value, self.sources, self.confidence)
