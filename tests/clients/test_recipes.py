"""The formulas of `docs/spreadsheets.md`, typed into a sheet and recalculated by LibreOffice against the service."""

from __future__ import annotations

import io
import re

import xlsxwriter

from ..docs.pages import SPREADSHEETS, blocks
from .office import Office, Opened

ADDRESS = "http://127.0.0.1:8000"
GOOGLES = "https://roofline.example.org"
FIRST = 2  # the row for which the page writes its formulas
FAILED = None  # what the office gives for the value of a formula that has none


def page() -> str:
    return SPREADSHEETS.read_text(encoding="utf-8")


def formula(place: str, port: int) -> str:
    """The formula that the page has for a place, asking a service on `port`."""
    (found,) = (each.text.strip() for each in blocks(page()) if (each.language, each.words) == ("formula", place))
    return found.replace(ADDRESS, f"http://127.0.0.1:{port}").replace(GOOGLES, f"http://127.0.0.1:{port}")


def drawn() -> list[list[str]]:
    """The cells of the sheet that the page draws, without their numbers and letters."""
    lines = [line.strip("| ").split(" | ") for line in page().splitlines() if re.match(r"\| \d+ \| ", line)]
    return [cells[1:] for cells in lines]


def for_row(written: str, row: int) -> str:
    """A formula copied down to a row, its younger functions spelt as a workbook has them."""
    copied = re.sub(rf"(?<=[&(])([A-F]){FIRST}(?=[&)])", rf"\g<1>{row}", written)
    return re.sub(r"\b(ENCODEURL|NUMBERVALUE|TEXTJOIN|WEBSERVICE)\(", r"_xlfn.\1(", copied)


def calculated(office: Office, formulas: dict[int, str]) -> Opened:
    """The sheet of the page, with formulas in some columns."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheet = book.add_worksheet()
    for row, cells in enumerate(drawn(), start=1):
        for column, text in enumerate(cells[:6]):
            sheet.write(row - 1, column, int(text) if text.isdigit() else text)
        for column, written in formulas.items() if row >= FIRST else ():
            sheet.write_formula(row - 1, column, for_row(written, row))
    book.close()
    return office.open("cells.xlsx", file.getvalue())


def test_webservice_and_numbervalue_recalculate_as_the_page_shows(office: Office, port: int) -> None:
    opened, shown = calculated(office, {6: formula("G2", port), 7: formula("H2", port)}), drawn()
    assert [row[7] for row in opened.values[1:]] == [row[7] for row in shown[1:]]
    assert [row[6] for row in opened.values[1:]] == [float(shown[1][6]), float(shown[2][6]), FAILED]
    assert (shown[3][6], opened.formulas) == ("#VALUE!", "Sheet1.G2:H4")


def test_a_column_in_one_call_has_the_values_of_the_cells(office: Office, port: int) -> None:
    """`IMPORTDATA` spreads the text that it gets over cells; `WEBSERVICE` shows the same text in one."""
    asked = formula("G2:H4", port).replace("IMPORTDATA", "WEBSERVICE")
    text, shown = calculated(office, {6: asked}).values[1][6], drawn()
    assert isinstance(text, str)
    lines = text.split()
    assert lines[:2] == [f"{time},{bound}" for *_, time, bound in shown[1:3]]
    assert " ".join(lines[2:]) == f"{shown[3][7]},{shown[3][7]}"
