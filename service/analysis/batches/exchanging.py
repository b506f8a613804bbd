"""A table as bytes becomes its answer as bytes. HTTP and the command line both answer tables through this function."""

from __future__ import annotations

from dataclasses import dataclass

from ...catalogue import Catalogue
from ...errors import refuse
from ...tables import csv
from ...tables.formats import FORMATS, Format
from ...tables.table import Table, Writing
from .answering import Choices, answer
from .evaluation import Progress, unwatched

MARK = b"\xef\xbb\xbf"
"""The byte order mark, by which some programs know UTF-8."""


@dataclass(frozen=True)
class Exchange:
    """In which format a table comes, in which its answer goes, and how it is to be answered."""

    source: Format
    target: Format
    choices: Choices

    def check(self) -> None:
        """Nothing, if all that was said of a format applies to one of the two. Raises InvalidInput."""
        said = self.choices.reading
        if said.sheet is not None and self.source is not FORMATS["xlsx"]:
            raise refuse("/query/sheet", "invalid-request", "Only a workbook has sheets.")
        for name, mark in (("sep", said.separator), ("decimal", said.decimal)):
            if mark is not None and FORMATS["csv"] not in {self.source, self.target}:
                raise refuse(f"/query/{name}", "invalid-request", "Only CSV has marks to choose.")


@dataclass(frozen=True)
class Exchanged:
    """An answered table, and how many rows it has."""

    body: bytes
    rows: int


def exchanged(body: bytes, exchange: Exchange, catalogue: Catalogue, progress: Progress = unwatched) -> Exchanged:
    """The answer to a table.

    Raises InvalidInput, MalformedText, OverLimit: what the reader refuses, and what `answer` does.
    """
    exchange.check()
    table = exchange.source.read(body, exchange.choices.reading)
    sheet = answer(table, exchange.choices, catalogue, progress)
    return Exchanged(b"".join(exchange.target.write(sheet, _writing(body, exchange, table))), table.rows)


def _writing(body: bytes, exchange: Exchange, table: Table) -> Writing:
    """CSV goes out as it came in. From another format it has the marks that were asked for."""
    said = exchange.choices.reading
    if exchange.source is FORMATS["csv"]:
        return Writing(csv.separator_of(body, said.separator), table.decimal or ".", body.startswith(MARK))
    decimal = said.decimal or "."
    return Writing(said.separator or ("," if decimal == "." else ";"), decimal)
