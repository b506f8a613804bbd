"""The file of a backup: JSON lines in gzip, the same whatever database they come from.

    {"roofline_backup": 1, "schema": "0001", "created_at": "2026-01-31T12:00:00Z"}
    {"table": "analyses", "columns": {"id": "text", "created_us": "integer", "lower_s": "number"}}
    ["an_4f…", 1769860800000000, 2.4e-4]
    …a line for each row, then the next table…
    {"rows": {"analyses": 1}, "sha256": "9d…"}

The last line counts the rows of every table, and its digest is that of all bytes before it, so a file that was cut off or altered
is known. Tables stand in an order in which no row refers to a later one. Neither side holds more than a few rows at a time.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import IO, Any, Final

import orjson

from ..errors import ServiceError

VERSION: Final = 1
LONGEST_LINE: Final = 64 * 2**20
BATCH: Final = 50
TYPES: Final[Mapping[str, type]] = {"text": str, "integer": int, "number": float, "boolean": bool, "bytes": str}
"""The type that values of a column have in the file, besides None; bytes are written in hexadecimal."""

Row = list[Any]


class BackupError(ServiceError):
    """A backup cannot be written, or a file is none."""


@dataclass(frozen=True)
class Part:
    """Some rows of a table, in the order of `columns`, which has the type of each."""

    table: str
    columns: Mapping[str, str]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Contents:
    """What a backup holds: the revision of its schema, and how many rows of each table."""

    schema: str
    rows: Mapping[str, int]


class BackupWriter:
    """Writes a backup to a file that is open."""

    def __init__(self, file: IO[bytes], schema: str, created_at: str) -> None:
        # Without a time and a name in its own header, gzip makes equal bytes of equal rows.
        self._file = gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=5, mtime=0)
        self._digest = hashlib.sha256()
        self._rows: dict[str, int] = {}
        self._write({"roofline_backup": VERSION, "schema": schema, "created_at": created_at})

    def table(self, name: str, columns: Mapping[str, str], rows: Iterator[Sequence[Any]]) -> None:
        """Writes a whole table."""
        self._write({"table": name, "columns": dict(columns)})
        self._rows[name] = 0
        for row in rows:
            if any(isinstance(value, float) and not math.isfinite(value) for value in row):
                raise BackupError(f"A row of {name} holds a number that is not finite, which JSON does not have.")
            self._write(list(row))
            self._rows[name] += 1

    def close(self) -> None:
        """Writes the last line; the file stays open."""
        self._write({"rows": self._rows, "sha256": self._digest.hexdigest()})
        self._file.close()

    def _write(self, value: object) -> None:
        line = orjson.dumps(value, default=bytes.hex, option=orjson.OPT_APPEND_NEWLINE)
        self._digest.update(line)
        self._file.write(line)


def contents(path: Path) -> Contents:
    """Reads the whole file and says what it holds. Raises: BackupError unless every byte is as it was written."""
    counted: dict[str, int] = {}
    for part in read(path):
        counted[part.table] = counted.get(part.table, 0) + len(part.rows)
    return Contents(schema_of(path), counted)


def schema_of(path: Path) -> str:
    """The revision of the schema that the rows have. Raises: BackupError."""
    _, first = next(_lines(path), (b"", None))
    return _schema(first)


def read(path: Path) -> Iterator[Part]:
    """Every table, a few rows at a time, and first without any. Raises: BackupError, at the latest behind the last part."""
    return _Reader(path).parts()


class _Reader:
    """Goes through a file once, and believes it only at its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._counted: dict[str, int] = {}
        self._columns: Mapping[str, str] = {}
        self._table: str | None = None
        self._rows: list[Row] = []

    def parts(self) -> Iterator[Part]:
        lines = _lines(self._path)
        line, first = next(lines, (b"", None))
        _schema(first)
        self._digest.update(line)
        for line, value in lines:
            if isinstance(value, list):
                self._add(value)
                if len(self._rows) == BATCH:
                    yield self._part()
            else:
                if self._rows:
                    yield self._part()
                if isinstance(value, dict) and "sha256" in value:
                    self._end(value, lines)
                    return
                self._begin(value)
                yield self._part()
            self._digest.update(line)
        raise _damaged("it has no end")

    def _begin(self, value: object) -> None:
        match value:
            case {"table": str(name), "columns": dict(columns)} if name not in self._counted and _are_types(columns.values()):
                self._table, self._columns, self._counted[name] = name, columns, 0
            case _:
                raise _damaged("a table is not described as it should be")

    def _add(self, row: Row) -> None:
        types = self._columns.values()
        if self._table is None or len(row) != len(types):
            raise _damaged("a row does not have the columns of its table")
        if any(type(value) not in (TYPES[kind], NoneType) for value, kind in zip(row, types, strict=True)):
            raise _damaged("a value does not have the type of its column")
        self._rows.append([_bytes(value) if kind == "bytes" else value for value, kind in zip(row, types, strict=True)])
        self._counted[self._table] += 1

    def _part(self) -> Part:
        assert self._table is not None
        rows, self._rows = self._rows, []
        return Part(self._table, self._columns, rows)

    def _end(self, value: Mapping[str, Any], lines: Iterator[object]) -> None:
        if value != {"rows": self._counted, "sha256": self._digest.hexdigest()} or next(lines, None) is not None:
            raise _damaged("its rows are not those that were written")


def _schema(first: object) -> str:
    match first:
        case {"roofline_backup": int(version), "schema": str(schema)} if version == VERSION:
            return schema
        case {"roofline_backup": _}:
            raise BackupError("This backup was made by a newer version; restore it with that.")
    raise BackupError("This file is not a backup.")


def _lines(path: Path) -> Iterator[tuple[bytes, object]]:
    """Each line with what it says. Raises: BackupError."""
    try:
        with gzip.open(path, "rb") as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise _damaged("a line is too long")
                yield line, orjson.loads(line)
    except (gzip.BadGzipFile, EOFError, zlib.error, orjson.JSONDecodeError) as error:
        raise BackupError("This file is not a backup, or it is damaged.") from error
    except OSError as error:
        raise BackupError(f"The file cannot be read: {error.strerror}.") from error


def _bytes(text: str | None) -> bytes | None:
    try:
        return None if text is None else bytes.fromhex(text)
    except ValueError:
        raise _damaged("bytes are not in hexadecimal") from None


def _are_types(names: Iterable[object]) -> bool:
    return all(isinstance(name, str) and name in TYPES for name in names)


def _damaged(how: str) -> BackupError:
    return BackupError(f"This backup is damaged: {how}.")
