"""From a file's model to the document that a reader gets: the same tree, in SI, with the sources written out.

Every stated value becomes a cell: `value` and `unit` in SI, `stated` as the source prints it, `sources` in full, `confidence`
(its own, or the entry's), `note` and `derived` where the file has them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from .entry import Source
from .quantity import Quantity, Sourced

Sources = Mapping[str, Source]


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, str | None], ...]:
    """The fields of a model, each with the name that it declares for documents, if it declares one."""
    return tuple((name, field.serialization_alias) for name, field in model.model_fields.items())


def members(model: BaseModel) -> Iterator[tuple[str, Any]]:
    """The fields of `model` that hold something, in its order, named as in a document: with the SI unit added."""
    for field, declared in _fields(type(model)):
        value = getattr(model, field)
        if value is not None and value not in ((), {}):
            yield declared or field + (value.suffix if isinstance(value, Quantity) else ""), value


def stated_values(value: object, path: str = "") -> Iterator[tuple[str, Sourced]]:
    """Every stated value below `value`, with its dotted path in the document; an item of a list goes by its `name`."""
    if isinstance(value, Sourced):
        yield path, value
        return
    if isinstance(value, BaseModel):
        children: Iterator[tuple[str, object]] = members(value)
    elif isinstance(value, dict):
        children = iter(value.items())
    elif isinstance(value, tuple):
        children = ((getattr(item, "name", str(index)), item) for index, item in enumerate(value))
    else:
        return
    for name, child in children:
        yield from stated_values(child, f"{path}.{name}" if path else name)


def source_lines(keys: tuple[str, ...], sources: Sources) -> list[dict[str, str]]:
    """The works behind `keys`, each with what is known of it."""
    return [
        {
            "key": key,
            "title": sources[key].title,
            "publisher": sources[key].publisher,
            **({"url": url} if (url := sources[key].url) else {}),
            **({"date_read": day.isoformat()} if (day := sources[key].read) else {}),
        }
        for key in keys
    ]


def cell(value: Sourced, sources: Sources, confidence: str) -> dict[str, Any]:
    """One stated value with its provenance; `confidence` is the entry's."""
    return {
        **value.head(),
        "sources": source_lines(value.source, sources),
        "confidence": value.confidence or confidence,
        **({"note": value.note} if value.note else {}),
        **({"derived": value.derived} if value.derived else {}),
    }


def render(value: object, sources: Sources, confidence: str) -> Any:
    """`value` as plain JSON: models and mappings become objects in their order, stated values become cells."""
    if isinstance(value, Sourced):
        return cell(value, sources, confidence)
    if isinstance(value, BaseModel):
        return {name: render(child, sources, confidence) for name, child in members(value)}
    if isinstance(value, dict):
        return {name: render(child, sources, confidence) for name, child in value.items()}
    if isinstance(value, tuple):
        return [render(child, sources, confidence) for child in value]
    return value.isoformat() if isinstance(value, dt.date) else value
