"""From an op of a question to a term, and back to the op as understood, every default filled."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engine.arrays import column
from ..engine.dtypes import ALIASES
from ..engine.formats import Scale
from ..engine.levers import variants
from ..engine.ops import OPS
from ..engine.term import Term
from ..errors import Fault, InvalidInput
from ..schemas.terms import OpModel, ScaleModel


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

    def document(self, compute_dtype: str) -> dict[str, Any]:
        """The op as understood; `compute_dtype` is the class in which the chip runs it. What does not apply is left out."""
        derived = self.term.derived
        members = {name: _said(getattr(self.term, name), getattr(self.model, name)) for name in self.term.__dict__ if name not in derived}
        if "compute_dtype" in members:
            members["compute_dtype"] = compute_dtype
        return {"kind": self.model.kind, **{name: value for name, value in members.items() if value is not None}}

    def assumed(self, document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The members of the op as understood that the caller did not give, or gave another name for."""
        given = self.model.model_fields_set
        return [
            {"pointer": f"{self.pointer}/{name}", "value": value}
            for name, value in document.items()
            if name not in given or (asked := getattr(self.model, name)) is None or (name.endswith("dtype") and asked != value)
        ]


def read(model: OpModel, pointer: str) -> Asked:
    """The term that `model` asks for; `pointer` is where it stands in the question.

    Raises `InvalidInput` with pointers into the question: what the op itself finds wrong, lists of different lengths (column-length).
    """
    members = {name: _value(value) for name, value in model.__dict__.items() if name in _fields(model.kind)}
    lists = {name: len(value) for name, value in lists_of(model)}
    with within(pointer, model):
        if len(set(lists.values())) > 1:
            raise InvalidInput(_unequal(lists))
        term = OPS[model.kind](**members).resolved()
    return Asked(term, model, pointer, next(iter(lists.values()), None))


@contextmanager
def within(pointer: str, model: OpModel) -> Iterator[None]:
    """Faults that the engine states relative to the op become faults of the question."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput([replace(fault, pointer=_placed(fault, pointer, model)) for fault in error.faults]) from error


def _placed(fault: Fault, pointer: str, model: OpModel) -> str:
    if fault.pointer.startswith("/target"):
        return fault.pointer
    given = model.model_fields_set
    if fault.code == "unsupported-dtype" and fault.pointer == "/compute_dtype" and "compute_dtype" not in given:
        culprit = next((name for name in ("dtype", "a_dtype") if name in given), "compute_dtype")
        return f"{pointer}/{culprit}"
    return pointer + fault.pointer


def _fields(kind: str) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = OPS[kind].__dataclass_fields__  # type: ignore[attr-defined]
    return fields


def _value(value: Any) -> Any:
    if isinstance(value, int | list):
        return column(value)
    if isinstance(value, str):
        return ALIASES.get(value, value)
    if isinstance(value, ScaleModel):
        block = None if value.block is None else tuple(value.block)
        zero_point = value.zero_point_dtype
        return Scale(_value(value.dtype), value.group_size, block, None if zero_point is None else _value(zero_point))
    return {name: column(each) for name, each in value.items()} if isinstance(value, dict) else value


def lists_of(model: OpModel | None) -> Iterator[tuple[str, list[int]]]:
    """The members of an op in which a list stands, by their steps from the op."""
    for name, value in ({} if model is None else model.__dict__).items():
        if isinstance(value, list):
            yield name, value
        elif isinstance(value, dict):
            yield from ((f"{name}/{index}", each) for index, each in value.items() if isinstance(each, list))


def _unequal(lists: Mapping[str, int]) -> list[Fault]:
    first = next(iter(lists.values()))
    return [
        Fault(f"/{name}", "column-length", f"The first list has {first} numbers and this one {length}; all must have as many.")
        for name, length in lists.items()
        if length != first
    ]


def _said(held: Any, asked: Any) -> Any:
    """A member as the document shows it: numbers as asked or as defaulted, formats by their own names."""
    if isinstance(held, np.ndarray):
        return int(held.item()) if asked is None else asked
    if isinstance(held, Scale):
        return {name: value for name, value in dataclasses.asdict(held).items() if value is not None}
    return asked if isinstance(held, dict) else held
