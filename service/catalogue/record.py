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


@dataclass(frozen=True, eq=False)
class Record(Generic[FileT]):
    """One revision of one entry."""

    file: FileT = field(repr=False)
    sources: Sources = field(repr=False)

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

    @cached_property
    def digest(self) -> str:
        """Digest of every value that the file states, in SI."""
        return digest_of({path: value.si for path, value in stated_values(self.file)})

    def document(self) -> dict[str, Any]:
        """All that is known, every value with its sources, in a fixed order."""
        stated: dict[str, Any] = render(self.file, self.sources, self.confidence)
        return {"id": self.id, "ref": self.ref, "digest": self.digest, **stated}

    @cached_property
    def works(self) -> tuple[dict[str, str], ...]:
        """The works that its values rest on, each once."""
        keys = dict.fromkeys(key for _, value in stated_values(self.file) for key in value.source)
        return tuple(source_lines(tuple(keys), self.sources))

    def values(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every stated value by its dotted path in the document, as it stands there."""
        for path, value in stated_values(self.file):
            yield path, cell(value, self.sources, self.confidence)
