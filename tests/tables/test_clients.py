"""What other programs make of our tables, and we of theirs: pandas, polars, openpyxl and calamine."""

from __future__ import annotations

import io
from typing import Any, Final

import openpyxl
import pandas as pd
import polars as pl
import pytest
import python_calamine
from hypothesis import given, settings

from service.tables.table import Table

from .examples import in_xlsx, read, tables, written

TABLE: Final = Table(
    ("op", "m", "time_s", "note", "fits"),
    (["matmul", "dot", "rms_norm"], [512, 1, None], [2.431e-4, 1e-07, 0.1 + 0.2], ["=1+1", None, 'a, "b"; c\nd'], [True, False, None]),
)
ROWS: Final = list(zip(*TABLE.columns, strict=True))


def test_pandas_reads_what_we_write() -> None:
    frames = {
        "xlsx": pd.read_excel(io.BytesIO(written("xlsx", TABLE)), engine="openpyxl"),
        "xlsx by calamine": pd.read_excel(io.BytesIO(written("xlsx", TABLE)), engine="calamine"),
        "ndjson": pd.read_json(io.BytesIO(written("ndjson", TABLE)), lines=True, precise_float=True),
        "json": pd.read_json(io.BytesIO(written("json", TABLE)), precise_float=True),
        "columns": pd.DataFrame(pd.io.json.ujson_loads(written("columns", TABLE).decode(), precise_float=True)),
    }
    for name, frame in frames.items():
        assert list(frame.columns) == list(TABLE.header), name
        found = [tuple(None if pd.isna(cell) else cell for cell in row) for row in frame.itertuples(index=False)]
        assert found == ROWS, name
    csv = pd.read_csv(io.BytesIO(written("csv", TABLE)))
    assert csv["time_s"].tolist() == TABLE.columns[2]
    assert csv["note"].tolist()[0] == "'=1+1"


def test_polars_reads_what_we_write() -> None:
    frames: dict[str, Any] = {
        "arrow": pl.read_ipc_stream(io.BytesIO(written("arrow", TABLE))),
        "ndjson": pl.read_ndjson(io.BytesIO(written("ndjson", TABLE))),
        "json": pl.read_json(io.BytesIO(written("json", TABLE))),
    }
    for name, frame in frames.items():
        assert frame.columns == list(TABLE.header), name
        assert frame.rows() == ROWS, name
    csv = pl.read_csv(io.BytesIO(written("csv", TABLE)))
    assert csv["time_s"].to_list() == TABLE.columns[2]
    assert csv["fits"].to_list() == TABLE.columns[4]


def test_we_read_what_pandas_and_polars_write() -> None:
    frame = pl.DataFrame(ROWS, schema=list(TABLE.header), orient="row")
    for write in (frame.write_ipc, frame.write_ipc_stream):
        for compression in ("uncompressed", "lz4", "zstd"):
            out = io.BytesIO()
            write(out, compression=compression)
            assert read("arrow", out.getvalue()) == TABLE
    assert read("ndjson", frame.write_ndjson().encode()) == TABLE
    assert read("json", frame.write_json().encode()) == TABLE
    pandas = pd.DataFrame(ROWS, columns=list(TABLE.header))
    feather, workbook = io.BytesIO(), io.BytesIO()
    pandas.to_feather(feather)
    pandas.drop(columns="note").to_excel(workbook, index=False)
    assert read("arrow", feather.getvalue()) == TABLE
    found = read("xlsx", workbook.getvalue())
    rounded = [float(f"{cell:.16g}") for cell in (2.431e-4, 1e-07, 0.1 + 0.2)]  # as both engines of pandas do
    assert (found.header, found.columns) == (("op", "m", "time_s", "fits"), (*TABLE.columns[:2], rounded, TABLE.columns[4]))
    assert read("json", pandas.to_json(orient="records").encode()).column("m") == [512, 1, None]
    assert read("csv", pandas.to_csv(index=False).encode()).column("op") == TABLE.columns[0]


@settings(max_examples=40)
@given(tables(least_rows=1))
def test_openpyxl_and_calamine_read_the_cells_of_our_workbooks(table: Table) -> None:
    """But for texts that are written escaped, which openpyxl shows as they are written."""
    body = written("xlsx", table)
    skipped = 1 + bool(read("xlsx", body).units_row)
    wanted = [list(row) for row in zip(*in_xlsx(table.columns), strict=True)]
    calamine = python_calamine.CalamineWorkbook.from_object(io.BytesIO(body)).get_sheet_by_index(0).to_python(skip_empty_area=False)
    assert [[None if cell == "" else cell for cell in row] for row in calamine[skipped:]] == wanted
    sheet = openpyxl.load_workbook(io.BytesIO(body)).worksheets[0]
    if not any(isinstance(cell, str) and "_x" in cell for row in wanted for cell in row):
        found = [list(row) for row in sheet.iter_rows(min_row=skipped + 1, max_col=len(table.header), values_only=True)]
        assert found[: len(wanted)] == wanted
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n", "b", "inlineStr"}


@pytest.mark.parametrize("rows", [1, 5000])
def test_another_reader_finds_the_rows_where_the_sheet_says_they_are(rows: int) -> None:
    body = written("xlsx", Table(("m", "k"), (list(range(rows)), [0.5] * rows)))
    sheet = openpyxl.load_workbook(io.BytesIO(body), read_only=True).worksheets[0]
    assert sheet.calculate_dimension() == f"A1:B{rows + 1}"
    assert sum(1 for _ in sheet.rows) == rows + 1
