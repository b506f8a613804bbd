"""Pages of analyses: complete, stable, and read from an index however far one has gone."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, insert, text

from service.errors import InvalidInput
from service.storage import Analysis, AnalysisStore, Database, cursors, migrate, open_database
from service.storage.lists import ORDERS, AnalysisList
from service.storage.tables import ANALYSES, LABELS

from .examples import analysis, follow, varied

FILTERS: dict[str, tuple[str, ...]] = {
    "kind": ("matmul", "softmax"),
    "chip": ("nvidia-h100-sxm", "google-tpu-v5e@2"),
    "bound": ("hbm",),
    "label": ("team:red", "run:3"),
}
QUERIES = [
    {name: value for name, value in zip(FILTERS, values, strict=True) if value is not None}
    for values in itertools.product(*((None, *values) for values in FILTERS.values()))
]
EVERYTHING = list(varied(range(3_000)))


def listed(**query: str) -> AnalysisList:
    everything: dict[str, Any] = {"space": "default", "kind": None, "chip": None, "bound": None, "label": None, "order_by": "-created_at"}
    return AnalysisList(**{**everything, **query})


def passes(found: Analysis, query: dict[str, str]) -> bool:
    """The filters once more, in plain Python."""
    chip, _, revision = query.get("chip", "").partition("@")
    key, _, value = query.get("label", "").partition(":")
    return (
        query.get("kind", found.kind) == found.kind
        and query.get("bound", found.bound) == found.bound
        and chip in ("", found.chip_id)
        and revision in ("", str(found.chip_revision))
        and (not key or found.labels.get(key) == value)
    )


def in_order(found: Analysis, order_by: str) -> tuple[float, str]:
    return (found.created_us if order_by.endswith("created_at") else found.lower_s, found.id)


def test_every_filter_and_order_gives_what_plain_python_gives(database: Database) -> None:
    store = AnalysisStore(database)
    everything = list(varied(range(60)))
    for one in everything:
        store.add(one)
    for query, order_by in itertools.product(QUERIES, ORDERS):
        expected = sorted(
            (one for one in everything if passes(one, query)), key=lambda one: in_order(one, order_by), reverse=order_by[0] == "-"
        )
        assert list(follow(store, 17, order_by=order_by, **query)) == expected, (query, order_by)


def test_the_newest_come_first(database: Database) -> None:
    store = AnalysisStore(database)
    for number in (2, 0, 1):
        store.add(analysis(number))
    assert [found.id for found in store.page(2).items] == ["an_000002", "an_000001"]


@pytest.mark.parametrize("order_by", ORDERS)
def test_whoever_follows_the_cursors_meets_each_row_once_while_others_are_added(database: Database, order_by: str) -> None:
    """Half of the rows tie in the order column, so that pages end within ties."""
    store = AnalysisStore(database)
    for number in range(0, 80, 2):
        store.add(analysis(number, created_us=5 + number // 40, lower_s=1e-6 * (number // 40)))
    at_start = {found.id for found in store.page(200).items}
    met: list[str] = []
    cursor = None
    for step in itertools.count():
        page = store.page(7, cursor, order_by=order_by)
        met += [found.id for found in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
        store.add(analysis(2 * step + 1, created_us=5, lower_s=0.0))
        store.add(analysis(200 + step, created_us=99, lower_s=9.0))
        store.add(analysis(300 + step, created_us=1, lower_s=1e-9))
    assert len(met) == len(set(met))
    assert at_start <= set(met)


def test_the_last_page_has_no_cursor(database: Database) -> None:
    """Also where it is exactly full."""
    store = AnalysisStore(database)
    for count in range(12):
        page = store.page(5)
        sizes = [len(page.items)]
        while page.next_cursor is not None:
            page = store.page(5, page.next_cursor)
            sizes.append(len(page.items))
        assert sum(sizes) == count
        assert len(sizes) == max(1, -(-count // 5))
        store.add(analysis(count))


def test_a_cursor_of_another_list_is_refused(database: Database) -> None:
    store = AnalysisStore(database)
    for one in varied(range(40)):
        store.add(one)
    cursor = store.page(3, kind="matmul").next_cursor
    others: list[dict[str, Any]] = [{}, {"kind": "dot"}, {"kind": "matmul", "bound": "hbm"}, {"kind": "matmul", "order_by": "created_at"}]
    for query in [*others, {"kind": "matmul", "space": "other"}, {"kind": "matmul", "label": "team:red"}]:
        with pytest.raises(InvalidInput) as refused:
            store.page(3, cursor, **query)
        assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/query/cursor", "out-of-range")]


def forged(*entries: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(entries).encode()).decode().rstrip("=")


OF_THIS_LIST = cursors.list_digest(**asdict(listed()))


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "x", "é", "====", "bm90IGpzb24", "\0", "A" * 100_000, base64.urlsafe_b64encode(b"[" * 700).decode()),
        *(forged(), forged(OF_THIS_LIST), forged(OF_THIS_LIST, 1), forged(OF_THIS_LIST, 1, "an_1", 2)),
        *(forged(OF_THIS_LIST, value, "an_1") for value in ("1", 1.5, True, None, [1], 2**63, -(2**63) - 1, 10**400)),
        *(forged(OF_THIS_LIST, 1, row_id) for row_id in (None, 1, ["an_1"], "an_\0", "\ud800")),
        forged([OF_THIS_LIST], 1, "an_1"),
    ],
    ids=lambda cursor: cursor[-28:],
)
def test_what_is_not_a_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        listed().select(3, cursor)
    assert [fault.pointer for fault in refused.value.faults] == ["/query/cursor"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1])
def test_a_cursor_holds_a_finite_number_of_its_column(value: float) -> None:
    digest = cursors.list_digest(**asdict(listed(order_by="lower_s")))
    with pytest.raises(InvalidInput):
        listed(order_by="lower_s").select(3, forged(digest, value, "an_1"))


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_any_text_is_a_cursor_or_is_refused(words: str) -> None:
    with pytest.raises(InvalidInput):
        cursors.read(words, "digest", int)


@given(st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_cursor_keeps_its_number_exactly(value: float) -> None:
    assert cursors.read(cursors.write("d", value, "an_1"), "d", type(value)) == (value, "an_1")


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"order_by": "note"}, "/query/order_by"),
        ({"order_by": "--lower_s"}, "/query/order_by"),
        ({"label": "team"}, "/query/label"),
        *(({"chip": f"c@{revision}"}, "/query/chip") for revision in ("", "0", "-1", "x", "1.0", "²", "2147483648", "9" * 40, "1@1")),
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused(query: dict[str, str], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        listed(**query).select(3, None)
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def test_hostile_filters_match_nothing(database: Database) -> None:
    store = AnalysisStore(database)
    store.add(analysis(labels={"a": "b"}))
    for words in ("\0", "\ud800", "' OR 1=1 --", "%", "é:ü:ö", "x" * 5000):
        for query in ({"kind": words}, {"chip": words}, {"bound": words}, {"label": f"a:{words}"}, {"label": f"{words}:b"}):
            assert store.page(3, None, **query).items == ()


def test_a_label_value_may_hold_colons(database: Database) -> None:
    store = AnalysisStore(database)
    store.add(analysis(labels={"link": "https://example.org:8080"}))
    assert len(store.page(3, label="link:https://example.org:8080").items) == 1


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database with 3,000 analyses, as many as make a scan and a sort stand out from a walk along an index."""
    server = None if request.param == "sqlite" else request.getfixturevalue("postgres_server")
    url = None if server is None else server.create_database()
    database = open_database(url, tmp_path_factory.mktemp("many"))
    migrate.ensure(database)

    def fill(connection: Connection) -> None:
        rows = [{column.name: getattr(one, column.name) for column in ANALYSES.columns} for one in EVERYTHING]
        labels = [
            {"analysis_id": one.id, "space": one.space, "created_us": one.created_us, "lower_s": one.lower_s, "key": key, "value": value}
            for one in EVERYTHING
            for key, value in one.labels.items()
        ]
        connection.execute(insert(ANALYSES), rows)
        connection.execute(insert(LABELS), labels)

    database.write(fill)
    database.write(lambda connection: connection.execute(text("ANALYZE")))
    yield database
    database.close()
    if server is not None:
        server.drop_database(url)


def sql(connection: Connection, query: dict[str, str], depth: float) -> str:
    """The SELECT of a page of 20 that begins behind the given part of its list, or at the start."""
    of_query = listed(**query)
    order_by = query["order_by"]
    matching = sorted([one for one in EVERYTHING if passes(one, query)] or EVERYTHING, key=lambda one: in_order(one, order_by))
    last_seen = matching[int((1 - depth if order_by[0] == "-" else depth) * (len(matching) - 1))]
    statement = of_query.select(21, of_query.cursor_behind(last_seen) if depth else None)
    return str(statement.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True}))


ONE_FILTER = [{**query, "order_by": order_by} for query in QUERIES if len(query) <= 1 for order_by in ORDERS]
MORE_FILTERS = [{**query, "order_by": order_by} for query in QUERIES if len(query) > 1 for order_by in ("-created_at", "lower_s")]
DEPTHS = (0, 0.1, 0.5, 0.9)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def postgres_plan(database: Database, query: dict[str, str], depth: float) -> list[dict[str, Any]]:
    def explain(connection: Connection) -> Any:
        return connection.exec_driver_sql("EXPLAIN (ANALYZE, FORMAT JSON) " + sql(connection, query, depth)).scalar()

    return list(nodes(database.read(explain)[0]["Plan"]))


def sqlite_plan(database: Database, query: dict[str, str], depth: float) -> tuple[list[str], int]:
    """The lines of the plan, and how many hundreds of instructions SQLite executes for the page."""

    def explain(connection: Connection) -> tuple[list[str], int]:
        statement = sql(connection, query, depth)
        lines = [row[3] for row in connection.exec_driver_sql("EXPLAIN QUERY PLAN " + statement)]
        ticks = itertools.count()
        driver: Any = connection.connection.dbapi_connection
        driver.set_progress_handler(lambda: next(ticks) < 0, 100)
        connection.exec_driver_sql(statement).all()
        driver.set_progress_handler(None, 0)
        return lines, next(ticks)

    return database.read(explain)


@pytest.mark.parametrize("many", ["postgresql"], indirect=True)
def test_on_postgresql_every_page_walks_an_index_in_order(many: Database) -> None:
    for query, depth in [*itertools.product(ONE_FILTER, DEPTHS), *itertools.product(MORE_FILTERS, (0.5,))]:
        types = {node["Node Type"] for node in postgres_plan(many, query, depth)}
        assert types <= {"Limit", "Nested Loop", "Memoize", "Index Scan", "Index Only Scan"}, (query, types)


@pytest.mark.parametrize("many", ["postgresql"], indirect=True)
def test_on_postgresql_a_page_at_any_depth_reads_one_row_more_than_it_shows(many: Database) -> None:
    for query, depth in itertools.product(ONE_FILTER, DEPTHS):
        scans = [node for node in postgres_plan(many, query, depth) if "Scan" in node["Node Type"]]
        read = [node["Actual Rows"] * node["Actual Loops"] + node.get("Rows Removed by Filter", 0) for node in scans]
        assert max(read) <= 21, (query, depth, read)


@pytest.mark.parametrize("many", ["sqlite"], indirect=True)
def test_on_sqlite_every_page_walks_an_index_in_order(many: Database) -> None:
    for query, depth in [*itertools.product(ONE_FILTER, DEPTHS), *itertools.product(MORE_FILTERS, (0.5,))]:
        lines, _ = sqlite_plan(many, query, depth)
        assert all(line.startswith("SEARCH ") and "INDEX" in line for line in lines), (query, lines)


@pytest.mark.parametrize("many", ["sqlite"], indirect=True)
def test_on_sqlite_a_page_at_any_depth_costs_what_the_first_page_costs(many: Database) -> None:
    """21 rows of 18 columns take some 800 instructions; reading a tenth of the rows would take many thousand."""
    for query, depth in itertools.product(ONE_FILTER, DEPTHS):
        _, ticks = sqlite_plan(many, query, depth)
        assert ticks <= 15, (query, depth, ticks)
