"""Five processes begin at the same moment, on a database that an earlier version has left: all end well, and nothing is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from service.storage import AnalysisStore, Database, migrate, open_database, schema

from ..cli.program import Ended, roofline
from ..storage.examples import analysis
from .running import running

STARTS = 5
KEPT = analysis(7, labels={"team": "red"})


def leave(database: Database) -> None:
    """The first schema, with an analysis in it."""
    migrate.ensure(database)
    AnalysisStore(database).add(KEPT)
    migrate.downgrade(database, "0001")


@pytest.fixture
def earlier_url(empty_postgres_url: str) -> str:
    with closing(open_database(empty_postgres_url, None)) as database:
        leave(database)
    return empty_postgres_url


def test_five_migrations_at_once_are_one(earlier_url: str) -> None:
    def migrated(_number: int) -> Ended:
        return roofline("migrate", variables={"ROOFLINE_DATABASE_URL": earlier_url})

    with ThreadPoolExecutor(STARTS) as starters:
        ended = list(starters.map(migrated, range(STARTS)))
    assert [each.status for each in ended] == [0] * STARTS
    assert all(each.words.endswith(f"has schema {schema.head()}, the one of this version\n") for each in ended)
    with closing(open_database(earlier_url, None)) as database:
        migrate.ensure(database)
        assert AnalysisStore(database).get(KEPT.id) == KEPT


def test_five_services_at_once_bring_a_file_to_this_version(tmp_path: Path) -> None:
    with closing(open_database(None, tmp_path / "data")) as database:
        leave(database)
    homes = [tmp_path / str(number) for number in range(STARTS)]
    for home in homes:
        home.mkdir()
    with ExitStack() as stack:
        begun = [running(home, "--data", str(tmp_path / "data")) for home in homes]
        with ThreadPoolExecutor(STARTS) as starters:
            services = list(starters.map(stack.enter_context, begun))
        assert {service.client.get("/readyz").status_code for service in services} == {200}
        (items,) = {service.client.get("/v1/analyses").content for service in services}
        assert KEPT.id in items.decode()
