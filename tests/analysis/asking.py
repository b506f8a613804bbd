"""Asking a use case as a caller would: a JSON document in, the JSON document out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest

from service.analysis.evaluate import answer
from service.catalogue import Catalogue
from service.engine.dtypes import CLASSES
from service.engine.formats import Scale
from service.errors import Fault, InvalidInput
from service.schemas.evaluate import Question
from service.schemas.reading import validate

Document = dict[str, Any]

CHIP: Document = {
    "peak_flops_per_s": {"bf16": 1e15, "int8": 2e15},
    "vector_peak_flops_per_s": {"fp32": 5e13},
    "hbm": {"bandwidth_bytes_per_s": 2e12},
}
"""A chip of round numbers, ridge at 500 FLOP/B in bf16."""

ANY_CLASS: Document = {
    "peak_flops_per_s": {name: 1e15 for name in CLASSES if name != "int32"},
    "vector_peak_flops_per_s": dict.fromkeys(CLASSES, 5e13),
    "hbm": {"bandwidth_bytes_per_s": 2e12},
}
"""A chip that has a peak for every class on both units."""

MATMUL: Document = {"kind": "matmul", "m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}


def ask(catalogue: Catalogue, *, chip: Document | str = CHIP, **question: Any) -> Document:
    """The answer to a question, read back from its text."""
    found: Document = orjson.loads(answer(validate(Question, {"target": {"chip": chip}, **question}), catalogue).text)
    return found


def result(catalogue: Catalogue, op: Document, *, chip: Document | str = CHIP, **options: Any) -> Document:
    found: Document = ask(catalogue, op=op, chip=chip, options=options)["result"]
    return found


def refused(asking: Callable[[], object]) -> list[Fault]:
    """The faults with which a question is refused."""
    with pytest.raises(InvalidInput) as error:
        asking()
    return list(error.value.faults)


def as_json(kind: str, members: Mapping[str, Any]) -> Document:
    """Members of a term as a request has them."""
    return {"kind": kind, **{name: _plain(value) for name, value in members.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, Scale):
        return {
            name: list(each) if isinstance(each, tuple) else each for name, each in dataclasses.asdict(value).items() if each is not None
        }
    return value
