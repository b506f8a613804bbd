"""Asks a running office what a sheet holds: run by the system's Python, which has the office's library, not by ours.

    desktop.py PIPE ADDRESS SHEET OPTIONS

Writes JSON: the values of all cells that are used, numbers as numbers, and which are formulas. Links are followed. An empty
SHEET is the first; OPTIONS say how CSV is to be read, and are empty for other files.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

PATIENCE_S = 45
FULL_UPDATE = 3
FORMULAS = 16  # of the kinds of content that can be asked for


def main(pipe: str, address: str, sheet: str, options: str) -> None:
    book = connected(pipe).loadComponentFromURL(address, "_blank", 0, tuple(opening(options)))
    try:
        cells = used(book.Sheets.getByName(sheet) if sheet else book.Sheets.getByIndex(0))
        formulas = cells.queryContentCells(FORMULAS).RangeAddressesAsString
        found = {"values": cells.getDataArray(), "formulas": formulas, "sheets": book.Sheets.ElementNames}
        sys.stdout.write(json.dumps(found))
    finally:
        book.close(True)


def connected(pipe: str) -> Any:
    """The office's desktop, as soon as it has one."""
    import uno

    context = uno.getComponentContext()
    resolver = context.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", context)
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            there = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
            return there.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", there)
        except uno.getClass("com.sun.star.connection.NoConnectException"):
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def opening(options: str) -> Iterator[Any]:
    """How a file is to be opened."""
    yield named("Hidden", True)
    yield named("UpdateDocMode", FULL_UPDATE)
    if options:
        yield named("FilterName", "Text - txt - csv (StarCalc)")
        yield named("FilterOptions", options)


def named(name: str, value: object) -> Any:
    import uno

    found = uno.createUnoStruct("com.sun.star.beans.PropertyValue")
    found.Name, found.Value = name, value
    return found


def used(sheet: Any) -> Any:
    """The cells from the first to the last that holds something."""
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    end = cursor.RangeAddress
    return sheet.getCellRangeByPosition(0, 0, end.EndColumn, end.EndRow)


if __name__ == "__main__":
    main(*sys.argv[1:])
