"""Tables as TOML, in the form of the files that the catalogue ships: a value on a line, sections below what belongs to no section."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Table = Mapping[str, Any]


def written(table: Table) -> str:
    """`table`, as `plain` gives it, as a TOML document."""
    return "\n".join(_lines(table, ())).lstrip("\n") + "\n"


def _lines(table: Table, path: tuple[str, ...]) -> Iterator[str]:
    here = {name: value for name, value in table.items() if not _is_section(value)}
    width = max(map(len, here), default=0)
    for name, value in here.items():
        yield f"{name:<{width}} = {_value(value)}"
    for name, value in table.items():
        if not _is_section(value):
            continue
        below = (*path, name)
        if isinstance(value, list):
            for item in value:
                yield from ("", f"[[{'.'.join(below)}]]")
                yield from _lines(item, below)
        else:
            if not all(map(_is_section, value.values())):
                yield from ("", f"[{'.'.join(below)}]")
            yield from _lines(value, below)


def _is_section(value: object) -> bool:
    """Whether `value` is a table of its own, or several of them, and not a stated value on a line."""
    if isinstance(value, list):
        return any(isinstance(item, Mapping) for item in value)
    return isinstance(value, Mapping) and "value" not in value


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
