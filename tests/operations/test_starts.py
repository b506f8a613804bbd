"""Five processes begin at the same moment on a database that an earlier version has left: all end well, and nothing is lost.

How services start at once on either kind of database, empty or older, is in `tests/storage/test_migrate.py`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from service.storage import AnalysisStore, Database, migrate, schema
from service.storage.schema import SchemaState

from ..cli.program import Ended, roofline
from ..storage.examples import analysis

STARTS = 5
KEPT = analysis(7, labels={"team": "red"})


@pytest.mark.parametrize("empty_database", ["postgresql"], indirect=True)
def test_five_migrations_at_once_are_one(empty_database: Database, empty_postgres_url: str) -> None:
    migrate.ensure(empty_database)
    AnalysisStore(empty_database).add(KEPT)
    migrate.downgrade(empty_database, "0001")

    def migrated(_number: int) -> Ended:
        return roofline("migrate", variables={"ROOFLINE_DATABASE_URL": empty_postgres_url})

    with ThreadPoolExecutor(STARTS) as starters:
        ended = list(starters.map(migrated, range(STARTS)))
    assert [each.status for each in ended] == [0] * STARTS, ended
    assert all(each.words.endswith(f"has schema {schema.head()}, the one of this version\n") for each in ended)
    assert empty_database.schema_state() is SchemaState.HEAD
    assert AnalysisStore(empty_database).get(KEPT.id) == KEPT
