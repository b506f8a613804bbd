"""What we write, opened by LibreOffice: text is text, numbers are numbers, and nothing runs."""

from __future__ import annotations

import math

from service.tables.formats import FORMATS
from service.tables.table import Sheet, Table, Writing

from .office import Office, Opened

TEXTS = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\tnote", "'=1+1", "H100 «ü»", "007", "1e3 m", '=HYPERLINK("http://example.org")', "a\nb", "")
NUMBERS = (0.1, -5, 2**53, 1e-300, 1.7976931348623157e308, 512, 0, 1 / 3, 1e22, -0.25, 989400000000000.0, 3)
SHEET = Sheet(
    Table(("text", "number", "=cmd"), (TEXTS, NUMBERS, [None] * len(TEXTS))),
    units={"number": "B/s"},
    about=[("engine_version", "0.1.0"), ("source", "=1+1")],
)
ENGLISH, GERMAN = "1033", "1031"
UTF8 = "76"


def csv_options(separator: str, language: str) -> str:
    """How the office reads CSV where it does all that it can: finds numbers, and runs formulas."""
    text_mark, from_line, formats, quoted_is_text, finds_numbers = "34", "1", "", "false", "true"
    for_saving = ("true", "false", "false", "-1")
    runs_formulas = "true"
    marks = (str(ord(separator)), text_mark, UTF8, from_line, formats, language)
    return ",".join([*marks, quoted_is_text, finds_numbers, *for_saving, runs_formulas])


def written(name: str, writing: Writing | None = None) -> bytes:
    return b"".join(FORMATS[name].write(SHEET, writing or Writing()))


def check_numbers(opened: Opened) -> None:
    assert all(
        isinstance(shown, float) and math.isclose(shown, number, rel_tol=1e-15)
        for (_, shown, *_), number in zip(opened.values[1:], NUMBERS, strict=True)
    )


def test_a_workbook_holds_texts_and_numbers_and_where_they_come_from(office: Office) -> None:
    content = written("xlsx")
    opened = office.open("table.xlsx", content)
    assert opened.values[0] == ["text", "number [B/s]", "=cmd"]
    assert [row[0] for row in opened.values[1:]] == list(TEXTS)
    check_numbers(opened)
    assert (opened.formulas, opened.sheets) == ("", ["table", "provenance"])
    about = office.open("table.xlsx", content, sheet="provenance")
    assert (about.values, about.formulas) == ([["engine_version", "0.1.0"], ["source", "=1+1"]], "")


def test_csv_holds_numbers_and_texts_that_do_not_run(office: Office) -> None:
    opened = office.open("table.csv", written("csv"), options=csv_options(",", ENGLISH))
    check_numbers(opened)
    assert opened.formulas == ""
    assert [row[0] for row in opened.values[1:]][:6] == ["'=1+1", "'+1+1", "'-1+1", "'@SUM(A1)", "'\tnote", "''=1+1"]
    assert opened.values[0] == ["text", "number [B/s]", "'=cmd"]


def test_csv_with_decimal_commas_is_what_a_german_office_reads(office: Office) -> None:
    content = written("csv", Writing(separator=";", decimal=",", has_mark=True))
    opened = office.open("german.csv", content, options=csv_options(";", GERMAN))
    check_numbers(opened)
    assert (opened.values[0][0], opened.values[7][0], opened.formulas) == ("text", "H100 «ü»", "")


def test_csv_text_that_is_not_made_harmless_does_run_there(office: Office) -> None:
    """So that the tests above would see it."""
    opened = office.open("run.csv", b"a\r\n=1+1\r\n", options=csv_options(",", ENGLISH))
    assert (opened.values, opened.formulas) == ([["a"], [2.0]], "run.A2")
