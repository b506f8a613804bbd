"""What the tests run in processes of their own, started from a server that has everything imported."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path

from service.errors import ServiceError
from service.storage import AnalysisStore, migrate, open_database, schema

from .examples import analysis


def context() -> ForkServerContext:
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.storage.processes"])
    return made


def start_and_add(url: str | None, folder: Path, migrations: Path | None, first: int, results: Connection) -> None:
    """As `serve` starts: the schema is made ready, then five analyses are kept. Sends what came of it."""
    if migrations is not None:
        schema.FOLDERS = (migrations,)
    try:
        database = open_database(url, folder)
        if migrations is None:
            migrate.ensure(database)
        else:
            migrate.upgrade(database)
        added = [AnalysisStore(database).add(analysis(first + step))[1] for step in range(5)]
        database.close()
    except ServiceError as error:
        results.send(error.detail)
    else:
        results.send(added)


def add_until_killed(folder: Path, first: int, acknowledged: Connection) -> None:
    """Keeps one analysis after another and says each id aloud once `add` has returned."""
    store = AnalysisStore(open_database(None, folder))
    number = first
    while True:
        stored, _ = store.add(analysis(number, labels={"number": str(number)}, answer="x" * (number * 997 % 20_000)))
        acknowledged.send(stored.id)
        number += 1
