"""Reading, validating and deriving: three functions, and `load`, which is all of them or nothing.

The files lie in one folder per kind; `<id>.toml` is the newest revision of an entry, `<id>@K.toml` an earlier one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .calibration import Calibration
from .calibration_file import CalibrationFile
from .catalogue import Catalogue
from .chip import Chip
from .chip_file import ChipFile
from .cluster import Cluster
from .cluster_file import ClusterFile
from .constants_file import ConstantsFile
from .entry import Entry, Source
from .errors import CatalogueError, Problem
from .linkage import faults
from .nic_file import NicFile
from .record import Record

SOURCES = "sources.toml"
KINDS: dict[str, type[Entry]] = {
    "chips": ChipFile,
    "clusters": ClusterFile,
    "nics": NicFile,
    "collective_constants": ConstantsFile,
    "calibrations": CalibrationFile,
}

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True)
class Files:
    """The files as models: the works cited, and the entries by file name (`chips/nvidia-l40s.toml`)."""

    sources: Mapping[str, Source]
    entries: Mapping[str, Entry]

    def of(self, model: type[ModelT]) -> Iterator[ModelT]:
        return (entry for entry in self.entries.values() if isinstance(entry, model))


def load(root: Traversable | None = None) -> Catalogue:
    """The catalogue in `root`, or the one that this package ships.

    Raises `CatalogueError` with every problem found: file, key and reason.
    """
    return derive(validate(read(files(__package__) if root is None else root)))


def read(root: Traversable) -> dict[str, dict[str, Any]]:
    """The tables of every file, by file name. Numbers with a point stay decimal, so that conversion to SI is exact."""
    tables: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for name, file in _toml_files(root):
        try:
            tables[name] = tomllib.loads(file.read_bytes().decode(), parse_float=Decimal)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as cause:
            problems.append(Problem(name, "", str(cause)))
    if problems:
        raise CatalogueError(problems)
    return tables


def _toml_files(root: Traversable) -> Iterator[tuple[str, Traversable]]:
    yield SOURCES, root / SOURCES
    for kind in KINDS:
        folder = root / kind
        if folder.is_dir():
            for file in sorted(folder.iterdir(), key=lambda each: each.name):
                if file.name.endswith(".toml"):
                    yield f"{kind}/{file.name}", file


def validate(tables: Mapping[str, dict[str, Any]]) -> Files:
    """The files as models, each by itself and all of them together."""
    problems: list[Problem] = []
    sources: dict[str, Source] = {}
    entries: dict[str, Entry] = {}
    for name, table in tables.items():
        if name == SOURCES:
            for key, source in table.items():
                if found := _model(Source, source, name, key, problems):
                    sources[key] = found
        elif entry := _model(KINDS[name.partition("/")[0]], table, name, "", problems):
            entries[name] = entry
    if not problems:
        problems = list(faults(sources, entries))
    if problems:
        raise CatalogueError(problems)
    return Files(sources, entries)


def _model(model: type[ModelT], table: object, file: str, key: str, problems: list[Problem]) -> ModelT | None:
    try:
        return model.model_validate(table)
    except ValidationError as cause:
        for error in cause.errors(include_url=False):
            path = ".".join(str(step) for step in (*([key] if key else ()), *error["loc"], *error.get("ctx", {}).get("at", ())))
            problems.append(Problem(file, path, error["msg"].removeprefix("Value error, ")))
        return None


def derive(loaded: Files) -> Catalogue:
    """The catalogue that follows from the files."""
    return Catalogue(
        chips=[Chip(file, loaded.sources) for file in loaded.of(ChipFile)],
        clusters=[Cluster(file, loaded.sources) for file in loaded.of(ClusterFile)],
        nics=[Record(file, loaded.sources) for file in loaded.of(NicFile)],
        collective_constants=[Record(file, loaded.sources) for file in loaded.of(ConstantsFile)],
        calibrations=[Calibration(file, loaded.sources) for file in loaded.of(CalibrationFile)],
        sources=loaded.sources,
    )
