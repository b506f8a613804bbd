"""The catalogue: what is known of chips, systems, adapters and planning constants, at one moment, immutable."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from ..errors import InvalidInput, near, refuse
from .calibration import Calibration, Calibrations, of_chip
from .chip import Chip
from .cluster import Cluster
from .constants_file import ConstantsFile
from .digests import digest_of_set
from .document import Sources
from .nic_file import NicFile
from .record import Record

RecordT = TypeVar("RecordT", bound=Record[Any])


class Shelf(Generic[RecordT]):
    """The entries of one kind, every revision of each; `noun` is what one of them is called in an error.

    The `deleted` ids name nothing any more, but each revision of theirs that somebody may have pinned.
    """

    def __init__(self, noun: str, records: Sequence[RecordT], deleted: Collection[str] = ()) -> None:
        self._noun = noun
        self._deleted = frozenset(deleted)
        self._by_id: dict[str, tuple[RecordT, ...]] = {}
        for name, revisions in groupby(sorted(records, key=lambda each: (each.id, each.revision)), key=lambda each: each.id):
            self._by_id[name] = tuple(revisions)
        self.all = tuple(record for revisions in self._by_id.values() for record in revisions)
        self.newest = tuple(revisions[-1] for name, revisions in self._by_id.items() if name not in self._deleted)

    def revisions(self, name: str, pointer: str) -> tuple[RecordT, ...]:
        """Every revision of the entry called `name`, deleted or not, oldest first.

        Raises `InvalidInput` (unknown-<noun>) with the ids that resemble it.
        """
        found = self._by_id.get(name)
        if found is None:
            raise self._unknown(name, pointer)
        return found

    def check(self, ref: str, pointer: str) -> None:
        """Nothing, if `ref` names an entry, or named one before it was deleted. Raises as `get` does."""
        if "@" in ref:
            self.get(ref, pointer)
        else:
            self.revisions(ref, pointer)

    def _unknown(self, name: str, pointer: str) -> InvalidInput:
        return refuse(pointer, f"unknown-{self._noun}", f"No {self._noun} has this id.", self._resembling(name))

    def _resembling(self, name: str) -> list[str]:
        """Ids that contain what was asked for, then those that look like it: `h100` means an H100, not an A10."""
        asked = name.partition("@")[0].lower()[:200]
        there = [each.id for each in self.newest]
        containing = [known for known in there if len(asked) > 1 and asked in known]
        return list(dict.fromkeys((*containing, *near(asked, there))))[:3]

    def get(self, ref: str, pointer: str) -> RecordT:
        """The entry of an id, its newest revision, or the one pinned by `id@revision`.

        Raises `InvalidInput`: unknown-<noun>, unknown-revision.
        """
        name, at, revision = ref.partition("@")
        known = self.revisions(name, pointer)
        if not at and name in self._deleted:
            raise self._gone(known, pointer)
        found = known[-1] if not at else next((each for each in known if str(each.revision) == revision), None)
        if found is None:
            raise self._unknown_revision(known, pointer)
        return found

    def _gone(self, known: tuple[RecordT, ...], pointer: str) -> InvalidInput:
        detail = f"No {self._noun} has this id any more; its revisions can still be named."
        return refuse(pointer, f"unknown-{self._noun}", detail, _newest_first(known))

    def _unknown_revision(self, known: tuple[RecordT, ...], pointer: str) -> InvalidInput:
        return refuse(pointer, "unknown-revision", f"This {self._noun} has no such revision.", _newest_first(known))

    def lines(self) -> list[str]:
        """One line per revision of each entry: noun, reference, digest of its values."""
        gone = [f"{self._noun} {name} deleted" for name in sorted(self._deleted)]
        return [f"{self._noun} {each.ref} {each.digest}" for each in self.all] + gone


def _newest_first(revisions: Sequence[Record[Any]]) -> list[str]:
    return [each.ref for each in reversed(revisions)][:3]


class Catalogue:
    """All that was loaded. `chips` and `clusters` hold the newest revisions, sorted by id; `deleted` are ids of users' own entries."""

    def __init__(
        self,
        *,
        chips: Sequence[Chip],
        clusters: Sequence[Cluster],
        nics: Sequence[Record[NicFile]],
        collective_constants: Sequence[Record[ConstantsFile]],
        calibrations: Sequence[Calibration] = (),
        sources: Sources = MappingProxyType({}),
        deleted_chips: Collection[str] = (),
        deleted_clusters: Collection[str] = (),
    ) -> None:
        self.sources = sources
        """the works that the shipped entries cite, which others may cite by the same keys"""
        self._chips = Shelf("chip", chips, deleted_chips)
        self._clusters = Shelf("cluster", clusters, deleted_clusters)
        self.lenders = tuple(chip for chip in self._chips.newest if chip.own is None)
        """the shipped chips, which lend numbers to those of the same die that do not state them"""
        entries: list[Chip | Cluster] = [*self.chips, *self.clusters]
        self.changing = frozenset(each.id for each in entries if each.own is not None)
        """bare ids that may stand for something else tomorrow, as no shipped one does"""
        self._nics = Shelf("nic", nics)
        self._constants = Shelf("collective-constants", collective_constants)
        self._calibrations = Shelf("calibration", calibrations)
        shelves = (self._chips, self._clusters, self._nics, self._constants, self._calibrations)
        self.lines = tuple(line for shelf in shelves for line in shelf.lines())
        self.digest = digest_of_set(self.lines)

    def with_own(
        self,
        *,
        chips: Sequence[Chip],
        clusters: Sequence[Cluster],
        deleted_chips: Collection[str] = (),
        deleted_clusters: Collection[str] = (),
    ) -> Catalogue:
        """This catalogue and the entries that users added, every revision of them."""
        return Catalogue(
            chips=[*self._chips.all, *chips],
            clusters=[*self._clusters.all, *clusters],
            nics=self._nics.all,
            collective_constants=self._constants.all,
            calibrations=self._calibrations.all,
            sources=self.sources,
            deleted_chips=deleted_chips,
            deleted_clusters=deleted_clusters,
        )

    @property
    def chips(self) -> tuple[Chip, ...]:
        return self._chips.newest

    def chip(self, ref: str, pointer: str = "/target/chip") -> Chip:
        """The chip of an id, or of an id pinned to a revision; `pointer` is where the request names it."""
        return self._chips.get(ref, pointer)

    def check_chip(self, ref: str, pointer: str) -> None:
        """Nothing, if a chip is called `ref`, or was before it was deleted: what was kept with it can still be looked for."""
        self._chips.check(ref, pointer)

    def revisions(self, name: str, pointer: str = "/path/id") -> tuple[Chip, ...]:
        """Every revision of a chip, of one that was deleted too, oldest first."""
        return self._chips.revisions(name, pointer)

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        return self._clusters.newest

    def cluster(self, ref: str, pointer: str = "/target/mesh/cluster") -> Cluster:
        """The system of an id, or of an id pinned to a revision; `pointer` is where the request names it."""
        return self._clusters.get(ref, pointer)

    def cluster_revisions(self, name: str, pointer: str = "/path/id") -> tuple[Cluster, ...]:
        """Every revision of a system, of one that was deleted too, oldest first."""
        return self._clusters.revisions(name, pointer)

    @property
    def nics(self) -> tuple[Record[NicFile], ...]:
        return self._nics.newest

    @property
    def collective_constants(self) -> tuple[Record[ConstantsFile], ...]:
        return self._constants.newest

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        return self._calibrations.newest

    def calibrations_of(self, chip: Chip | None) -> Calibrations:
        """What measured times say of `chip`, the nearest first; None is a chip that is not of the catalogue."""
        return of_chip(chip, self.calibrations)
