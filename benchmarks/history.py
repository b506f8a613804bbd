"""What a page of a long history costs at any depth, and what it costs to keep an analysis, on SQLite and on PostgreSQL.

Analyses are generated and put into the tables directly. Then pages are read in rounds that alternate between the first and one deep in
the list, so that what else the machine does meets both; what is held is their ratio. An analysis is kept with nothing, with labels and
with a note as long as lists look at, and set against the one with nothing.

    .venv/bin/python -m benchmarks.history [--analyses 20000] [--page 10000] [--rounds 200] [--database-url postgresql://…]

A page holds two analyses, so that the ten-thousandth is there in a history of 20,000. Without an address only SQLite is timed; the
database at the address must be empty.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, insert, text

from service.storage import Analysis, AnalysisStore, Database, migrate, open_database
from service.storage.facets import MOST_WORDS, facets
from service.storage.lists import AnalysisList
from service.storage.tables import ANALYSES, FACETS, LABELS

BATCH: Final = 500
SHOWN: Final = 2  # analyses of a page
LISTS: Final[dict[str, dict[str, Any]]] = {
    "all": {},
    "all by time of the op": {"order_by": "lower_s"},
    "kind, chip, bound and label": {"kind": "matmul", "chip": "nvidia-h100-sxm@1", "bound": "hbm", "label": "team:red"},
    "a word of the note": {"text": "baseline"},
}
KEPT: Final[dict[str, dict[str, Any]]] = {
    "nothing": {},
    "3 labels": {"labels": {"team": "red", "model": "example-70b", "layer": "mlp/up"}},
    "a note of 8 words": {"note": "a baseline before kernels were tuned last week"},
    f"a note of {MOST_WORDS} words": {"note": " ".join(f"word{n}" for n in range(MOST_WORDS))},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyses", type=int, default=20_000, help="length of the history (default: %(default)s)")
    parser.add_argument("--page", type=int, default=10_000, help="the deep page (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=200, help="pages of each depth (default: %(default)s)")
    parser.add_argument("--database-url", help="an empty PostgreSQL database")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for url in dict.fromkeys((None, asked.database_url)):
            database = open_database(url, Path(folder))
            migrate.ensure(database)
            show(database, asked)
            database.close()


def show(database: Database, asked: argparse.Namespace) -> None:
    print(f"{database.dialect}, {asked.analyses} analyses")
    for start in range(0, asked.analyses, BATCH):
        add([example(n) for n in range(start, min(start + BATCH, asked.analyses))], database)
    if database.dialect == "postgresql":
        database.write(lambda connection: connection.execute(text("ANALYZE")))
    for name, filters in LISTS.items():
        first, deep = depths(database, filters, asked.page, asked.rounds)
        print(f"  page 1 : page {asked.page} of {name:28}  1 : {deep / first:.2f}   ({first * 1e3:.2f} ms the first)")
    keeping(database, asked.rounds)


def example(n: int, **members: Any) -> Analysis:
    """An analysis like those that are kept, with documents of the usual length; every one is in each of the lists."""
    given: dict[str, Any] = {"labels": {"team": "red"}, "note": "a baseline", **members}
    return Analysis(
        id=f"an_{n:052d}",
        created_us=1_700_000_000_000_000 + n,
        kind="matmul",
        chip_id="nvidia-h100-sxm",
        chip_revision=1,
        dtype="bf16",
        bound="hbm",
        lower_s=1e-6 * (n * 7919 % 100_003),
        estimate_s=None,
        engine_version="0.1.0",
        question_digest=f"{n:064x}",
        target_digest=f"{n % 7:064x}",
        document_version=3,
        question="q" * 500,
        answer="a" * 5_000,
        **given,
    )


def add(some: list[Analysis], database: Database) -> None:
    def work(connection: Connection) -> None:
        connection.execute(insert(ANALYSES), [{column.name: getattr(one, column.name) for column in ANALYSES.columns} for one in some])
        connection.execute(insert(LABELS), [{"analysis_id": one.id, "key": k, "value": v} for one in some for k, v in one.labels.items()])
        connection.execute(insert(FACETS), list(itertools.chain.from_iterable(map(facet_rows, some))))

    database.write(work)


def facet_rows(one: Analysis) -> Iterator[dict[str, Any]]:
    for name in facets(one):
        yield {"facet": name, "created_us": one.created_us, "lower_s": one.lower_s, "analysis_id": one.id}


def depths(database: Database, filters: dict[str, Any], page: int, rounds: int) -> tuple[float, float]:
    """Seconds of the first page and of a deep one, each the median."""
    store, cursor = AnalysisStore(database), cursor_of(database, filters, page)
    read: tuple[Callable[[], Any], ...] = (
        lambda: store.page(SHOWN, **filters),
        lambda: store.page(SHOWN, cursor, **filters),
    )
    taken = [[seconds(each) for each in read] for _ in range(rounds)]
    first, deep = (statistics.median(column) for column in zip(*taken, strict=True))
    return first, deep


def cursor_of(database: Database, filters: dict[str, Any], page: int) -> str:
    """The cursor with which the page of this number begins."""
    listed = AnalysisList(space="default", **filters)
    before = listed.select(SHOWN * (page - 1), None)
    rows = database.read(lambda connection: connection.execute(before).all())
    assert len(rows) == SHOWN * (page - 1), "the history is too short for this page"
    return listed.cursor_behind(rows[-1])


def keeping(database: Database, rounds: int) -> None:
    store, numbers = AnalysisStore(database), itertools.count(10**9)
    taken: dict[str, list[float]] = {name: [] for name in KEPT}
    for _ in range(rounds):
        for name, members in KEPT.items():
            one = example(next(numbers), **{"labels": {}, "note": None, **members})
            taken[name].append(seconds(lambda one=one: store.add(one)))  # type: ignore[misc]
    least = statistics.median(taken["nothing"])
    for name, each in taken.items():
        print(f"  keeping an analysis with {name:20}  {statistics.median(each) / least:.2f}   ({statistics.median(each) * 1e3:.2f} ms)")


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
