"""The copy of an entry with changes, before it is read as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Table = Mapping[str, Any]


def merged(base: Table, changes: Table) -> dict[str, Any]:
    """`base` with `changes`: sections member by member, null takes a member away, everything else is replaced.

    A value with its unit is replaced whole, because its source and its note speak of that number alone. A null where there is nothing to
    take away stays, so that the reader of the whole refuses it under a name that it does not know.
    """
    result = dict(base)
    for name, change in changes.items():
        if change is None and name in result:
            del result[name]
        elif _is_section(change):
            before = result.get(name, {})
            result[name] = merged(before if _is_section(before) else {}, change)
        else:
            result[name] = change
    return result


def _is_section(value: object) -> bool:
    return isinstance(value, Mapping) and "value" not in value
