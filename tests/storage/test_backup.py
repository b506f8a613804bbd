"""Backups: one moment of a database that goes on, in one file, back into a database of either kind, whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import os
import threading
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from service.storage import Analysis, AnalysisStore, Attempt, Database, KeyStore, Reply, ReplyStore, migrate, open_database
from service.storage.backup import backup, kind_of
from service.storage.backup_file import BackupError
from service.storage.restore import restore
from service.storage.schema import SchemaState, head
from service.storage.tables import ANALYSES, CATALOGUE_ENTRIES, METADATA

from .examples import analysis, varied
from .test_keys import key

HEADER = {"roofline_backup": 1, "schema": "0001", "created_at": "2026-01-31T12:00:00Z"}
HOSTILE = "größer 😀 \"'\\ \u2028 {} %s \t\n"


def fill(database: Database) -> None:
    """Rows of every table, with what may go wrong on the way: words, empty text, absent values, floats of every size, truth."""
    store = AnalysisStore(database)
    for number, lower_s in enumerate((5e-324, 0.1, 2.0, 1.7976931348623157e308)):
        store.add(analysis(number, lower_s=lower_s, note=(None, "", HOSTILE)[number % 3], labels={"team": HOSTILE, "empty": ""}))
    row = {"kind": "chip", "id": "own", "created_us": 2**53 + 1, "reason": HOSTILE, "document": "{}", "digest": "d"}
    entries = [{**row, "revision": 1, "deleted": False}, {**row, "revision": 2, "deleted": True}]
    database.write(lambda connection: connection.execute(CATALOGUE_ENTRIES.insert(), entries))
    attempt = Attempt(caller="", key_digest="k", request_digest="r", at_us=1)
    ReplyStore(database).once(attempt, lambda _: Reply(status=201, headers={"etag": '"x"'}, body=HOSTILE.encode()))
    KeyStore(database).add(key(name=HOSTILE, revoked_us=5), most=1)


def everything(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""

    def read(table: str) -> list[tuple[Any, ...]]:
        query = select(METADATA.tables[table]).order_by(*METADATA.tables[table].primary_key)
        return [tuple(row) for row in database.read(lambda connection: connection.execute(query).all())]

    return {table: read(table) for table in METADATA.tables}


def insert(database: Database, analyses: Iterable[Analysis]) -> None:
    """Many at once, without their labels."""
    rows = [dict(zip(types("analyses"), row("analyses", each), strict=True)) for each in analyses]
    database.write(lambda connection: connection.execute(ANALYSES.insert(), rows))


@contextmanager
def writing(database: Database, first: int = 1000) -> Iterator[list[str]]:
    """Ids that are acknowledged, one after another, by a writer that goes on until the end of the block."""
    stop, acknowledged, store = threading.Event(), list[str](), AnalysisStore(database)

    def write() -> None:
        for number in itertools.count(first):
            if stop.is_set():
                return
            acknowledged.append(store.add(analysis(number, labels={"n": str(number)}))[0].id)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(acknowledged) < 5:
            stop.wait(0.01)
        yield acknowledged
    finally:
        stop.set()
        writer.join(30)


@pytest.mark.parametrize("into", ["sqlite", "postgresql"])
def test_everything_comes_back_into_either_kind_of_database(
    database: Database, into: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    fill(database)
    written = backup(database, tmp_path / "kept.roofline")
    assert set(written.rows) == set(METADATA.tables)
    assert all(written.rows.values())
    url = request.getfixturevalue("empty_postgres_url") if into == "postgresql" else None
    other = open_database(url, tmp_path / "other")
    assert restore(other, tmp_path / "kept.roofline") == written
    assert everything(other) == everything(database)
    assert {table: len(rows) for table, rows in everything(other).items()} == written.rows
    assert other.schema_state() is SchemaState.HEAD
    assert AnalysisStore(other).add(analysis(2)) == (AnalysisStore(database).get("an_000002"), False)
    again = backup(other, tmp_path / "again.roofline")
    assert again == written
    other.close()


def test_what_was_acknowledged_before_is_in_it_and_every_row_is_whole(database: Database, tmp_path: Path) -> None:
    """Three backups while a writer goes on: each is a moment, with the labels of all of its analyses and of no others."""
    with writing(database) as acknowledged:
        for number in range(3):
            before = set(acknowledged)
            backup(database, tmp_path / f"{number}.roofline")
            copy = open_database(None, tmp_path / str(number))
            restore(copy, tmp_path / f"{number}.roofline")
            held = everything(copy)
            ids = {row[0] for row in held["analyses"]}
            assert before <= ids
            assert {row[0] for row in held["analysis_labels"]} == ids
            copy.close()


def test_a_backup_goes_into_a_database_of_this_version_that_has_no_rows(database: Database, tmp_path: Path) -> None:
    source = open_database(None, tmp_path / "source")
    migrate.ensure(source)
    fill(source)
    backup(source, tmp_path / "kept")
    restore(database, tmp_path / "kept")
    assert everything(database) == everything(source)
    with pytest.raises(BackupError, match="not empty"):
        restore(database, tmp_path / "kept")
    assert everything(database) == everything(source)
    source.close()


def test_a_database_with_a_single_row_is_left_as_it_is(database: Database, tmp_path: Path) -> None:
    backup(database, tmp_path / "empty")
    AnalysisStore(database).add(analysis(7))
    with pytest.raises(BackupError, match="not empty"):
        restore(database, tmp_path / "empty")
    assert AnalysisStore(database).page(5).items == (analysis(7).headline,)


def test_a_file_is_never_replaced_and_an_attempt_leaves_nothing(database: Database, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "there").write_bytes(b"mine")
    (tmp_path / "folder" / "dangling").symlink_to("nowhere")
    for name in ("there", "dangling"):
        with pytest.raises(BackupError, match="there already"):
            backup(database, tmp_path / "folder" / name)
    with pytest.raises(BackupError, match="cannot be written: No such file"):
        backup(database, tmp_path / "missing" / "kept")
    assert (tmp_path / "folder" / "there").read_bytes() == b"mine"
    backup(database, tmp_path / "folder" / "kept")
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["dangling", "kept", "there"]
    assert (tmp_path / "folder" / "kept").stat().st_mode & 0o777 == 0o600


def test_a_backup_of_an_earlier_version_is_brought_to_this_one(database: Database, tmp_path: Path) -> None:
    """Its rows go into the schema that they were in, which is then migrated."""
    earlier = [HEADER, {"table": "analyses", "columns": types("analyses")}, row("analyses", analysis(1))]
    write(tmp_path / "earlier", earlier)
    assert restore(database, tmp_path / "earlier").schema == "0001"
    assert database.schema_state() is SchemaState.HEAD
    assert AnalysisStore(database).page(5).items == (analysis(1).headline,)


def types(table: str) -> dict[str, str]:
    return {column.name: kind_of(column.type) for column in METADATA.tables[table].columns}


def row(table: str, values: Analysis) -> list[Any]:
    return [getattr(values, column.name) for column in METADATA.tables[table].columns]


def write(path: Path, lines: list[object], counted: dict[str, int] | None = None) -> None:
    """A backup by its documented form."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    tables = [line["table"] for line in lines if isinstance(line, dict) and "table" in line]
    end = {"rows": counted or {table: sum(isinstance(line, list) for line in lines) for table in tables}}
    text += json.dumps({**end, "sha256": hashlib.sha256(text.encode()).hexdigest()}) + "\n"
    path.write_bytes(gzip.compress(text.encode()))


NO_BACKUPS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "no gzip": gzip.decompress,
    "cut off": lambda whole: whole[: len(whole) // 2],
    "one byte less": lambda whole: whole[:-1],
    "words behind": lambda whole: whole + b"words",
    "another file behind": lambda whole: whole + whole,
    "a bit": lambda whole: whole[:200] + bytes([whole[200] ^ 1]) + whole[201:],
    "a value": lambda whole: gzip.compress(gzip.decompress(whole).replace(b"an_000002", b"an_000009")),
    "a row less": lambda whole: gzip.compress(
        b"".join(line for line in gzip.decompress(whole).splitlines(True) if b"an_000002" not in line)
    ),
    "no end": lambda whole: gzip.compress(b"".join(gzip.decompress(whole).splitlines(True)[:-1])),
    "another document": lambda _: gzip.compress(b'{"items": []}\n'),
    "no JSON": lambda _: gzip.compress(b"kind,m,k\n1,2,3\n"),
    "a later form": lambda whole: gzip.compress(gzip.decompress(whole).replace(b'"roofline_backup":1', b'"roofline_backup":2')),
}


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_is_no_whole_backup_is_refused_before_anything_is_written(database: Database, tmp_path: Path) -> None:
    fill(database)
    backup(database, tmp_path / "whole")
    target = open_database(None, tmp_path / "target")
    for name, damage in NO_BACKUPS.items():
        (tmp_path / name).write_bytes(damage((tmp_path / "whole").read_bytes()))
        with pytest.raises(BackupError, match=r"backup.*(damaged|newer version)|not a backup"):
            restore(target, tmp_path / name)
        assert target.schema_state() is SchemaState.EMPTY, name
    with pytest.raises(BackupError, match="cannot be read"):
        restore(target, tmp_path)
    target.close()


ODD: dict[str, list[object]] = {
    "a later schema": [{**HEADER, "schema": "9999"}],
    "a table that is not there": [HEADER, {"table": "customers", "columns": {"id": "text"}}],
    "a table twice": [HEADER, *[{"table": "analyses", "columns": types("analyses")}] * 2],
    "a column less": [HEADER, {"table": "analyses", "columns": {"id": "text"}}],
    "another type": [HEADER, {"table": "analyses", "columns": {**types("analyses"), "note": "number"}}],
    "an unknown type": [HEADER, {"table": "analyses", "columns": {**types("analyses"), "note": ["text"]}}],
    "a row of no table": [HEADER, []],
    "a short row": [HEADER, {"table": "analyses", "columns": types("analyses")}, ["an_1"]],
    "a value of another type": [HEADER, {"table": "analyses", "columns": types("analyses")}, row("analyses", analysis(note=True))],
    "bytes that are none": [
        {**HEADER, "schema": head()},
        {"table": "analysis_facets", "columns": types("analysis_facets")},
        ["0x", 1, "an_1", 1.0],
    ],
    "a row twice": [HEADER, {"table": "analyses", "columns": types("analyses")}, *[row("analyses", analysis())] * 2],
    "a row without an id": [HEADER, {"table": "analyses", "columns": types("analyses")}, row("analyses", analysis(id=None))],
    "a label of nothing": [
        {**HEADER, "schema": head()},
        {"table": "analysis_labels", "columns": types("analysis_labels")},
        ["an_1", "k", "v"],
    ],
}


def test_what_fits_no_schema_leaves_the_database_empty(empty_database: Database, tmp_path: Path) -> None:
    for name, lines in ODD.items():
        write(tmp_path / name, lines)
        with pytest.raises(BackupError):
            restore(empty_database, tmp_path / name)
        assert empty_database.schema_state() is SchemaState.EMPTY, name


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_damaged_file_is_not_backed_up(database: Database, tmp_path: Path) -> None:
    insert(database, varied(range(400)))
    assert database.path is not None
    folder = database.path.parent
    database.close()
    pages = bytearray(database.path.read_bytes())
    middle = len(pages) // 8192 * 4096
    pages[middle : middle + 2048] = os.urandom(2048)
    database.path.write_bytes(pages)
    damaged = open_database(None, folder)
    with pytest.raises(Exception, match="damaged"):
        backup(damaged, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
    damaged.close()


@pytest.mark.parametrize("empty_database", ["sqlite"], indirect=True)
def test_an_empty_database_has_nothing_to_back_up(empty_database: Database, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="schema of this version"):
        backup(empty_database, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_backup_holds_few_rows_in_memory_at_a_time(database: Database, tmp_path: Path) -> None:
    """10 MB of answers on the way out and back, in less than two thirds of that."""
    insert(database, (analysis(number, answer=f"{number}" + "x" * 20_000) for number in range(500)))
    other = open_database(None, tmp_path / "other")
    tracemalloc.start()
    backup(database, tmp_path / "kept")
    restore(other, tmp_path / "kept")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    other.close()
    assert peak < 6_000_000


def test_every_column_has_a_type_that_a_backup_knows_and_no_value_that_a_database_makes() -> None:
    for table in METADATA.sorted_tables:
        assert set(types(table.name).values()) <= {"text", "integer", "number", "boolean", "bytes"}
        assert all(column.autoincrement is not True and column.identity is None for column in table.columns), table.name
