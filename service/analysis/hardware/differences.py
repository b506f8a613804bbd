"""What a revision changed: every value and every word of the document that is not as it was in the revision before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...catalogue.own import OwnRecord

Document = Mapping[str, Any]

OF_THE_REVISION = frozenset({"id", "ref", "digest", "revision", "date", "reason", "base"})
DERIVED = frozenset({"ridge_flops_per_byte", "numbers"})
CELL = ("value", "unit", "stated", "confidence", "note", "derived")


def revisions(shown: Sequence[OwnRecord], known: Sequence[OwnRecord]) -> list[dict[str, Any]]:
    """Those `shown` of the revisions `known` of an entry, oldest first, each with its reason, its day and its `changes`.

    They are from the revision before; null for the first.
    """
    before = {later.revision: earlier for earlier, later in pairwise(known)}
    return [_revision(record, before.get(record.revision)) for record in shown]


def _revision(record: OwnRecord, earlier: OwnRecord | None) -> dict[str, Any]:
    day = record.file.date
    return {
        **record.summary(),
        "revision": record.revision,
        "reason": record.reason,
        "date": None if day is None else day.isoformat(),
        "changes": None if earlier is None else changes(earlier, record),
    }


def changes(earlier: OwnRecord, later: OwnRecord) -> list[dict[str, Any]]:
    """What is different in `later`: `field`, the dotted path in the document, with `before` and `after`; null where it is absent."""
    old, new = dict(_leaves(earlier.document())), dict(_leaves(later.document()))
    fields = dict.fromkeys((*old, *new))
    return [{"field": field, "before": old.get(field), "after": new.get(field)} for field in fields if old.get(field) != new.get(field)]


def _leaves(document: Document) -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if name not in OF_THE_REVISION | DERIVED:
            yield from _below(value, name)


def _below(value: object, path: str) -> Iterator[tuple[str, Any]]:
    """Cells whole, with the keys of their sources; other members one by one; an item of a list by its name or its place."""
    if isinstance(value, Mapping) and "sources" in value and "value" in value:
        yield path, {**{name: value[name] for name in CELL if name in value}, "sources": [work["key"] for work in value["sources"]]}
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _below(each, f"{path}.{name}")
    elif isinstance(value, list):
        for at, each in enumerate(value):
            named = each.get("name", at) if isinstance(each, Mapping) else at
            yield from _below(each, f"{path}.{named}")
    else:
        yield path, value
