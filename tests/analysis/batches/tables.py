"""Tables as a caller writes them, and what a question answered by itself says under the names of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from service.analysis.batches.answering import Choices, answer
from service.catalogue import Catalogue
from service.tables.table import Cell, Table

Row = Mapping[str, Cell]
H100 = "nvidia-h100-sxm"
MATMUL: Row = {"op": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16", "chip": H100}


def table(rows: Sequence[Row], *, as_text: bool = False) -> Table:
    """The rows under all of their names; `as_text` as CSV has them."""
    header = tuple(dict.fromkeys(name for row in rows for name in row))
    columns = tuple([_text(row.get(name)) if as_text else row.get(name) for row in rows] for name in header)
    return Table(header, columns, decimal="." if as_text else None)


def _text(cell: Cell) -> Cell:
    return None if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


def rows_of(answered: Table) -> list[dict[str, Cell]]:
    return [dict(zip(answered.header, cells, strict=True)) for cells in zip(*answered.columns, strict=True)]


def answered(catalogue: Catalogue, *rows: Row, **choices: Any) -> list[dict[str, Cell]]:
    """The rows with their answers."""
    return rows_of(answer(table(rows), Choices(**choices), catalogue).table)


def error(row: Mapping[str, Cell]) -> tuple[Cell, Cell]:
    return row["error_code"], row["error"]


def flat(members: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Members of an op as the cells of a row."""
    for name, value in members.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, "x".join(map(str, value)) if isinstance(value, list) else value


def named(result: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a result by the names of columns, lists by the members that identify their entries."""
    plain = {name: value for name, value in result.items() if name not in {"thresholds", "levers", "notes", "assumed"}}
    found = dict(flat(plain))
    for entry in result["thresholds"]:
        for member in ("exact", "approximate"):
            found[f"thresholds.{entry['path']}.{entry['variable']}.{member}"] = entry[member]
    for entry in result["levers"]:
        for member in set(entry) - {"change"}:
            found[f"levers.{entry['change']}.{member}"] = entry[member]
    absent = {"layers.tile", "layers.network.collectives", "layers.network.alternatives"}  # what has no tiles; one chip exchanges nothing
    return {name: value for name, value in found.items() if name not in absent}
