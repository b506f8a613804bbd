"""Workbooks made by hand, part by part, so that a test says what a spreadsheet program would never write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

SHEET = "xl/worksheets/sheet1.xml"
STRINGS = "xl/sharedStrings.xml"
STYLES = "xl/styles.xml"
BOOK = "xl/workbook.xml"
BOOK_RELATIONS = "xl/_rels/workbook.xml.rels"


def relations(*entries: tuple[str, str, str], rest: str = "") -> str:
    listed = "".join(f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"/>' for key, kind, target in entries)
    return f'<Relationships xmlns="{RELATIONS}">{listed}{rest}</Relationships>'


def book(content: str) -> str:
    return f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{content}</workbook>'


def sheet(rows: str, rest: str = "") -> str:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>{rest}</worksheet>'


def texts(row: int, *cells: str) -> str:
    """A row of texts from column A on."""
    shown = "".join(f'<c r="{chr(65 + at)}{row}" t="inlineStr"><is><t>{text}</t></is></c>' for at, text in enumerate(cells))
    return f'<row r="{row}">{shown}</row>'


def parts(rows: str, changed: Mapping[str, str] | None = None, *, properties: str = "", rest: str = "") -> dict[str, str]:
    """The parts of a workbook of one sheet, some of them changed or added."""
    return {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
        BOOK: book(properties + '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'),
        BOOK_RELATIONS: relations(
            ("r1", "worksheet", "worksheets/sheet1.xml"), ("r2", "sharedStrings", "sharedStrings.xml"), ("r3", "styles", "styles.xml")
        ),
        STRINGS: f'<sst xmlns="{MAIN}"/>',
        STYLES: f'<styleSheet xmlns="{MAIN}"/>',
        SHEET: sheet(rows, rest),
        **(changed or {}),
    }


def packed(files: Mapping[str, str | bytes], level: int = 1) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def workbook(rows: str, changed: Mapping[str, str] | None = None, *, properties: str = "", rest: str = "") -> bytes:
    return packed(parts(rows, changed, properties=properties, rest=rest))
