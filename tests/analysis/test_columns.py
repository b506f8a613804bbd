"""Lists of numbers: the answer in columns holds, value by value, the answers to its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.evaluate import answer, rows
from service.catalogue import Catalogue
from service.engine.ops import OPS
from service.errors import OverLimit
from service.schemas.evaluate import Question
from service.schemas.limits import MAX_ROWS
from service.schemas.reading import validate

from ..engine.drawing import questions_in_columns, with_numbers
from .asking import ANY_CLASS, MATMUL, Document, as_json, ask, refused, result

KINDS = pytest.mark.parametrize("kind", sorted(OPS))
SINGLE = {
    *("path", "variable", "axis", "change", "factor", "traffic", "unit", "dtype", "estimate_basis", "assumed", "notes", "explain"),
    *("kind", "operand", "dim", "axes", "plan"),
}
"""Members that stay single in columns."""

ENTRIES = {"thresholds", "levers", "collectives", "alternatives"}
"""Lists whose length does not depend on the rows."""


def row_of(columns: Any, at: int, name: str = "") -> Any:
    """One row of a document in columns."""
    if name in SINGLE or columns is None:
        return columns
    if isinstance(columns, dict):
        return {member: row_of(each, at, member) for member, each in columns.items()}
    if name in ENTRIES:
        return [row_of(each, at) for each in columns]
    assert isinstance(columns, list), name
    return columns[at]


def without_batch(entries: list[Document]) -> list[Document]:
    return [each for each in entries if "batch" not in (each.get("variable"), each.get("change"))]


@KINDS
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_value_of_every_row_is_that_of_the_single_answer(kind: str, catalogue: Catalogue, data: st.DataObject) -> None:
    members, lists = data.draw(questions_in_columns(kind, rows=3))
    together = result(catalogue, as_json(kind, with_numbers(members, lists)), chip=ANY_CLASS)
    for at in range(3):
        single = with_numbers(members, {name: values[at] for name, values in lists.items()})
        alone, row = result(catalogue, as_json(kind, single), chip=ANY_CLASS), row_of(together, at)
        for name in ("thresholds", "levers"):
            if len(alone[name]) < len(row[name]):  # a batch of one has no entry, in columns it is null
                entry = next(each for each in row[name] if "batch" in each.values())
                assert {value for key, value in entry.items() if key not in SINGLE} == {None}
                row[name] = without_batch(row[name])
        for name in ("assumed", "notes"):  # numbers that were left out are lists nowhere; notes speak of all rows
            row[name] = alone[name] = None
        assert row == alone


def test_all_rows_in_one_answer(catalogue: Catalogue) -> None:
    found = result(catalogue, {**MATMUL, "m": [16, 512, 4096], "k": 8192, "n": 8192})
    assert found["flops"] == [2 * m * 8192 * 8192 for m in (16, 512, 4096)]
    assert found["bound"] == ["hbm", "hbm", "compute"]
    assert found["regime"] == ["communication-bound", "communication-bound", "compute-bound"]
    assert found["layers"]["compute"]["peak_flops_per_s"] == [1e15] * 3
    assert found["layers"]["compute"]["unit"] == "matrix"
    assert found["thresholds"][0]["approximate"] == [500.0] * 3
    assert [each["helps"] for each in found["levers"]] == [
        [False, False, True],
        [True, True, False],
        [True, True, False],
        [True, True, False],
        [False, False, False],
    ]


def test_a_list_of_one_gives_lists_of_one(catalogue: Catalogue) -> None:
    found = result(catalogue, {**MATMUL, "m": [512]})
    assert found["flops"] == [240_518_168_576]
    assert found["bound"] == ["hbm"]


def test_what_a_row_lacks_is_null_there(catalogue: Catalogue) -> None:
    found = result(catalogue, {**MATMUL, "k": [8192, 8], "batch": [1, 2]})
    assert found["thresholds"][0]["exact"] == [pytest.approx(542.578, rel=1e-5), None]
    assert found["thresholds"][1] == {"path": "hbm", "variable": "batch", "exact": [None, None], "approximate": None}
    batch = found["levers"][-2]
    assert (batch["change"], batch["lower_s_after"][0], batch["bound_after"][0], batch["speedup"], batch["helps"]) == (
        "batch",
        None,
        None,
        [None, 1.0],
        [None, False],
    )


def test_einsum_sizes_in_columns(catalogue: Catalogue) -> None:
    found = result(catalogue, {"kind": "einsum", "equation": "bd,df->bf", "dims": {"b": [1, 2], "d": 64, "f": [3, 4]}, "dtype": "bf16"})
    assert found["flops"] == [2 * 1 * 64 * 3, 2 * 2 * 64 * 4]


def test_a_batch_that_begins_late_in_a_long_column(catalogue: Catalogue) -> None:
    found = result(catalogue, {**MATMUL, "batch": [*[1] * 9000, 2]})
    assert [each["change"] for each in found["levers"]][-2:] == ["batch", "tile"]
    assert found["flops"][-1] == 2 * found["flops"][0]


def test_lists_of_different_lengths_are_refused_at_each_list_that_differs(catalogue: Catalogue) -> None:
    op = {"kind": "matmul", "m": [1, 2], "k": [1, 2, 3], "n": [1, 2], "batch": [1], "dtype": "bf16"}
    assert [(fault.pointer, fault.code) for fault in refused(lambda: result(catalogue, op))] == [
        ("/op/k", "column-length"),
        ("/op/batch", "column-length"),
    ]


def test_more_rows_than_allowed_are_refused_before_they_are_computed(catalogue: Catalogue) -> None:
    question = validate(Question, {"op": {**MATMUL, "m": [1] * (MAX_ROWS + 1)}, "target": {"chip": ANY_CLASS}})
    with pytest.raises(OverLimit) as limit:
        answer(question, catalogue)
    assert limit.value.code == "too-many-rows"
    assert str(MAX_ROWS) in limit.value.detail
    assert rows(question) == MAX_ROWS + 1


def test_as_many_rows_as_allowed_are_answered(catalogue: Catalogue) -> None:
    found = result(catalogue, {**MATMUL, "m": [*range(1, MAX_ROWS + 1)]})
    assert len(found["bound"]) == MAX_ROWS
    assert found["flops"][MAX_ROWS - 1] == 2 * MAX_ROWS * 8192 * 28_672
    turn = found["bound"].index("compute") + 1
    assert turn == int(np.ceil(found["thresholds"][0]["exact"][0]))


def test_a_column_that_is_too_large_names_its_row(catalogue: Catalogue) -> None:
    huge = 2**53 - 1
    letters = "abcdefghijklmnopqrs"
    op = {"kind": "einsum", "equation": f"{letters}->{letters}", "dims": {**dict.fromkeys(letters, huge), "a": [1, huge]}, "dtype": "bf16"}
    (fault,) = refused(lambda: result(catalogue, op))
    assert (fault.pointer, fault.code) == ("/op/dims/a/1", "too-large")
    assert ask(catalogue, op={**op, "dims": {**op["dims"], "a": [1, 2]}})["result"]["bytes"]["total"][0] == pytest.approx(4.0 * huge**18)  # type: ignore[dict-item]
