"""Workbooks: which sheet, which cells, which values, and what is refused at its place."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet

from service.errors import InvalidInput, OverLimit
from service.tables.limits import MOST_INFLATED
from service.tables.table import Cell, Sheet, Table
from service.tables.xlsx.strings import escaped, unescaped

from .examples import TEXTS, read, written
from .workbooks import BOOK, BOOK_RELATIONS, MAIN, OFFICE, SHEET, STRINGS, STYLES, book, packed, parts, relations, texts, workbook

HEAD = texts(1, "op", "m")


def made(*fill: Callable[[Worksheet], None], names: tuple[str, ...] = ("first", "second", "third")) -> bytes:
    """A workbook of openpyxl, one sheet for each function that fills one."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, each in zip(names, fill, strict=False):
        each(book.create_sheet(name))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def rows(*lines: tuple[Any, ...]) -> Callable[[Worksheet], None]:
    def fill(sheet: Worksheet) -> None:
        for line in lines:
            sheet.append(line)

    return fill


def columns(body: bytes, sheet: str | None = None) -> dict[str, list[Cell]]:
    found = read("xlsx", body, sheet=sheet)
    return {name: list(found.column(name)) for name in found.header}


def refusal(body: bytes, sheet: str | None = None) -> tuple[str, str, str]:
    with pytest.raises(InvalidInput) as refused:
        read("xlsx", body, sheet=sheet)
    (fault,) = refused.value.faults
    return fault.pointer, fault.code, fault.detail


def test_a_sheet_of_another_program_is_read() -> None:
    def fill(sheet: Worksheet) -> None:
        rows(
            ("op", "m", "share", "when", "at", "clock", "took", "is", 2026),
            (
                "matmul",
                512,
                0.25,
                dt.date(2026, 1, 31),
                dt.datetime(2026, 1, 31, 12, 30, 1, 500_000),  # noqa: DTZ001 - a workbook knows no zones
                dt.time(6, 30),
                dt.timedelta(hours=30),
                True,
                "x",
            ),
            ("dot", 1.5, 1, None, None, None, None, False, None),
        )(sheet)
        sheet["C2"].number_format = "0%"
        sheet["H9"].font = Font(bold=True)  # a style without a value is no cell
        sheet["A2"].hyperlink = "https://example.org/"

    assert columns(made(fill)) == {
        "op": ["matmul", "dot"],
        "m": [512, 1.5],
        "share": [0.25, 1],
        "when": ["2026-01-31", None],
        "at": ["2026-01-31T12:30:01.500", None],
        "clock": ["06:30:00", None],
        "took": ["30:00:00", None],
        "is": [True, False],
        "2026": ["x", None],
    }


def test_the_table_begins_where_its_header_does() -> None:
    def fill(sheet: Worksheet) -> None:
        sheet["C4"], sheet["D4"], sheet["C5"], sheet["D7"] = "op", "m", "dot", 3

    assert columns(made(fill)) == {"op": ["dot", None, None], "m": [None, None, 3]}


def test_a_row_of_units_beneath_the_header_is_kept_apart() -> None:
    body = made(rows(("op", "m", "bw"), (None, "[]", "[B/s]"), ("dot", 1, 2)))
    found = read("xlsx", body)
    assert (found.units_row, found.rows) == ((None, "[]", "[B/s]"), 1)
    again = openpyxl.load_workbook(io.BytesIO(written("xlsx", found))).worksheets[0]
    assert list(again.values) == [("op", "m", "bw"), (None, "[]", "[B/s]"), ("dot", 1, 2)]


def test_one_sheet_of_several_is_said_or_the_only_one_that_can_be_meant() -> None:
    def hidden(sheet: Worksheet) -> None:
        rows(("z",), (3,))(sheet)
        sheet.sheet_state = "hidden"

    two = made(rows(("x",), (1,)), rows(("y",), (2,)), hidden)
    assert refusal(two)[:2] == ("/query/sheet", "missing")
    assert [columns(two, name) for name in ("first", "second", "third")] == [{"x": [1]}, {"y": [2]}, {"z": [3]}]
    assert refusal(two, "frist")[:2] == ("/query/sheet", "out-of-range")
    assert columns(made(rows(("x",), (1,)), hidden)) == {"x": [1]}
    assert columns(made(rows(("x",), (1,)), rows(("y",)), names=("first", "provenance"))) == {"x": [1]}
    assert refusal(made(rows(("x",)), hidden, names=("provenance", "lists")))[0] == ""


def test_a_chart_sheet_is_no_table() -> None:
    sheets = '<sheets><sheet name="C" sheetId="1" r:id="r9"/><sheet name="S" sheetId="2" r:id="r1"/></sheets>'
    links = relations(("r1", "worksheet", "worksheets/sheet1.xml"), ("r9", "chartsheet", "chartsheets/sheet1.xml"))
    body = workbook(HEAD, {BOOK: book(sheets), BOOK_RELATIONS: links})
    assert read("xlsx", body).header == ("op", "m")
    assert refusal(body, "C")[:2] == ("/query/sheet", "out-of-range")


CELLS: Mapping[str, tuple[str, Cell]] = {
    "a number": ('<c r="A2"><v>512</v></c>', 512),
    "a number with a fraction": ('<c r="A2"><v>0.30000000000000004</v></c>', 0.1 + 0.2),
    "a whole number with an exponent": ('<c r="A2"><v>1.5E3</v></c>', 1500),
    "a number beyond 2^53": ('<c r="A2"><v>1e300</v></c>', 1e300),
    "a stored value of a formula": ('<c r="A2"><f>1+1</f><v>2</v></c>', 2),
    "a stored text of a formula": ('<c r="A2" t="str"><f>"a"</f><v>a_x0041_&amp;</v></c>', "aA&"),
    "a stored empty text": ('<c r="A2" t="str"><f>""</f><v></v></c><c r="B2"><v>1</v></c>', None),
    "a truth value": ('<c r="A2" t="b"><v>1</v></c>', True),
    "a shared text in runs": ('<c r="A2" t="s"><v>1</v></c>', "H100 SXM"),
    "a text of its own": ('<c r="A2" t="inlineStr"><is><t xml:space="preserve"> a\nb </t></is></c>', " a\nb "),
    "a date as text": ('<c r="A2" t="d"><v>2026-01-31</v></c>', "2026-01-31"),
    "a date by its style": ('<c r="A2" s="1"><v>46053</v></c>', "2026-01-31"),
    "a number by its style": ('<c r="A2" s="0"><v>46053</v></c>', 46053),
    "no place": ("<c><v>7</v></c>", 7),
}
SHARED = (
    f'<sst xmlns="{MAIN}"><si><t>a</t></si><si><r><t>H100</t></r><r><t xml:space="preserve"> SXM</t></r><rPh><t>no</t></rPh></si></sst>'
)
STYLED = (
    f'<styleSheet xmlns="{MAIN}"><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
)


@pytest.mark.parametrize(("cell", "value"), CELLS.values(), ids=CELLS)
def test_a_cell_means_what_it_says(cell: str, value: Cell) -> None:
    body = workbook(HEAD + f'<row r="2">{cell}</row>' + texts(3, "end"), {STRINGS: SHARED, STYLES: STYLED})
    (found, _) = columns(body)["op"]
    assert (type(found), found) == (type(value), value)


def test_elements_may_have_a_prefix_and_parts_may_be_named_from_the_root() -> None:
    name = '<x:row><x:c t="inlineStr"><x:is><x:t>m</x:t></x:is></x:c></x:row>'
    value = '<x:row r="2"><x:c r="A2"><x:v>5</x:v></x:c></x:row>'
    sheet = f'<x:worksheet xmlns:x="{MAIN}"><x:sheetData>{name}{value}</x:sheetData></x:worksheet>'
    links = relations(("r1", "worksheet", "/xl/worksheets/sheet1.xml"))
    assert columns(workbook("", {SHEET: sheet, BOOK_RELATIONS: links})) == {"m": [5]}


BAD_CELLS: Mapping[str, tuple[str, str]] = {
    "an error": ('<c r="B2" t="e"><v>#DIV/0!</v></c>', "The cell holds an error."),
    "a formula without a value": (
        '<c r="B2"><f>1+1</f><v/></c>',
        "The formula has no stored value; save the workbook in a spreadsheet program first.",
    ),
    "a shared formula without a value": (
        '<c r="B2"><f t="shared" si="0"/></c>',
        "The formula has no stored value; save the workbook in a spreadsheet program first.",
    ),
    "a text that is not there": ('<c r="B2" t="s"><v>2</v></c>', "The cell refers to a text that the workbook does not hold."),
    "a text before the first": ('<c r="B2" t="s"><v>-1</v></c>', "The cell refers to a text that the workbook does not hold."),
    "an infinite number": ('<c r="B2"><v>1e999</v></c>', "The cell holds a number that is none."),
    "NaN": ('<c r="B2"><v>NaN</v></c>', "The cell holds a number that is none."),
    "digits with lines between": ('<c r="B2"><v>1_000</v></c>', "The cell holds a number that is none."),
    "a date before all dates": ('<c r="B2" s="1"><v>-1</v></c>', "The cell holds a date that no calendar has."),
    "a date after all dates": ('<c r="B2" s="1"><v>1e7</v></c>', "The cell holds a date that no calendar has."),
}


@pytest.mark.parametrize(("cell", "detail"), BAD_CELLS.values(), ids=BAD_CELLS)
def test_a_cell_that_means_nothing_is_refused_at_its_place(cell: str, detail: str) -> None:
    body = workbook(HEAD + f'<row r="2">{cell}</row>', {STRINGS: SHARED, STYLES: STYLED})
    assert refusal(body) == ("/rows/0/m", "malformed-table", detail)


BAD_SHEETS: Mapping[str, tuple[str, str]] = {
    "a cell beyond the names": (HEAD + texts(2, "a", "b", "c"), "/rows/0"),
    "an empty name between names": ('<row r="1"><c r="A1"><v>1</v></c><c r="C1"><v>2</v></c></row>', "/header/1"),
    "a name twice": (texts(1, "m", "m"), "/header/1"),
    "an error in the header": ('<row r="1"><c r="A1" t="e"><v>#N/A</v></c></row>', "/header"),
    "nothing": ("", "/header"),
    "rows out of order": (texts(2, "m") + texts(1, "1"), ""),
    "a row twice": (texts(1, "m") + texts(1, "1"), ""),
    "a row in a row": ('<row r="1"><row r="2"/></row>', ""),
    "cells out of order": ('<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>1</v></c></row>', ""),
    "a cell in a cell": ('<row r="1"><c r="A1"><c r="B1"><v>1</v></c></c></row>', ""),
    "a cell of another row": ('<row r="1"><c r="A2"><v>1</v></c></row>', ""),
    "a cell of a row with a longer number": (HEAD + '<row r="2"><c r="A12"><v>1</v></c></row>', ""),
    "a cell of no row": ('<c r="A1"><v>1</v></c>', ""),
    "a cell of no place": ('<row r="1"><c r="1"><v>1</v></c></row>', ""),
    "a cell in small letters": ('<row r="1"><c r="a1"><v>1</v></c></row>', ""),
    "a value of no cell": ('<row r="1"><v>1</v></row>', ""),
    "a value in a value": ('<row r="1"><c r="A1"><v><v>1</v></v></c></row>', ""),
    "a row that is no number": ('<row r="x"/>', ""),
    "no XML": ("<row", ""),
    "a control character by its number": (texts(1, "a_x0007_"), "/header/0"),
    "half of a pair by its number": (HEAD + texts(2, "a", "_xD83D_"), "/rows/0/m"),
}


@pytest.mark.parametrize(("content", "pointer"), BAD_SHEETS.values(), ids=BAD_SHEETS)
def test_a_sheet_that_is_no_table_is_refused(content: str, pointer: str) -> None:
    assert refusal(workbook(content))[:2] == (pointer, "malformed-table")


def test_merged_cells_are_refused() -> None:
    def fill(sheet: Worksheet) -> None:
        rows(("op", "chip"), ("dot", "a"), ("dot", None))(sheet)
        sheet.merge_cells("B2:B3")

    assert "merged" in refusal(made(fill))[2]


BAD_PARTS: Mapping[str, dict[str, str]] = {
    "no sheet of the name": {BOOK_RELATIONS: relations()},
    "a sheet that is not there": {BOOK_RELATIONS: relations(("r1", "worksheet", "worksheets/sheet7.xml"))},
    "no workbook": {"_rels/.rels": relations()},
    "macros": {"xl/vbaProject.bin": "x"},
    "macro sheets": {"xl/macrosheets/sheet1.xml": "x"},
    "other workbooks": {"xl/externalLinks/externalLink1.xml": "x"},
    "the binary kind": {"xl/workbook.bin": "x"},
    "a part of one name in two cases": {"XL/workbook.xml": "x"},
    "an outward relation": {
        "xl/_rels/x.rels": relations(rest=f'<Relationship Id="x" Type="{OFFICE}/externalLinkPath" Target="x" TargetMode="External"/>')
    },
    "a document type": {STYLES: "<!DOCTYPE x><x/>"},
}


@pytest.mark.parametrize("changed", BAD_PARTS.values(), ids=BAD_PARTS)
def test_a_workbook_that_is_broken_or_leads_elsewhere_is_refused(changed: dict[str, str]) -> None:
    assert refusal(workbook(HEAD, changed))[:2] == ("", "malformed-table")


def test_a_broken_zip_is_refused_wherever_it_is_cut() -> None:
    body = workbook(HEAD)
    for end in range(0, len(body), 7):
        assert refusal(body[:end])[1] == "malformed-table"
    assert refusal(body + b"x")[1] == "malformed-table"
    assert refusal(b"x" + body)[1] == "malformed-table"


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_a_byte_that_changes_is_noticed_or_harmless(at: int, value: int) -> None:
    body = bytearray(workbook(HEAD + texts(2, "dot", "1")))
    body[at % len(body)] = value
    try:
        found = read("xlsx", bytes(body))
    except (InvalidInput, OverLimit):
        return
    assert (found.header, found.columns) == (("op", "m"), (["dot"], ["1"]))


def test_an_encrypted_entry_and_a_compression_of_another_kind_are_refused() -> None:
    body = bytearray(workbook(HEAD))
    directory = body.index(b"PK\x01\x02")
    body[directory + 8] |= 1
    assert "encrypted" in refusal(bytes(body))[2]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as archive:
        for name, content in parts(HEAD).items():
            archive.writestr(name, content)
    assert "unknown way" in refusal(out.getvalue())[2]


def test_parts_inflate_up_to_the_limit_and_no_byte_further() -> None:
    files: dict[str, str | bytes] = {**parts(HEAD)}
    rest = MOST_INFLATED - sum(len(content) for content in files.values())
    assert read("xlsx", packed({**files, "xl/media/a.png": bytes(rest)})).header == ("op", "m")
    with pytest.raises(OverLimit) as refused:
        read("xlsx", packed({**files, "xl/media/a.png": bytes(rest + 1)}))
    assert refused.value.code == "body-too-large"


def test_a_workbook_of_ours_has_lists_to_choose_from_and_says_where_numbers_come_from() -> None:
    table = Table(("op", "chip", "bw"), (["dot"], ["=1+1"], [2.5]), (None, None, "[B/s]"))
    chips = [f"chip-{at}" for at in range(100)]
    body = written("xlsx", Sheet(table, about=[("engine", "0.1.0"), ("note", "=1+1")], validations={"chip": chips, "op": ["dot"]}))
    found = openpyxl.load_workbook(io.BytesIO(body))
    assert [(sheet.title, sheet.sheet_state) for sheet in found.worksheets] == [
        ("table", "visible"),
        ("provenance", "visible"),
        ("lists", "hidden"),
    ]
    main, about, lists = found.worksheets
    assert list(about.values) == [("engine", "0.1.0"), ("note", "=1+1")]
    assert about["B2"].data_type == main["B3"].data_type == "s"
    assert main.freeze_panes == "A3"
    assert main.dimensions == "A1:C3"
    assert {str(each.sqref): each.formula1 for each in main.data_validations.dataValidation} == {
        "B3:B100001": "lists!$A$1:$A$100",
        "A3:A100001": "lists!$B$1:$B$1",
    }
    assert [row[0] for row in lists.values] == chips
    assert read("xlsx", body) == table


@given(TEXTS | st.text(st.sampled_from("_x0041F\r\n<&>]"), max_size=12))
def test_texts_are_escaped_so_that_they_come_back(text: str) -> None:
    assert "\r" not in escaped(text)
    assert unescaped(escaped(text).replace("&#13;", "\r").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")) == text
