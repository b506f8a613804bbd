"""`roofline backup` and `roofline restore`, typed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from service.storage import AnalysisStore, migrate, open_database, schema

from ..storage.examples import analysis
from .program import Ended, roofline

KEPT = analysis(7, labels={"team": "red"})


def refused(ended: Ended, sentence: str) -> None:
    assert (ended.status, ended.output, ended.words) == (2, b"", f"roofline: {sentence}\n")


def test_what_an_open_file_keeps_goes_into_postgresql(tmp_path: Path, empty_postgres_url: str) -> None:
    file, data = tmp_path / "kept.roofline", tmp_path / "data"
    into: Mapping[str, str] = {"ROOFLINE_DATABASE_URL": empty_postgres_url}
    with closing(open_database(None, data)) as database:
        migrate.ensure(database)
        AnalysisStore(database).add(KEPT)
        told = roofline("backup", str(file), "--data", str(data))
    assert (told.status, told.output) == (0, b"")
    held = f"1 of analyses, 24 of analysis_facets, 1 of analysis_labels (schema {schema.head()})"
    assert told.words == f"roofline: {file} holds {held} from SQLite ({data}/analyses.sqlite3)\n"
    refused(roofline("backup", str(file), "--data", str(data)), "The file is there already; a backup replaces nothing.")
    restored = roofline("restore", str(file), variables=into)
    assert (restored.status, restored.words) == (0, f"roofline: PostgreSQL now holds {held}\n")
    with closing(open_database(empty_postgres_url, None)) as database:
        assert AnalysisStore(database).page(5).items == (KEPT.headline,)
    refused(roofline("restore", str(file), variables=into), "The database is not empty; a backup is restored into an empty one alone.")


def test_a_folder_without_a_database_is_said_to_be_one_and_stays_so(tmp_path: Path) -> None:
    ended = roofline("backup", str(tmp_path / "kept"), "--data", str(tmp_path / "nothing"))
    refused(ended, f"The data folder {tmp_path}/nothing holds no database.")
    assert list(tmp_path.iterdir()) == []
