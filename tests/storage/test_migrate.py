"""Migrations: up, down, with rows; what `ensure` does with each kind of database; several processes at once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from multiprocessing.connection import wait
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from service.errors import Unavailable
from service.storage import AnalysisStore, Database, migrate, open_database, schema
from service.storage.facets import facets
from service.storage.schema import SchemaState
from service.storage.tables import METADATA

from .examples import analysis, varied
from .processes import context, start_and_add

LATER = '''"""A later schema, as the next version may have it."""

import sqlalchemy as sa
from alembic import op

revision = "9000"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade():
    op.add_column("analyses", sa.Column("colour", sa.Text()))


def downgrade():
    op.drop_column("analyses", "colour")
'''


OPTIONS = {"version_table": schema.VERSION_TABLE, "compare_type": True, "compare_server_default": True}


@pytest.fixture
def later_migrations(tmp_path: Path) -> Path:
    """The migrations and one more."""
    folder = tmp_path / "later 100%"
    shutil.copytree(schema.FOLDERS[-1], folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "9000_later.py").write_text(LATER.format(before=schema.head()))
    return folder


@pytest.fixture
def later_version(database: Database, later_migrations: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The code becomes a version later than `database`, which is at the present head already."""
    assert database.schema_state() is SchemaState.HEAD
    monkeypatch.setattr(schema, "FOLDERS", (later_migrations,))
    schema.head.cache_clear()
    schema.known.cache_clear()
    yield
    schema.head.cache_clear()
    schema.known.cache_clear()


def columns(database: Database) -> set[str]:
    return database.read(lambda connection: {column["name"] for column in inspect(connection).get_columns("analyses")})


def execute(database: Database, statement: str) -> None:
    database.write(lambda connection: connection.execute(text(statement)))


def differences(connection: Connection) -> list[object]:
    """What the tables in the code have otherwise than those of the database."""
    return list(compare_metadata(MigrationContext.configure(connection, opts=OPTIONS), METADATA))


def test_an_empty_database_is_brought_to_head_once(empty_database: Database) -> None:
    assert empty_database.schema_state() is SchemaState.EMPTY
    migrate.ensure(empty_database)
    assert empty_database.schema_state() is SchemaState.HEAD
    AnalysisStore(empty_database).add(analysis())
    migrate.ensure(empty_database)
    migrate.upgrade(empty_database)
    assert AnalysisStore(empty_database).get("an_000000") == analysis()


def test_the_tables_in_the_code_are_those_that_the_migrations_make(database: Database) -> None:
    assert database.read(differences) == []


def test_every_text_column_sorts_by_its_bytes_on_postgresql(postgres_url: str) -> None:
    database = open_database(postgres_url, None)
    query = text(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        " AND table_name <> :version_table AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'"
    )
    assert database.read(lambda connection: connection.execute(query, {"version_table": schema.VERSION_TABLE}).all()) == []
    database.close()


def test_down_and_up_again_leaves_a_working_database(database: Database) -> None:
    AnalysisStore(database).add(analysis(labels={"team": "red"}))
    migrate.downgrade(database, "base")
    assert database.schema_state() is SchemaState.EMPTY
    migrate.ensure(database)
    assert AnalysisStore(database).page(5).items == ()
    AnalysisStore(database).add(analysis(labels={"team": "red"}))
    assert len(AnalysisStore(database).page(5, label="team:red").items) == 1


def facet_rows(database: Database) -> set[tuple[object, ...]]:
    query = text("SELECT facet, created_us, lower_s, analysis_id FROM analysis_facets")
    rows = database.read(lambda connection: connection.execute(query).all())
    return {(bytes(facet), *others) for facet, *others in rows}


def test_lists_are_filled_with_what_was_kept_before_there_were_facets(database: Database) -> None:
    """More analyses than a batch of the migration, with labels, notes in several scripts, and chips and bounds that are absent."""
    store = AnalysisStore(database)
    given = [*varied(range(60)), analysis(900, note="Größe: STRASSE/straße ①é_x 大きさ", labels={"a": "é:ü", "b": ""}, space="other")]
    given.append(analysis(901, note=" ".join(f"w{n}-{n}" for n in range(40))))
    for one in given:
        store.add(one)
    before = facet_rows(database)
    migrate.downgrade(database, "0001")
    columns = "l.space, l.created_us, l.lower_s, a.space, a.created_us, a.lower_s"
    repeated = text(f"SELECT {columns} FROM analysis_labels l JOIN analyses a ON a.id = l.analysis_id")  # noqa: S608 - names from above
    rows = database.read(lambda connection: connection.execute(repeated).all())
    assert rows
    assert all(tuple(row[:3]) == tuple(row[3:]) for row in rows)
    migrate.upgrade(database)
    assert facet_rows(database) == before
    assert before == {(name, one.created_us, one.lower_s, one.id) for one in given for name in facets(one)}
    assert [store.get(one.id, one.space) for one in given] == given


def test_what_the_first_schema_can_hold_survives_every_step_down_and_all_up(database: Database) -> None:
    store, kept = AnalysisStore(database), analysis(labels={"team": "red"}, note="tuned")
    store.add(kept)
    while database.read(lambda connection: MigrationContext.configure(connection, opts=OPTIONS).get_current_revision()) != "0001":
        migrate.downgrade(database, "-1")
        assert database.schema_state() is SchemaState.BEHIND
    migrate.upgrade(database)
    assert store.get(kept.id) == kept
    assert store.page(5, label="team:red").items == store.page(5, text="tuned").items == (kept.headline,)
    assert database.read(differences) == []


@pytest.mark.usefixtures("later_version")
def test_rows_survive_a_step_up_down_and_up(database: Database) -> None:
    store, kept = AnalysisStore(database), analysis(labels={"team": "red"})
    store.add(kept)
    assert database.schema_state() is SchemaState.BEHIND
    for step in ("up", "down", "up"):
        if step == "up":
            migrate.upgrade(database)
        else:
            migrate.downgrade(database, "-1")
        assert ("colour" in columns(database)) is (step == "up")
        assert store.get(kept.id) == kept


@pytest.mark.usefixtures("later_version")
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_older_sqlite_file_is_copied_and_then_upgraded(database: Database) -> None:
    assert database.path is not None
    AnalysisStore(database).add(analysis())
    migrate.ensure(database)
    assert database.schema_state() is SchemaState.HEAD
    copies = [path for path in database.path.parent.iterdir() if "before" in path.name]
    assert [path.name for path in copies] == ["analyses.sqlite3.before-9000"]
    assert copies[0].stat().st_mode & 0o777 == 0o600
    restored = database.path.parent / "restored"
    restored.mkdir()
    shutil.copy(copies[0], restored / database.path.name)
    before = open_database(None, restored)
    assert "colour" not in columns(before)
    assert AnalysisStore(before).get("an_000000") == analysis()
    before.close()


@pytest.mark.usefixtures("later_version")
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_an_older_postgresql_schema_is_left_to_a_person(database: Database) -> None:
    with pytest.raises(Unavailable, match="roofline migrate"):
        migrate.ensure(database)
    assert database.schema_state() is SchemaState.BEHIND
    migrate.upgrade(database)
    migrate.ensure(database)
    assert database.schema_state() is SchemaState.HEAD


def test_a_newer_schema_is_refused(database: Database) -> None:
    execute(database, "UPDATE roofline_schema SET version_num = '9999'")
    assert database.schema_state() is SchemaState.AHEAD
    for action in (migrate.ensure, migrate.upgrade):
        with pytest.raises(Unavailable, match="newer version"):
            action(database)


def test_a_database_of_another_application_is_left_alone(empty_database: Database) -> None:
    execute(empty_database, "CREATE TABLE customers (id INTEGER PRIMARY KEY)")
    assert empty_database.schema_state() is SchemaState.UNKNOWN
    for action in (migrate.ensure, migrate.upgrade):
        with pytest.raises(Unavailable, match="another application"):
            action(empty_database)
    assert empty_database.read(lambda connection: inspect(connection).get_table_names()) == ["customers"]


@pytest.mark.usefixtures("later_version")
def test_a_migration_that_fails_leaves_everything_as_it_was(database: Database, later_migrations: Path) -> None:
    AnalysisStore(database).add(analysis())
    script = later_migrations / "versions" / "9000_later.py"
    script.write_text(script.read_text().replace("def downgrade", "    raise RuntimeError('half way')\n\n\ndef downgrade"))
    with pytest.raises(RuntimeError, match="half way"):
        migrate.upgrade(database)
    assert database.schema_state() is SchemaState.BEHIND
    assert "colour" not in columns(database)
    assert AnalysisStore(database).get("an_000000") == analysis()


def test_migrating_prints_nothing_and_needs_no_folder(
    empty_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    migrate.ensure(empty_database)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("schema_before", ["none", "older"])
def test_five_processes_may_start_at_once(empty_database: Database, request: pytest.FixtureRequest, schema_before: str) -> None:
    """All of them come up, and nothing that any of them added is lost."""
    migrations = None
    if schema_before == "older":
        migrate.ensure(empty_database)
        migrations = request.getfixturevalue("later_migrations")
    url = request.getfixturevalue("empty_postgres_url") if empty_database.path is None else None
    folder = Path("unused") if empty_database.path is None else empty_database.path.parent
    processes = context()
    pipes = [processes.Pipe(duplex=False) for _ in range(5)]
    started = [
        processes.Process(target=start_and_add, args=(url, folder, migrations, 10 * n, sender)) for n, (_, sender) in enumerate(pipes)
    ]
    for process in started:
        process.start()
    for _, sender in pipes:
        sender.close()
    results = [receiver.recv() if wait([receiver], timeout=60) else "no answer" for receiver, _ in pipes]
    for process in started:
        process.join(timeout=30)
    assert results == [[True] * 5] * 5
    assert len(AnalysisStore(empty_database).page(100).items) == 25
