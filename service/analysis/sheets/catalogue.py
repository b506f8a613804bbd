"""Chips and systems as tables: a list with a row for each, and one of them with a row for each of its values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...catalogue import Catalogue
from ...catalogue.chip import Chip
from ...catalogue.cluster import Cluster
from ...catalogue.record import Record
from ...engine import ENGINE_VERSION
from ...tables.table import Cell, Sheet
from .. import units
from . import provenance, rows


def chips(shown: Sequence[Chip], catalogue: Catalogue) -> Sheet:
    """A list of chips. Every part of it has the same columns: those of all chips of the catalogue."""
    return _listed(shown, catalogue.chips, catalogue)


def clusters(shown: Sequence[Cluster], catalogue: Catalogue) -> Sheet:
    """A list of systems, as `chips`."""
    return _listed(shown, catalogue.clusters, catalogue)


def _listed(shown: Sequence[Chip | Cluster], known: Sequence[Chip | Cluster], catalogue: Catalogue) -> Sheet:
    fullest_first = sorted((rows.row(each.summary()) for each in known), key=len, reverse=True)
    header = rows.grouped(name for each in fullest_first for name in each)
    table = rows.table([rows.row(each.summary()) for each in shown], header)
    return Sheet(table, units.units(header), [*provenance.asked_now(catalogue), *provenance.sources(shown)])


def entry(record: Record[Any], catalogue: Catalogue) -> Sheet:
    """Every value that an entry states, with its unit, its sources and how far it is believed.

    Nothing here tells the time: the same entry is the same table, so that its tag holds.
    """
    about = [
        *provenance.versions(ENGINE_VERSION, catalogue.digest),
        ("ref", record.ref),
        ("name", record.name),
        ("digest", record.digest),
        ("reason", record.reason),
        *provenance.sources([record]),
    ]
    return Sheet(rows.table([_value(record.ref, path, cell) for path, cell in record.values()], HEADER), about=about)


HEADER = ("ref", "path", "value", "unit", "stated", "stated_unit", "confidence", "sources", "note", "derived")


def _value(ref: str, path: str, cell: dict[str, Any]) -> rows.Row:
    value: Cell = json.dumps(cell["value"]) if isinstance(cell["value"], list) else cell["value"]
    stated = cell.get("stated", {})
    return {
        "ref": ref,
        "path": path,
        "value": value,
        "unit": cell.get("unit"),
        "stated": stated.get("value"),
        "stated_unit": stated.get("unit"),
        "confidence": cell["confidence"],
        "sources": "; ".join(provenance.described(line) for line in cell["sources"]),
        "note": cell.get("note"),
        "derived": cell.get("derived"),
    }
