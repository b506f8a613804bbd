"""Answers as tables: saved analyses, one of them, and cases beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from ...catalogue import Catalogue
from ...catalogue.chip import Chip
from ...errors import Fault, InvalidInput
from ...storage import Analysis, Headline
from ...tables.table import Flow, Sheet
from .. import history, moments, units
from . import provenance, rows

SUMMARY: Final = (
    *("id", "created_at", "labels", "note", "kind", "chip", "dtype", "bound", "lower_s", "estimate_s"),
    *("engine_version", "question_digest", "target_digest"),
)
"""The columns of a list of analyses, also of an empty one."""


def analyses(shown: Sequence[Headline], catalogue: Catalogue) -> Sheet:
    """A list of saved analyses."""
    table = rows.table([rows.row(history.summary(each)) for each in shown], SUMMARY)
    refs = {f"{each.chip_id}@{each.chip_revision}" for each in shown if each.chip_id is not None}
    return Sheet(table, units.units(SUMMARY), [*provenance.asked_now(catalogue), *provenance.sources(known(refs, catalogue))])


def selection(parts: Iterator[Sequence[Headline]], expected: int, catalogue: Catalogue) -> Sheet:
    """Any number of saved analyses, part after part."""
    columns = (rows.table([rows.row(history.summary(each)) for each in part], SUMMARY).columns for part in parts)
    table = Flow(SUMMARY, (), parts=columns, expected=expected)
    return Sheet(table, units.units(SUMMARY), provenance.asked_now(catalogue))


def analysis(kept: Analysis, catalogue: Catalogue) -> Sheet:
    """A saved analysis with a row for each of its ops, in today's service as it was answered then."""
    answer = orjson.loads(kept.answer)
    table = rows.table([rows.row({"id": kept.id, **each}) for each in _per_op(answer)])
    totals = rows.row({"totals": answer["result"].get("totals", {})})
    about = [
        *provenance.versions(answer["engine_version"], answer["catalogue_digest"]),
        ("asked_at", moments.moment(kept.created_us)),
        *((name, str(value)) for name, value in rows.row({"labels": dict(kept.labels), "note": kept.note}).items() if value is not None),
        *((name, str(value)) for name, value in totals.items() if value is not None),
        *provenance.sources(known(_chips([answer]), catalogue)),
    ]
    return Sheet(table, units.units(table.header), about)


def _per_op(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The answer to each op as if it had been asked alone."""
    beside = {name: value for name, value in answer.items() if name not in {"op", "ops", "result"}}
    if "op" in answer:
        yield {"op": answer["op"], "result": answer["result"], **beside}
        return
    for op, result in zip(answer["ops"], answer["result"]["per_op"], strict=True):
        yield {"op": op, "result": result, **beside}


def comparison(text: bytes, catalogue: Catalogue) -> Sheet:
    """The cases of a comparison, `text` its document; chips that cannot run the case follow with what is wrong."""
    document = orjson.loads(text)
    beside = {name: value for name, value in document.items() if name not in {"cases", "excluded"}}
    shown = [rows.row({**case, **beside}) for case in document["cases"]]
    table = rows.table([*shown, *map(_excluded, document["excluded"])])
    about = [*provenance.asked_now(catalogue), *provenance.sources(known(_chips(document["cases"]), catalogue))]
    return Sheet(table, units.units(table.header), about)


def _excluded(chip: Mapping[str, Any]) -> rows.Row:
    refusal = InvalidInput([Fault(each["pointer"], each["code"], each["detail"]) for each in chip["errors"]])
    return {"target.chip": chip["chip"], "error_code": refusal.code, "error": " ".join(each.detail for each in refusal.faults)}


def _chips(documents: Sequence[Mapping[str, Any]]) -> set[str]:
    """The chips of the catalogue that answers rest on; of a changed one, what it was changed from."""
    targets = [document["target"]["chip"] for document in documents]
    return {ref for chip in targets if (ref := chip if isinstance(chip, str) else chip.get("base")) is not None}


def known(refs: set[str], catalogue: Catalogue) -> list[Chip]:
    """Those of `refs` that the catalogue still has."""
    return [chip for chip in (_find(ref, catalogue) for ref in sorted(refs)) if chip is not None]


def _find(ref: str, catalogue: Catalogue) -> Chip | None:
    try:
        return catalogue.chip(ref, "")
    except InvalidInput:
        return None
