"""What holds for every table: a row says what its question says by itself, whatever stands beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.batches import fields, leaves
from service.analysis.batches.answering import Choices, answer
from service.catalogue import Catalogue
from service.engine.ops import OPS
from service.errors import InvalidInput
from service.tables.table import Table

from ...engine.drawing import questions
from ..asking import as_json, ask
from .tables import flat, named, rows_of, table

CHIPS = st.sampled_from(["nvidia-h100-sxm", "google-tpu-v5e", "amd-epyc-9654", "apple-m4-max", "nvidia-v100-pcie@1", "nvidia-p4"])
BAD_NUMBERS = st.sampled_from([0, -1, 2**53, 1.5, True, "many"])
SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]
BESIDE = {"fits", "target_digest", "engine_version"}
LEAVES = [name for name in leaves.known() if name not in leaves.SHORT or leaves.whole(name) == name]


@st.composite
def asked(draw: st.DrawFn) -> dict[str, Any]:
    """The op of a row, as a request has it; now and then with something wrong."""
    kind = draw(st.sampled_from(sorted(OPS)))
    op = as_json(kind, draw(questions(kind)))
    spoil = draw(st.sampled_from(["", "", "", "number", "format", "left out", "foreign"]))
    whole = [name for name, value in op.items() if type(value) is int]
    if spoil == "number" and whole:
        op[draw(st.sampled_from(whole))] = draw(BAD_NUMBERS)
    if spoil == "format":
        op["dtype"] = draw(st.sampled_from(["bf17", "int32", "fp6"]))
    if spoil == "left out":
        del op[draw(st.sampled_from([name for name in op if name != "kind"]))]
    if spoil == "foreign":
        op["rows" if kind == "matmul" else "k"] = 4
    return op


ROWS = st.lists(st.tuples(asked(), CHIPS), min_size=1, max_size=8)


def as_table(rows: list[tuple[dict[str, Any], str]], *, as_text: bool = False) -> Table:
    return table(
        [
            {"op": op["kind"], "chip": chip, **dict(flat({name: value for name, value in op.items() if name != "kind"}))}
            for op, chip in rows
        ],
        as_text=as_text,
    )


def alone(catalogue: Catalogue, op: Mapping[str, Any], chip: str) -> dict[str, Any] | set[tuple[str, str]]:
    """What a question says by itself: values by name, or where it is wrong with which code."""
    try:
        return named(ask(catalogue, op=op, chip=chip)["result"])
    except InvalidInput as error:
        return {(fields.short(tuple(fault.pointer.split("/")[1:])), fault.code) for fault in error.faults}


@settings(max_examples=40, suppress_health_check=SLOW)
@given(rows=ROWS)
def test_a_row_says_what_its_question_says_by_itself(catalogue: Catalogue, rows: list[tuple[dict[str, Any], str]]) -> None:
    found = rows_of(answer(as_table(rows), Choices(columns=LEAVES), catalogue).table)
    for (op, chip), row in zip(rows, found, strict=True):
        single = alone(catalogue, op, chip)
        if isinstance(single, dict):
            assert row["error_code"] is None, row["error"]
            assert set(single) <= set(LEAVES)
            assert {name: row[name] for name in LEAVES if name not in BESIDE} == dict.fromkeys(set(LEAVES) - BESIDE) | single
        else:
            assert {row[name] for name in LEAVES} == {None}
            codes = {code for _, code in single}
            assert row["error_code"] == (codes.pop() if len(codes) == 1 else "invalid-request")
            assert all(f"{name}: " in str(row["error"]) for name, _ in single if name not in {"op", ""}), (single, row["error"])


@settings(max_examples=25, suppress_health_check=SLOW)
@given(rows=ROWS, at=st.integers(0, 8))
def test_a_table_cut_in_two_gives_the_same_rows(catalogue: Catalogue, rows: list[tuple[dict[str, Any], str]], at: int) -> None:
    whole = as_table(rows)
    parts = [Table(whole.header, tuple(column[part] for column in whole.columns)) for part in (slice(0, at), slice(at, None))]
    together = answer(whole, Choices(), catalogue).table
    first, second = (answer(part, Choices(), catalogue).table for part in parts)
    assert first.header == second.header == together.header
    assert [[*a, *b] for a, b in zip(first.columns, second.columns, strict=True)] == [list(column) for column in together.columns]


@settings(max_examples=25, suppress_health_check=SLOW)
@given(rows=ROWS)
def test_text_and_types_say_the_same(catalogue: Catalogue, rows: list[tuple[dict[str, Any], str]]) -> None:
    """But for what is wrong, which is said of a text in other words."""
    typed, text = (rows_of(answer(as_table(rows, as_text=as_text), Choices(), catalogue).table) for as_text in (False, True))
    for of_types, of_text in zip(typed, text, strict=True):
        assert {name: of_text[name] for name in leaves.SHORT} == {name: of_types[name] for name in leaves.SHORT}
        assert (of_text["error_code"] is None) == (of_types["error_code"] is None)


def test_no_name_of_an_answer_is_that_of_a_member() -> None:
    """Else an answered table could not be sent again."""
    assert not [name for name in leaves.known() if fields.find(name) is not None]
    assert not {name.partition(".")[0] for name in leaves.known() if "." in name} & fields.reserved()


def test_a_member_of_several_ops_is_read_alike_for_all() -> None:
    for kind in OPS:
        for path, field in fields.of_kind(kind).items():
            first = fields.find(fields.short(path))
            assert first is not None
            assert (first.path, first.reads) == (path, field.reads)
