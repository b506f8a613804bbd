"""From an op of a question to a term, and back to the op as understood, every default filled."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engine.arrays import column
from ..engine.dtypes import ALIASES
from ..engine.formats import Scale
from ..engine.kinds import KINDS
from ..engine.levers import variants
from ..engine.term import Term
from ..errors import Fault, InvalidInput, OverLimit
from ..schemas.limits import MAX_ROWS
from ..schemas.terms import OpModel, ScaleModel
from .cells import Cells

FORMATS = ("dtype", "quantized_from")
"""Endings of members that hold a format, which may have been given by an alias."""


@dataclass(frozen=True)
class Asked:
    """An op of a question: the term with its defaults filled, and what the caller said of it."""

    term: Term
    model: OpModel
    pointer: str
    """where the op stands in the question"""
    columns: int | None
    """rows that its lists have; None where every member is one number"""

    @property
    def is_class_asked(self) -> bool:
        return "compute_dtype" in self.model.model_fields_set and getattr(self.model, "compute_dtype", None) is not None

    @property
    def choices(self) -> Hashable:
        """What ops must share to be rows of one engine call: kind, formats, scales, which columns and which levers they have."""
        columns = self.term.columns()
        held = ((name, value) for name, value in self.term.__dict__.items() if name not in columns and isinstance(value, Hashable))
        return self.model.kind, self.is_class_asked, tuple(columns), variants(self.term).changes, tuple(held)

    def document(self, compute_dtype: str, cells: Cells) -> dict[str, Any]:
        """The op as understood; `compute_dtype` is the class in which the chip runs it. What does not apply is left out."""
        derived, asked = self.term.derived, self.model.__dict__
        found = {"kind": self.model.kind}
        for name, held in self.term.__dict__.items():
            if held is not None and name not in derived:
                found[name] = held if isinstance(held, str) else _said(held, asked[name], cells)
        if "compute_dtype" in found:
            found["compute_dtype"] = compute_dtype
        return found

    def assumed(self, document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The members of the op as understood that the caller did not give, or gave another name for."""
        given = self.model.model_fields_set
        return [
            {"pointer": f"{self.pointer}/{name}", "value": value}
            for name, value in document.items()
            if name not in given or (asked := getattr(self.model, name)) is None or (name.endswith(FORMATS) and asked != value)
        ] + [
            {"pointer": f"{self.pointer}/{name}/{member}", "value": value}
            for name, scale in document.items()
            if isinstance(asked := getattr(self.model, name), ScaleModel)
            for member, value in scale.items()
            if getattr(asked, member) != value and member.endswith(FORMATS)
        ]


def read(model: OpModel, pointer: str, others: Sequence[OpModel] = ()) -> Asked:
    """The term that `model` asks for; `pointer` is where it stands in the question. Its rows after the first are `others` of its shape.

    Raises `InvalidInput` with pointers into the question: what the op itself finds wrong, lists of different lengths (column-length).
    """
    lists = {name: len(value) for name, value in lists_of(model)}
    if lists and max(lists.values()) > MAX_ROWS:
        raise OverLimit(f"The lists of an op hold at most {MAX_ROWS} rows. Ask in several requests.")
    try:
        if lists:
            _check_lengths(lists)
        term = stated(model, *others).resolved()
    except InvalidInput as error:
        raise placed(error, pointer, model) from error
    return Asked(term, model, pointer, next(iter(lists.values()), None))


def stated(*models: OpModel) -> Term:
    """The term that ops of one shape state, with a row for each, its defaults still to be filled."""
    members = [model.__dict__ for model in models]
    first, kind = members[0], KINDS[models[0].kind]
    fields = kind.fields()
    return kind(**{name: _held(value, name, members) for name, value in first.items() if value is not None and name in fields})


def _held(first: Any, name: str, members: Sequence[Mapping[str, Any]]) -> Any:
    """A member of a term, which is `first` in the first of its ops."""
    if type(first) is int:
        return column([each[name] for each in members])
    if type(first) is dict:
        return {index: _held(size, index, [each[name] for each in members]) for index, size in first.items()}
    return _value(first)


def shape(model: OpModel) -> Hashable:
    """What an op says beside its numbers, and which members it leaves out; those that share it can be the rows of one column.

    None for an op with lists: they are the rows of columns of their own.
    """
    members = model.__dict__
    found = {
        name: int if (kind := type(value := members[name])) is int else value if kind is str else _beside_number(value)
        for name in model.model_fields_set
    }
    return None if list in found.values() else frozenset(found.items())


def _beside_number(value: Any) -> Hashable:
    kind = type(value)
    if kind is dict:
        return list if list in map(type, value.values()) else tuple(value)
    if kind is list:
        return tuple(value) if _is_names(value) else list
    return repr(value) if kind is ScaleModel else value


def placed(error: InvalidInput, pointer: str, model: OpModel) -> InvalidInput:
    """Faults that the engine states relative to the op, as faults of the question in which the op stands at `pointer`."""
    return InvalidInput([replace(fault, pointer=_placed(fault, pointer, model)) for fault in error.faults])


def _placed(fault: Fault, pointer: str, model: OpModel) -> str:
    if fault.pointer.startswith(("/target", "/options")):
        return pointer.rpartition("/op")[0] + fault.pointer  # beside the op, or the list that it stands in
    given = model.model_fields_set
    if fault.code == "unsupported-dtype" and fault.pointer == "/compute_dtype" and "compute_dtype" not in given:
        culprit = next((name for name in ("dtype", "a_dtype") if name in given), "compute_dtype")
        return f"{pointer}/{culprit}"
    return pointer + fault.pointer


def _value(value: Any) -> Any:
    kind = type(value)
    if kind is list:
        return tuple(value) if _is_names(value) else column(value)
    if kind is str:
        return ALIASES.get(value, value)
    return _scale(value) if isinstance(value, ScaleModel) else value


def _is_names(value: list[Any]) -> bool:
    """Whether a list is one of axes and not of numbers."""
    return type(value[0]) is str


def _scale(model: ScaleModel) -> Scale:
    block = None if model.block is None else tuple(model.block)
    zero_point = None if model.zero_point_dtype is None else _value(model.zero_point_dtype)
    return Scale(_value(model.dtype), model.group_size, block, zero_point)


def lists_of(model: OpModel) -> list[tuple[str, list[int]]]:
    """The members of an op in which a list stands, by their steps from the op."""
    plain, inner = [], []
    for name, value in model.__dict__.items():
        if type(value) is list and not _is_names(value):
            plain.append((name, value))
        elif type(value) is dict:
            inner += [(f"{name}/{index}", each) for index, each in value.items() if type(each) is list]
    return plain + inner


def _check_lengths(lists: Mapping[str, int]) -> None:
    first = next(iter(lists.values()))
    faults = [
        Fault(f"/{name}", "column-length", f"The first list has {first} numbers and this one {length}; all must have as many.")
        for name, length in lists.items()
        if length != first
    ]
    if faults:
        raise InvalidInput(faults)


def _said(held: Any, asked: Any, cells: Cells) -> Any:
    """A member as the document shows it: numbers as asked or as defaulted, formats by their own names."""
    if isinstance(held, np.ndarray):
        return cells.dim(held, asked)
    if isinstance(held, Mapping):
        return {name: cells.dim(each, asked[name]) for name, each in held.items()}
    if isinstance(held, Scale):
        return {name: value for name, value in dataclasses.asdict(held).items() if value is not None}
    return asked
