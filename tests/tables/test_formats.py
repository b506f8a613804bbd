"""What every format keeps of a table, that they agree, and what a table may have at most."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput, NotAcceptable, OverLimit, ServiceError, UnsupportedType
from service.tables.formats import FORMATS, by_media_type
from service.tables.limits import LONGEST_NAME, LONGEST_TEXT, MOST_BYTES, MOST_CELLS, MOST_COLUMNS, MOST_ROWS, check_size
from service.tables.table import Cell, Sheet, Table

from .examples import KEPT, as_text, exactly, read, tables, written
from .workbooks import texts, workbook


@pytest.mark.parametrize("name", FORMATS)
@given(table=tables(least_rows=1))
def test_a_table_that_is_written_reads_as_it_was(name: str, table: Table) -> None:
    found = read(name, written(name, table))
    assert found.header == table.header
    assert exactly(found.columns) == exactly(KEPT[name](table.columns))
    if name in {"csv", "xlsx"} and table.units_row:
        assert found.units_row == table.units_row


@given(tables(least_rows=1), st.sampled_from(sorted(FORMATS)), st.sampled_from(sorted(FORMATS)))
def test_a_table_goes_from_format_to_format_and_keeps_its_values(table: Table, first: str, second: str) -> None:
    """But for a value that the other format cannot tell from another: text and a number that it is the only writing of."""
    once = read(first, written(first, table))
    again = read(second, written(second, once))
    wanted = KEPT[second](KEPT[first](table.columns))
    assert [[as_text(cell) for cell in column] for column in again.columns] == [[as_text(cell) for cell in column] for column in wanted]


@pytest.mark.parametrize("name", ["csv", "xlsx", "columns", "arrow"])
def test_a_table_without_rows_keeps_its_header(name: str) -> None:
    assert read(name, written(name, Table(("op", "m"), ([], [])))) == Table(("op", "m"), ([], []), decimal="." if name == "csv" else None)


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_is_written_alike_each_time_and_in_pieces(name: str) -> None:
    table = Table(("m", "chip"), (list(range(20_000)), [f"chip-{at % 7}" for at in range(20_000)]))
    pieces = list(FORMATS[name].write(Sheet(table)))
    assert b"".join(pieces) == written(name, table)
    assert len(pieces) >= (2 if name == "columns" else 5)
    assert read(name, b"".join(pieces)).rows == 20_000


@given(tables(least_rows=2), st.sampled_from(sorted(FORMATS)), st.data())
def test_a_table_cut_in_two_gives_the_same_rows(table: Table, name: str, data: st.DataObject) -> None:
    """Each row stands for itself; only Arrow's type of a column, and rows that are empty at the end, depend on the others."""
    at = data.draw(st.integers(1, table.rows - 1))
    parts = [Table(table.header, tuple(column[rows] for column in table.columns)) for rows in (slice(at), slice(at, None))]
    rows: list[tuple[Cell, ...]] = []
    for part in parts:
        found = read(name, written(name, part))
        rows += [tuple(map(as_text, row)) for row in zip(*found.columns, strict=True)] + [(None,) * len(table.header)] * (
            part.rows - found.rows
        )
    whole = KEPT[name](table.columns)
    texts = [tuple(map(as_text, row)) for row in zip(*whole, strict=True)]
    if name != "arrow":
        assert rows == texts + [(None,) * len(table.header)] * (table.rows - len(texts))
    assert len(rows) == table.rows


@pytest.mark.parametrize("name", FORMATS)
def test_a_number_that_is_not_finite_is_never_written(name: str) -> None:
    with pytest.raises(ServiceError, match="not finite"):
        written(name, Table(("m",), ([1.0, float("inf")],)))


def test_media_types_name_their_format() -> None:
    for each in FORMATS.values():
        for media_type in each.media_types:
            found = by_media_type(media_type.upper() + "; charset=utf-8")
            assert found is not None
            assert found.name in {each.name, "json"}
    assert by_media_type("text/plain") is None
    assert len({each.suffix for each in FORMATS.values()}) == len(FORMATS) - 1  # JSON in rows and in columns


@pytest.mark.parametrize("name", FORMATS)
def test_the_names_of_columns_are_checked(name: str) -> None:
    assert read(name, written(name, Table(("n" * LONGEST_NAME,), ([1],)))).rows == 1
    with pytest.raises(InvalidInput) as refused:
        read(name, written(name, Table(("m", "n" * (LONGEST_NAME + 1)), ([1], [1]))))
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/header/1", "out-of-range")]


@pytest.mark.parametrize("name", FORMATS)
def test_text_is_as_long_as_a_spreadsheet_holds(name: str) -> None:
    assert read(name, written(name, Table(("m",), (["x" * LONGEST_TEXT],)))).rows == 1
    with pytest.raises(InvalidInput) as refused:
        read(name, written(name, Table(("m",), (["x", "x" * (LONGEST_TEXT + 1)],))))
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/rows/1/m", "out-of-range")]


def wide(columns: int, rows: int = 1) -> Table:
    return Table(tuple(f"c{at}" for at in range(columns)), tuple([1] * rows for _ in range(columns)))


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_has_columns_up_to_the_limit(name: str) -> None:
    assert read(name, written(name, wide(MOST_COLUMNS))).header == wide(MOST_COLUMNS).header
    with pytest.raises(OverLimit, match=f"at most {MOST_COLUMNS} columns"):
        read(name, written(name, wide(MOST_COLUMNS + 1)))


def of_rows(name: str, rows: int) -> bytes:
    """A table of so many rows, most of them empty where the format may leave them out."""
    if name == "xlsx":
        return workbook(texts(1, "m") + texts(2, "x") + texts(rows + 1, "y"))
    if name == "csv":
        return b"m\nx" + b"\n" * (rows - 1) + b"y\n\n\n"
    return written(name, wide(1, rows))


@pytest.mark.parametrize("name", ["csv", "xlsx", "ndjson", "columns", "arrow"])
def test_a_table_has_rows_up_to_the_limit(name: str) -> None:
    assert read(name, of_rows(name, MOST_ROWS)).rows == MOST_ROWS
    with pytest.raises(OverLimit, match=f"at most {MOST_ROWS} rows"):
        read(name, of_rows(name, MOST_ROWS + 1))


def test_the_cells_of_all_columns_are_counted_together() -> None:
    rows = MOST_CELLS // MOST_COLUMNS
    check_size(rows, MOST_COLUMNS)
    with pytest.raises(OverLimit, match=f"make that {rows} rows"):
        check_size(rows + 1, MOST_COLUMNS)
    with pytest.raises(OverLimit, match=f"make that {rows} rows"):
        read("arrow", written("arrow", Table(wide(MOST_COLUMNS).header, tuple([None] * (rows + 1) for _ in range(MOST_COLUMNS)))))


def test_a_row_of_units_is_none_of_the_rows() -> None:
    body = of_rows("csv", MOST_ROWS).replace(b"m\n", b"m\n[s]\n")
    assert (read("csv", body).rows, read("csv", body).units_row) == (MOST_ROWS, ("[s]",))


@pytest.mark.parametrize("name", FORMATS)
def test_a_body_that_is_too_large_is_not_looked_at(name: str) -> None:
    with pytest.raises(OverLimit) as refused:
        read(name, bytes(MOST_BYTES + 1))
    assert refused.value.code == "body-too-large"


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_no_table(name: str) -> None:
    with pytest.raises(ServiceError) as refused:
        read(name, b"")
    assert refused.value.code in {"malformed-table", "malformed-json"}


def test_without_the_extra_arrow_is_refused_and_the_rest_works(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyarrow", "pyarrow.ipc"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnsupportedType, match="the extra `arrow`"):
        read("arrow", b"x")
    with pytest.raises(NotAcceptable, match="the extra `arrow`"):
        written("arrow", wide(1))
    assert read("csv", written("csv", wide(1))).rows == 1
