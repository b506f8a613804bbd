"""From documents to rows: a member becomes a column by its dotted name, such as `hbm.bandwidth_bytes_per_s`.

An entry of a list is named by what identifies it: `levers.m.speedup`, `axes.gpu.size`. Any other list, and an object whose members
are the caller's own, stays one cell, in JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...tables.limits import LONGEST_TEXT
from ...tables.table import Cell, Table

Row = Mapping[str, Cell]

_IDENTIFYING: Final[Mapping[str, tuple[str, ...]]] = {
    "axes": ("name",),
    "estimate_factors": ("cause",),
    "factors": ("cause",),
    "levers": ("change",),
    "mesh": ("name",),
    "metrics": ("metric",),
    "thresholds": ("path", "variable", "axis"),
}
_WHOLE: Final = frozenset({"labels"})
TOO_LONG: Final = "(more than a cell can hold; the JSON has it)"


def row(document: Mapping[str, Any]) -> Row:
    """The members of `document` by dotted name.

    >>> row({"id": "a", "hbm": {"capacity_bytes": 8}, "axes": [{"name": "x", "size": 4}], "notes": []})
    {'id': 'a', 'hbm.capacity_bytes': 8, 'axes.x.size': 4, 'notes': None}
    """
    return dict(_cells(document, ""))


def _cells(members: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Cell]]:
    for member, value in members.items():
        name = prefix + member
        if isinstance(value, Mapping) and member not in _WHOLE:
            yield from _cells(value, f"{name}.")
        elif isinstance(value, list) and (entries := _named(member, value)) is not None:
            yield from _cells(entries, f"{name}.")
        else:
            yield name, _text(value) if isinstance(value, Mapping | list) else value


def _named(member: str, entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The entries of a list by what identifies each; None where nothing does, or two are alike."""
    keys = _IDENTIFYING.get(member)
    if keys is None:
        return None
    names = [".".join(str(entry[key]) for key in keys if key in entry) for entry in entries]
    rests = [{key: value for key, value in entry.items() if key not in keys} for entry in entries]
    return dict(zip(names, rests, strict=True)) if len(set(names)) == len(names) else None


def _text(value: Any) -> str | None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return None if not value else text if len(text) <= LONGEST_TEXT else TOO_LONG


def table(rows: Sequence[Row], names: Iterable[str] = ()) -> Table:
    """A table of `rows`, with a column for every name that one of them has, or for `names` where they are given.

    Names that share their first steps stand together.
    """
    header = tuple(names) or grouped(name for each in rows for name in each)
    return Table(header, tuple([each.get(name) for each in rows] for name in header))


def grouped(names: Iterable[str]) -> tuple[str, ...]:
    """`names`, each once, those of one object together where the first of them was.

    >>> grouped(["peaks.bf16", "hbm", "peaks.fp8", "hbm"])
    ('peaks.bf16', 'peaks.fp8', 'hbm')
    """
    ranks: dict[tuple[str, ...], int] = {}
    places: dict[str, tuple[int, ...]] = {}
    for name in names:
        steps = tuple(name.split("."))
        places[name] = tuple(ranks.setdefault(steps[:depth], len(ranks)) for depth in range(1, len(steps) + 1))
    return tuple(sorted(places, key=places.__getitem__))
