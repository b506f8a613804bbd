"""Tables to begin with: the columns of an op, or of all ops, with a row for each that is answered as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...catalogue import Catalogue
from ...engine.ops import OPS
from ...errors import near, refuse
from ...tables.table import Cell, Sheet, Table
from ..ops import EXAMPLE_CHIP
from . import fields
from .fields import CHIP, KIND, Field, Path


def template(kind: str | None, catalogue: Catalogue) -> Sheet:
    """A table for one kind of op, or for all of them. Raises InvalidInput (unknown-op) at /query/op."""
    if kind is not None and kind not in OPS:
        raise refuse("/query/op", "unknown-op", "There is no op of this kind.", near(kind, OPS))
    kinds = list(OPS) if kind is None else [kind]
    examples = [_example(each) for each in kinds]
    members = [KIND, CHIP, *{field.path: field for each in kinds for field in _members(each)}.values()]
    header = tuple(field.name for field in members)
    columns = tuple([example.get(field.path) for example in examples] for field in members)
    return Sheet(
        Table(header, columns),
        about=[(field.name, field.meaning) for field in members],
        validations={field.name: allowed for field in members if (allowed := _allowed(field, kinds, catalogue))},
    )


def _example(kind: str) -> Mapping[Path, Cell]:
    """The example of an op by member, on the chip that the examples of `/v1/ops` name."""
    return {KIND.path: kind, CHIP.path: EXAMPLE_CHIP, **dict(_flat(("op",), OPS[kind].example))}


def _flat(path: Path, members: Mapping[str, Any]) -> Iterator[tuple[Path, Cell]]:
    for name, value in members.items():
        if isinstance(value, Mapping):
            yield from _flat((*path, name), value)
        else:
            yield (*path, name), value


def _members(kind: str) -> Iterator[Field]:
    """The members of an op; of an equation's sizes, which are any letters, those of the example."""
    shown = _example(kind)
    for path, field in fields.of_kind(kind).items():
        if len(path[-1]) > 1 or path[:-1] != ("op", "dims") or path in shown:
            yield field


def _allowed(field: Field, kinds: Sequence[str], catalogue: Catalogue) -> Sequence[str]:
    """The values that may be chosen in a column, where they are a list."""
    if field is KIND:
        return kinds
    if field is CHIP:
        return [chip.id for chip in catalogue.chips]
    return field.allowed
