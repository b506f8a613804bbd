"""Where the numbers of a table come from, for the sheet beside it: versions, digests, sources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import __version__
from ...catalogue import Catalogue
from ...catalogue.record import Record
from ...engine import ENGINE_VERSION
from ..moments import moment, now_us

Pairs = list[tuple[str, str]]


def asked_now(catalogue: Catalogue) -> Pairs:
    """What an answer rests on that is made at this moment."""
    return [*versions(ENGINE_VERSION, catalogue.digest), ("asked_at", moment(now_us()))]


def versions(engine_version: str, catalogue_digest: str) -> Pairs:
    return [("service_version", __version__), ("engine_version", engine_version), ("catalogue_digest", catalogue_digest)]


def sources(records: Iterable[Record[Any]]) -> Pairs:
    """The works that the values of `records` rest on, each once."""
    lines = {line["key"]: line for record in records for line in record.works}
    return [("source", described(line)) for line in lines.values()]


def described(line: dict[str, str]) -> str:
    """A work in one line.

    >>> described({"key": "x", "title": "A datasheet", "publisher": "Its maker", "date_read": "2026-01-31"})
    'A datasheet. Its maker, read 2026-01-31'
    """
    read = f"read {line['date_read']}" if "date_read" in line else ""
    return f"{line['title']}. " + ", ".join(part for part in (line["publisher"], line.get("url"), read) if part)
