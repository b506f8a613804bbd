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
from sqlalchemy import ClauseElement, Connection, Executable, insert, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from service.errors import InvalidInput
from service.storage import Analysis, AnalysisStore, Database, cursors, migrate, open_database
from service.storage.facets import facets
from service.storage.lists import ORDERS, AnalysisList
from service.storage.tables import ANALYSES, FACETS, LABELS

from .examples import analysis, follow, varied

Query = dict[str, Any]
FILTERS: tuple[tuple[Query, ...], ...] = (
    ({}, {"kind": "matmul"}),
    ({}, {"chip": "nvidia-h100-sxm"}, {"chip": "google-tpu-v5e@2"}),
    ({}, {"bound": "hbm"}),
    ({}, {"label": "team:red"}, {"label": "run:3"}, {"text": "TUNED"}, {"text": "h100-sxm"}),
)
QUERIES: list[Query] = [{name: value for each in chosen for name, value in each.items()} for chosen in itertools.product(*FILTERS)]
EVERYTHING = list(varied(range(900)))


def listed(**query: Any) -> AnalysisList:
    return AnalysisList(**{"space": "default", **query})


def in_span(query: Query, of: list[Analysis], order_by: str) -> list[Query]:
    """The query alone, and where time is the order also within the middle half of `of`; without filters also from and up to there."""
    moments = sorted(one.created_us for one in of)
    if not order_by.endswith("created_at"):
        return [query]
    after, before = {"created_after": moments[len(moments) // 4]}, {"created_before": moments[3 * len(moments) // 4]}
    ends = [{**query, **after}, {**query, **before}] if set(query) <= {"order_by"} else []
    return [query, *ends, {**query, **after, **before}]


def passes(found: Analysis, query: Query) -> bool:
    """The filters once more, in plain Python; the notes of the examples part at spaces and marks."""
    chip, _, revision = query.get("chip", "").partition("@")
    key, _, value = query.get("label", "").partition(":")
    noted = [word.strip(".,:") for word in (found.note or "").lower().split()]
    return (
        ("text" not in query or query["text"].lower() in noted)
        and query.get("created_after", 0) < found.created_us < query.get("created_before", 2**63)
        and query.get("kind", found.kind) == found.kind
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
    for unbounded, order_by in itertools.product(QUERIES, ORDERS):
        for query in in_span(unbounded, everything, order_by):
            chosen = [one for one in everything if passes(one, query)]
            expected = sorted(chosen, key=lambda one: in_order(one, order_by), reverse=order_by[0] == "-")
            assert list(follow(store, 25, order_by=order_by, **query)) == [one.headline for one in expected], (query, order_by)


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


class Explain(Executable, ClauseElement):
    """EXPLAIN of a statement, its parameters bound as the store binds them."""

    inherit_cache = False

    def __init__(self, how: str, statement: Any) -> None:
        self.how = how
        self.statement = statement


@compiles(Explain)
def compile_explain(element: Explain, compiler: SQLCompiler, **options: Any) -> str:
    return f"{element.how} {compiler.process(element.statement, **options)}"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database with 900 analyses, as many as make a scan and a sort stand out from a walk along an index."""
    server = None if request.param == "sqlite" else request.getfixturevalue("postgres_server")
    url = None if server is None else server.create_database()
    database = open_database(url, tmp_path_factory.mktemp("many"))
    migrate.ensure(database)

    def fill(connection: Connection) -> None:
        connection.execute(
            insert(ANALYSES), [{column.name: getattr(one, column.name) for column in ANALYSES.columns} for one in EVERYTHING]
        )
        labels = [{"analysis_id": one.id, "key": key, "value": value} for one in EVERYTHING for key, value in one.labels.items()]
        connection.execute(insert(LABELS), labels)
        order = {one.id: {"created_us": one.created_us, "lower_s": one.lower_s, "analysis_id": one.id} for one in EVERYTHING}
        connection.execute(insert(FACETS), [{"facet": name, **order[one.id]} for one in EVERYTHING for name in facets(one)])

    database.write(fill)
    if server is not None:  # as its own upkeep does; nothing does so on SQLite
        database.write(lambda connection: connection.execute(text("ANALYZE")))
    yield database
    database.close()
    if server is not None:
        server.drop_database(url)


def pages(depths: tuple[float, ...]) -> Iterator[tuple[Query, Any]]:
    """Every combination of filters in every order, in a span of time and without, each with the SELECT of a page of 20 that begins
    behind the given part of its list, or at the start."""
    for unbounded, order_by in itertools.product(QUERIES, ORDERS):
        for query in in_span({**unbounded, "order_by": order_by}, EVERYTHING, order_by):
            of_query = listed(**query)
            matching = [one for one in EVERYTHING if passes(one, query)] or EVERYTHING
            matching.sort(key=lambda one: in_order(one, order_by), reverse=order_by[0] == "-")
            for depth in depths:
                last_seen = matching[int(depth * (len(matching) - 1))]
                yield {**query, "depth": depth}, of_query.select(21, of_query.cursor_behind(last_seen) if depth else None)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


@pytest.mark.parametrize("many", ["postgresql"], indirect=True)
def test_on_postgresql_any_page_of_any_list_reads_one_row_more_than_it_shows(many: Database) -> None:
    """And walks an index in order: nothing is scanned, sorted, or read to be passed over."""

    def check(connection: Connection) -> None:
        for query, statement in pages((0, 0.9)):
            (plan,) = connection.execute(Explain("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)", statement)).scalar_one()
            found = list(nodes(plan["Plan"]))
            assert {node["Node Type"] for node in found} <= {"Limit", "Nested Loop", "Memoize", "Index Scan", "Index Only Scan"}, query
            for node in found:
                read = node["Actual Rows"] * node["Actual Loops"] + node.get("Rows Removed by Filter", 0)
                assert read <= 21, (query, node)
                assert not node.get("Rows Removed by Index Recheck"), (query, node)

    many.read(check)


@pytest.mark.parametrize("many", ["sqlite"], indirect=True)
def test_on_sqlite_any_page_of_any_list_reads_one_row_more_than_it_shows(many: Database) -> None:
    """All conditions are limits of one range of an index, and a page takes the instructions of its rows alone: 27 to 32 for each."""
    orders = {"created_us": "PRIMARY KEY", "lower_s": "COVERING INDEX ix_analysis_facets_lower_s"}
    steps = itertools.count()

    def check(connection: Connection) -> None:
        driver: Any = connection.connection.dbapi_connection
        for query, statement in pages((0, 0.9)):
            facets_line, analyses_line = (row[3] for row in connection.execute(Explain("EXPLAIN QUERY PLAN", statement)))
            column = "created_us" if query["order_by"].endswith("created_at") else "lower_s"
            assert facets_line.startswith(f"SEARCH analysis_facets USING {orders[column]} (facet=?"), (query, facets_line)
            descends, is_deep = query["order_by"][0] == "-", query["depth"] > 0
            limits = ("created_after" in query or (is_deep and not descends)) + ("created_before" in query or (is_deep and descends))
            assert facets_line.count(" AND ") == limits, (query, facets_line)
            assert analyses_line == "SEARCH analyses USING INDEX sqlite_autoindex_analyses_1 (id=?)", (query, analyses_line)
            before = next(steps)
            driver.set_progress_handler(lambda: next(steps) < 0, 1)
            shown = len(connection.execute(statement).all())
            driver.set_progress_handler(None, 0)
            taken = next(steps) - before
            assert taken <= 50 + 40 * shown, (query, taken)

    many.read(check)
