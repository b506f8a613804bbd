"""What must hold between the files: names, revisions, and sources that are declared, used and sorted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from .calibration_file import CalibrationFile
from .chip_file import ChipFile
from .cluster_file import ClusterFile
from .document import stated_values
from .entry import Entry, Source
from .errors import Problem

Entries = Mapping[str, Entry]


def faults(sources: Mapping[str, Source], entries: Entries) -> Iterator[Problem]:
    """Everything that is wrong with the files together, each being well by itself."""
    yield from _unsorted(sources)
    yield from _misnamed(entries)
    yield from _missing_revisions(entries)
    yield from _sources_undeclared_or_unused(sources, entries)
    yield from _unknown_chips(entries)
    yield from _calibrations_of_nothing_or_twice(entries)


def _unsorted(sources: Mapping[str, Source]) -> Iterator[Problem]:
    for before, after in pairwise(sources):
        if after < before:
            yield Problem("sources.toml", after, f"stands after {before}; sources are sorted by key")


def _misnamed(entries: Entries) -> Iterator[Problem]:
    for file, entry in entries.items():
        stem = file.partition("/")[2].removesuffix(".toml")
        if stem not in {entry.id, entry.ref}:
            yield Problem(file, "id", f"the file is of {stem!r} and states {entry.ref!r}")


def _missing_revisions(entries: Entries) -> Iterator[Problem]:
    newest = {file: entry for file, entry in entries.items() if "@" not in file}
    earlier: dict[str, set[int]] = defaultdict(set)
    for file, entry in entries.items():
        if "@" in file:
            earlier[file.partition("@")[0] + ".toml"].add(entry.revision)
    for file in earlier.keys() - newest.keys():
        yield Problem(file, "", "earlier revisions are kept, the newest is missing")
    for file, entry in newest.items():
        if earlier[file] != set(range(1, entry.revision)):
            yield Problem(file, "revision", f"is {entry.revision}; the files keep {sorted(earlier[file])} of the earlier ones")


def _sources_undeclared_or_unused(sources: Mapping[str, Source], entries: Entries) -> Iterator[Problem]:
    used: set[str] = set()
    for file, entry in entries.items():
        for path, value in stated_values(entry):
            used.update(value.source)
            for key in value.source:
                if key not in sources:
                    yield Problem(file, path, f"the source {key!r} is not declared in sources.toml")
    for key in sources:
        if key not in used:
            yield Problem("sources.toml", key, "no value cites it")


def _unknown_chips(entries: Entries) -> Iterator[Problem]:
    chips = {entry.id for entry in entries.values() if isinstance(entry, ChipFile)}
    for file, entry in entries.items():
        if isinstance(entry, ClusterFile) and entry.chip not in chips:
            yield Problem(file, "chip", f"no chip has the id {entry.chip!r}")


def _calibrations_of_nothing_or_twice(entries: Entries) -> Iterator[Problem]:
    """A calibration speaks of a chip or of architectures that exist, and each of its sections of none that another's speaks of."""
    chips = [entry for entry in entries.values() if isinstance(entry, ChipFile)]
    known = {"chip": {chip.id for chip in chips}, "architecture": {chip.architecture for chip in chips}}
    taken: set[tuple[str, str, str]] = set()
    for file, entry in entries.items():
        if not isinstance(entry, CalibrationFile) or "@" in file:
            continue
        for key, name in _spoken_of(entry):
            if key in known and name not in known[key]:
                yield Problem(file, key, f"no chip has the {'id' if key == 'chip' else key} {name!r}")
            for section in _sections(entry):
                if (section, key, name) in taken:
                    yield Problem(file, key, f"another calibration is of {name!r}")
                taken.add((section, key, name))


def _sections(entry: CalibrationFile) -> list[str]:
    return [name for name in ("collectives", "kernels") if getattr(entry, name) is not None]


def _spoken_of(entry: CalibrationFile) -> Iterator[tuple[str, str]]:
    if entry.chip is not None:
        yield "chip", entry.chip
    yield from (("architecture", name) for name in entry.architectures)
    if entry.chip is None and not entry.architectures:
        yield "any", "any chip"
