"""Saved analyses beside each other as a table: a row for each, its numbers beside those of the base."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from ...catalogue import Catalogue
from ...tables.table import Sheet
from .. import units
from . import provenance, rows
from .answers import known


def comparison(text: bytes, catalogue: Catalogue) -> Sheet:
    """The rows of a comparison, `text` its document; beside them what they are held against, and what they rest on."""
    document = orjson.loads(text)
    table = rows.table([rows.row(_row(at, each, document)) for at, each in enumerate(document["rows"])])
    chips = {ref for each in (document["base"], *(row["analysis"] for row in document["rows"])) if (ref := each["chip"]) is not None}
    about = [
        *provenance.asked_now(catalogue),
        ("base", document["base"]["id"]),
        ("base_engine_version", document["base"]["engine_version"]),
        ("permalink", document["permalink"]),
        ("same", ", ".join(document["same"])),
        *provenance.sources(known(chips, catalogue)),
    ]
    return Sheet(table, units.units(table.header), about)


def _row(at: int, row: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row with the base before it; verdicts that moved, warnings and notes as words."""
    warned = [each["detail"] for each in document["warnings"] if each["row"] == at]
    return {
        "base_id": document["base"]["id"],
        **{name: value for name, value in row.items() if name not in {"moves", "notes"}},
        "moves": "; ".join(_said(each) for each in row["moves"]),
        "warnings": " ".join(warned),
        "notes": " ".join(row["notes"]),
    }


def _said(move: Mapping[str, Any]) -> str:
    """A verdict that moved, with the op and the layer that it is of.

    >>> _said({"op": 3, "layer": "hbm", "name": "hbm → compute"}), _said({"layer": "all", "name": "hbm → network"})
    ('op 3 hbm: hbm → compute', 'hbm → network')
    """
    of = [*([f"op {move['op']}"] if "op" in move else []), *([move["layer"]] if move["layer"] != "all" else [])]
    return f"{' '.join(of)}: {move['name']}" if of else str(move["name"])
