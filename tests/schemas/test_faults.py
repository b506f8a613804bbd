"""Faults of a request: all of them, in document order, each with a pointer into what was sent and never with the value itself."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from service.errors import Fault, InvalidInput
from service.schemas.reading import validate
from service.schemas.telling import told


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def branch(value: object) -> str:
    return "@list" if isinstance(value, list) else "@number"


def odd(value: list[int]) -> list[int]:
    for index, item in enumerate(value):
        if item % 2 == 0:
            raise PydanticCustomError("column-length", "Only odd numbers may stand here.", {"at": index, "suggestions": ["1"]})
    return value


Whole = Annotated[int, Field(ge=1, le=2**53 - 1)]
Column = Annotated[
    Annotated[Whole, Tag("@number")] | Annotated[list[Whole], AfterValidator(odd), Tag("@list")],
    Discriminator(branch),
]


class Matmul(Strict):
    kind: Literal["matmul"]
    m: Column
    dtype: Literal["bf16", "int8"] = "bf16"


class Einsum(Strict):
    kind: Literal["einsum"]
    dims: dict[Annotated[str, Field(max_length=1)], Whole]


class Question(Strict):
    op: Annotated[Matmul | Einsum, Field(discriminator="kind")] | None = None
    ops: list[Annotated[Matmul | Einsum, Field(discriminator="kind")]] | None = None
    overlap: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0
    chip: str = "x"


def faults(value: object, prefix: str = "") -> list[Fault]:
    with pytest.raises(InvalidInput) as refused:
        validate(Question, value, prefix)
    return list(told(refused.value, {"cases": [value]} if prefix else value).faults)


def matmul(**members: object) -> dict[str, Any]:
    return {"op": {"kind": "matmul", "m": 1, **members}}


CASES: dict[str, tuple[object, str, str, str, tuple[str, ...]]] = {
    "true for 1": (matmul(m=True), "/op/m", "wrong-type", "A whole number is needed, not true or false.", ()),
    "a string": (matmul(m="512"), "/op/m", "wrong-type", "A whole number is needed, not a string.", ()),
    "a point": (matmul(m=512.0), "/op/m", "wrong-type", "A whole number is needed, not a number with a point or an exponent.", ()),
    "null": (matmul(m=None), "/op/m", "wrong-type", "A whole number is needed, not null.", ()),
    "zero": (matmul(m=0), "/op/m", "out-of-range", "The number must be at least 1.", ()),
    "2^53": (matmul(m=2**53), "/op/m", "out-of-range", "The number must be at most 9007199254740991.", ()),
    "a bad row": (matmul(m=[1, 3, -1]), "/op/m/2", "out-of-range", "The number must be at least 1.", ()),
    "a rule of ours": (matmul(m=[1, 2]), "/op/m/1", "column-length", "Only odd numbers may stand here.", ("1",)),
    "infinite": ({"overlap": float("inf")}, "/overlap", "not-finite", "The number must be finite.", ()),
    "another word": (matmul(dtype="bf61"), "/op/dtype", "out-of-range", "The value must be 'bf16' or 'int8'.", ("bf16",)),
    "a typo": (matmul(dtyp="int8"), "/op/dtyp", "unknown-member", "There is no such member here.", ("dtype",)),
    "a member called as a branch": (matmul(**{"@list": 1}), "/op/@list", "unknown-member", "There is no such member here.", ()),
    "a member called as its op": (matmul(matmul=1), "/op/matmul", "unknown-member", "There is no such member here.", ()),
    "an escaped name": (matmul(**{"a/b~": 1}), "/op/a~1b~0", "unknown-member", "There is no such member here.", ()),
    "a long name": (matmul(**{"x" * 201: 1}), "/op", "unknown-member", "There is no such member here.", ()),
    "no m": ({"op": {"kind": "matmul"}}, "/op/m", "missing", "This member is required.", ()),
    "no kind": ({"op": {"m": 1}}, "/op/kind", "missing", "This member is required.", ()),
    "a kind that is a number": ({"op": {"kind": 5}}, "/op/kind", "wrong-type", "A string is needed, not a whole number.", ()),
    "a kind that is not there": ({"op": {"kind": "matmull"}}, "/op/kind", "unknown-op", "There is none of this name.", ("matmul",)),
    "an op that is a number": ({"op": 5}, "/op", "wrong-type", "An object is needed, not a whole number.", ()),
    "a list that is an object": ({"ops": {}}, "/ops", "wrong-type", "A list is needed, not an object.", ()),
    "in a list of ops": (
        {"ops": [{"kind": "matmul", "m": 1}, {"kind": "dot"}]},
        "/ops/1/kind",
        "unknown-op",
        "There is none of this name.",
        (),
    ),
    "a value in a map": (
        {"op": {"kind": "einsum", "dims": {"b": "x"}}},
        "/op/dims/b",
        "wrong-type",
        "A whole number is needed, not a string.",
        (),
    ),
    "a name in a map": (
        {"op": {"kind": "einsum", "dims": {"bd": 1}}},
        "/op/dims/bd",
        "out-of-range",
        "The string may have at most 1 characters.",
        (),
    ),
    "not an object": ([], "", "wrong-type", "An object is needed, not a list.", ()),
}


@pytest.mark.parametrize(("value", "pointer", "code", "detail", "suggestions"), CASES.values(), ids=CASES.keys())
def test_a_fault_is_told_with_pointer_code_sentence_and_suggestions(
    value: object, pointer: str, code: str, detail: str, suggestions: tuple[str, ...]
) -> None:
    assert faults(value) == [Fault(pointer, code, detail, suggestions)]


def test_all_faults_are_told_in_the_order_of_the_document() -> None:
    value = {"chip": 1, "zzz": 1, "op": {"x": 1, "kind": "matmul", "dtype": 5}, "overlap": 2}
    assert [fault.pointer for fault in faults(value, "/cases/0")] == [
        "/cases/0/chip",
        "/cases/0/zzz",
        "/cases/0/op/x",
        "/cases/0/op/dtype",
        "/cases/0/op/m",  # missing: at the end of its object
        "/cases/0/overlap",
    ]


def test_a_hundred_faults_are_listed_and_all_are_counted() -> None:
    sent = {f"a{index}": 1 for index in range(5000)}
    with pytest.raises(InvalidInput) as refused:
        validate(Question, sent)
    refusal = told(refused.value, sent)
    assert [fault.pointer for fault in refusal.faults] == [f"/a{index}" for index in range(100)]
    assert refusal.detail == "5000 problems, of which 100 are listed."


def test_of_hopeless_lists_the_beginnings_are_looked_at() -> None:
    with pytest.raises(InvalidInput) as refused:
        validate(Question, {"op": {"kind": "matmul", "m": [0] * 20_000}, "chip": 1})
    assert [fault.pointer for fault in refused.value.faults] == [f"/op/m/{at}" for at in range(1000)]
    assert refused.value.count == 20_001


def test_where_the_beginnings_are_sound_all_is_looked_at() -> None:
    with pytest.raises(InvalidInput) as refused:
        validate(Question, {"op": {"kind": "matmul", "m": [1] * 1000 + [0] * 10_001}})
    assert refused.value.faults[0].pointer == "/op/m/1000"


def test_a_fault_is_told_once() -> None:
    twice, other = Fault("/chip", "wrong-type", "One."), Fault("/chip", "missing", "Two.")
    refusal = told(InvalidInput([twice, other, twice]), {})
    assert refusal.faults == (twice, other)
    assert refusal.detail == "2 problems."


def test_what_is_right_comes_back_as_the_model() -> None:
    assert validate(Question, matmul(m=[1, 3])) == Question(op=Matmul(kind="matmul", m=[1, 3]))
