"""CSV as people and programs write it."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput, MalformedText, OverLimit
from service.tables.limits import LONGEST_ROW
from service.tables.table import Sheet, Table

from .examples import CLEAN, read, tables, written


def columns(text: str | bytes, **reading: str | None) -> dict[str, list[object]]:
    found = read("csv", text.encode() if isinstance(text, str) else text, **reading)
    return {name: list(found.column(name)) for name in found.header}


def refusal(text: str | bytes, **reading: str | None) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as refused:
        columns(text, **reading)
    (fault,) = refused.value.faults
    return fault.pointer, fault.code


def test_cells_are_text_as_written() -> None:
    text = 'op,id,note\r\nmatmul,007," a, ""b""\r\nc"\r\ndot,1e5,\r\n'
    assert columns(text) == {"op": ["matmul", "dot"], "id": ["007", "1e5"], "note": [' a, "b"\r\nc', None]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_ends_of_lines_separators_and_a_mark_are_told(end: str, separator: str, mark: str) -> None:
    text = mark + separator.join(["m", "k"]) + end + separator.join(["1", '"2"']) + end + end
    assert columns(text) == columns(text, separator=separator) == {"m": ["1"], "k": ["2"]}


def test_a_separator_is_said_where_the_header_leaves_a_doubt() -> None:
    text = "Länge, m;k\n1;2\n"
    assert refusal(text) == ("/query/sep", "missing")
    assert columns(text, separator=";") == {"Länge, m": ["1"], "k": ["2"]}
    assert columns('"Länge, m";k\n1;2\n') == {"Länge, m": ["1"], "k": ["2"]}
    assert columns("m\n1\n") == {"m": ["1"]}
    assert refusal("m|k\n1|2,5\n") == ("/rows/0", "malformed-table")
    assert refusal("m\n1\n", separator="|") == ("/query/sep", "out-of-range")


DECIMALS = {
    "commas": ("m;r\n1;0,25\n2;1,500\n", ","),
    "commas beside tabs": ("m\tr\n1\t-12,5e3\n", ","),
    "points": ("m;r\n1;0.25\n", "."),
    "both": ("m;r\n1,5;0.25\n", "."),
    "what may be thousands": ("m;r\n1;1,500\n", "."),
    "what are thousands": ("m;r\n1;1,500,000\n", "."),
    "thousands in one column, commas in another": ("m;r\n1,500;0,25\n", "."),
    "thousands and commas in one": ("m;r\n1;1,500,000\n2;0,25\n", ","),
    "whole numbers": ("m;r\n1;2\n", "."),
    "text with commas": ("m;r\na,b;2\n", "."),
    "commas that separate": ('m,r\n1,"0,25"\n', "."),
}


@pytest.mark.parametrize(("text", "decimal"), DECIMALS.values(), ids=DECIMALS)
def test_decimal_commas_are_seen_where_nothing_speaks_against_them(text: str, decimal: str) -> None:
    assert read("csv", text.encode()).decimal == decimal
    assert read("csv", text.encode(), decimal=",").decimal == ","
    assert refusal(text, decimal="'") == ("/query/decimal", "out-of-range")


REFUSED = {
    "a short row": ("a,b\n1,2\n1\n", "/rows/1", "malformed-table"),
    "a long row": ("a,b\n1,2,3\n", "/rows/0", "malformed-table"),
    "a long row of empty cells": ("a,b\n1,2,\n", "/rows/0", "malformed-table"),
    "a short row after units and an empty line": ("a,b\n[s],\n\n1\n", "/rows/1", "malformed-table"),
    "a name twice": ("a,b,a\n1,2,3\n", "/header/2", "malformed-table"),
    "no name": ("a,,b\n1,2,3\n", "/header/1", "malformed-table"),
    "no name at the end": ("a,b,\n1,2,\n", "/header/2", "malformed-table"),
    "an empty first line": ("\na,b\n", "/header", "malformed-table"),
    "nothing but a mark": ("\ufeff", "/header", "malformed-table"),
    "NUL": ("a,b\n1,x\0y\n", "/rows/0/b", "malformed-table"),
    "NUL in a name": ("a,b\0\n1,2\n", "/header/1", "malformed-table"),
    "an escape": ("a/b,c\n1,2\n\x1b[0m,2\n", "/rows/1/a~1b", "malformed-table"),
    "a quote that does not end": ('a,b\n1,"2\n', "", "malformed-table"),
    "text after a quote": ('a,b\n"1"x,2\n', "", "malformed-table"),
}


@pytest.mark.parametrize(("text", "pointer", "code"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_at_its_place(text: str, pointer: str, code: str) -> None:
    assert refusal(text) == (pointer, code)


@pytest.mark.parametrize("body", [b"a\n\xff\n", "a\n1\n".encode("utf-16"), "ä\n".encode("latin-1"), b"a\n\xed\xa0\x80\n"])
def test_only_utf8_is_read(body: bytes) -> None:
    with pytest.raises(MalformedText) as refused:
        read("csv", body, separator=",")
    assert refused.value.code == "not-utf8"


def test_a_row_has_a_longest_length() -> None:
    name = "n" * 200
    fits = f"{name},b\n1,2\n" + ",".join(["x" * 100, "y" * 100]) + "\n"
    assert columns(fits)["b"] == ["2", "y" * 100]
    line = "a" + "," * LONGEST_ROW
    with pytest.raises(OverLimit) as refused:
        columns(line, separator=",")
    assert refused.value.code == "body-too-large"


def test_empty_rows_count_but_for_those_at_the_end() -> None:
    assert columns("a,b\n1,2\n\n,\n3,\n,\n\n\n") == {"a": ["1", None, None, "3"], "b": ["2", None, None, None]}
    assert columns("a\n1\n\n2\n") == {"a": ["1", None, "2"]}


def test_units_beneath_the_header_are_no_row() -> None:
    found = read("csv", b"op,m,bw\n,[],[B/s]\nmatmul,1,2\n")
    assert (found.units_row, found.rows, found.column("bw")) == ((None, "[]", "[B/s]"), 1, ["2"])
    assert written("csv", found) == b"op,m,bw\r\n,[],[B/s]\r\nmatmul,1,2\r\n"
    for text in ("op,m\nmatmul,[s]\n", "op,m\n,\n", "op,m\n[s],1\n", "op,m\n\n[s],[s]\n", "op,m\n[a[b],\n"):
        assert read("csv", text.encode()).units_row == ()


def test_a_first_row_that_reads_like_units_stays_a_row() -> None:
    table = Table(("a",), (["[s]", "x"],))
    assert list(read("csv", written("csv", table)).columns[0]) == ["[s]", "x"]


def test_units_of_columns_go_into_the_header() -> None:
    sheet = Sheet(Table(("bandwidth", "chip"), ([2e12], ["a"])), units={"bandwidth": "B/s"})
    assert written("csv", sheet) == b"bandwidth [B/s],chip\r\n2000000000000.0,a\r\n"


def test_formulas_are_made_harmless_and_come_back() -> None:
    table = Table(("=name", "n"), (["=1+1", "-5", "+5", "'=x", "@a"], [-5, -0.5, None, True, 1e-7]))
    body = written("csv", table)
    assert body == b"'=name,n\r\n'=1+1,-5\r\n-5,-0.5\r\n'+5,\r\n''=x,true\r\n'@a,1e-07\r\n"
    assert read("csv", body).header == table.header
    assert read("csv", body).columns[0] == table.columns[0]


def test_separator_decimal_mark_and_byte_order_mark_are_chosen() -> None:
    table = Table(("a", "b"), ([0.5, 2], ["x;y", "1.5"]))
    body = written("csv", table, separator=";", decimal=",", has_mark=True)
    assert body == '\ufeffa;b\r\n0,5;"x;y"\r\n2;1.5\r\n'.encode()
    assert read("csv", body, decimal=",").columns == (["0,5", "2"], ["x;y", "1.5"])


def test_text_that_was_a_number_is_written_with_another_mark() -> None:
    read_with_commas = read("csv", b"a;b\n0,25;007\n")
    assert written("csv", read_with_commas) == b"a,b\r\n0.25,007\r\n"
    assert written("json", read_with_commas) == b'[\n{"a":0.25,"b":"007"}\n]\n'


@given(tables(least_rows=1), st.sampled_from([",", ";", "\t"]), st.booleans())
def test_what_is_written_is_csv_to_the_standard_library(table: Table, separator: str, has_mark: bool) -> None:  # noqa: FBT001
    text = written("csv", table, separator=separator, has_mark=has_mark).decode("utf-8-sig" if has_mark else "utf-8")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    assert {len(row) for row in rows} == {len(table.header)}
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for row in rows for cell in row)
    assert list(read("csv", text.encode()).header) == list(table.header)


@given(st.lists(st.lists(st.text(CLEAN, max_size=6), min_size=2, max_size=2), min_size=1, max_size=5))
def test_a_file_of_the_standard_library_reads_as_it_was(rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["a", "b"], ["x", "y"], *rows, ["x", "y"]])
    wanted = [[cell[1:] if cell.startswith("'") and cell.lstrip("'")[:1] in set("=+-@\t\r") else cell for cell in row] for row in rows]
    found = columns(out.getvalue().encode(), separator=",")
    if not any(cell.lstrip("'").startswith("-") for row in rows for cell in row):  # an apostrophe before a number stays
        assert [list(row) for row in zip(found["a"], found["b"], strict=True)][1:-1] == [[cell or None for cell in row] for row in wanted]
