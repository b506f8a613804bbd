"""The kinds of entries that users add, and the text in which one is stored: complete in itself, with the works that it cites."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from .chip import Chip
from .chip_file import ChipFile
from .cluster import Cluster
from .cluster_file import ClusterFile
from .entry import Source
from .lint import Finding, lint, lint_cluster
from .plain import plain
from .quantity import UNORDERED
from .record import Own, Record

OwnRecord = Chip | Cluster


@dataclass(frozen=True)
class Kind:
    """One kind of entry: its noun, the model of its file, the record, and the rules that it is judged by."""

    noun: Literal["chip", "cluster"]
    file: type[ChipFile | ClusterFile]
    record: Callable[..., OwnRecord]
    lint: Callable[[Any], list[Finding]]


CHIP = Kind("chip", ChipFile, Chip, lint)
CLUSTER = Kind("cluster", ClusterFile, Cluster, lint_cluster)
KINDS: dict[str, Kind] = {kind.noun: kind for kind in (CHIP, CLUSTER)}


def stored(record: Record[Any]) -> str:
    """The text of an entry."""
    assert record.own is not None
    sources = {key: plain(source) for key, source in record.sources.items()}
    return json.dumps({"entry": plain(record.file), "sources": sources, "own": asdict(record.own)}, ensure_ascii=False)


def read(kind: Kind, text: str) -> OwnRecord:
    """The entry that `stored` wrote. Raises ValueError for a text that this version cannot read."""
    document = json.loads(text)
    try:
        sources = {key: Source.model_validate(source) for key, source in document["sources"].items()}
        return kind.record(kind.file.model_validate(document["entry"], context=UNORDERED), sources, Own(**document["own"]))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("The text has another form.") from error


def exported(record: Record[Any]) -> dict[str, Any]:
    """The entry as the tables of a file that can be sent again: what is assigned when it is kept is left out."""
    table = {name: value for name, value in plain(record.file).items() if name not in ("revision", "date")}
    cited = {work["key"] for work in record.works}
    sources = {key: plain(source) for key, source in record.sources.items() if key in cited}
    override = {} if record.own is None or record.own.override is None else {"override": record.own.override}
    return {**override, **table, "sources": sources}
