"""Arrow's types in and out, whole tables and broken ones."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import InvalidInput, OverLimit
from service.tables.table import Cell, Table

from .bombs import arrow
from .examples import read, written


def stream(array: Any) -> bytes:
    return arrow(iter([pa.record_batch([array], names=["m"])]))


def file(array: Any, compression: str | None = None) -> bytes:
    out = io.BytesIO()
    batch = pa.record_batch([array], names=["m"])
    with pa.ipc.new_file(out, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch)
    return out.getvalue()


def refusal(body: bytes) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as refused:
        read("arrow", body)
    (fault,) = refused.value.faults
    return fault.pointer, fault.code


DAY = dt.date(2026, 1, 31)
COLUMNS: dict[str, tuple[Any, list[Cell]]] = {
    "int8": (pa.array([1, None], pa.int8()), [1, None]),
    "uint64": (pa.array([2**64 - 1], pa.uint64()), [2**64 - 1]),
    "float16": (pa.array([0.5], pa.float16()), [0.5]),
    "float64": (pa.array([0.1, 512.0, None, 1e300], pa.float64()), [0.1, 512, None, 1e300]),
    "bool": (pa.array([True, None]), [True, None]),
    "null": (pa.nulls(2), [None, None]),
    "string": (pa.array(["a", "", None]), ["a", None, None]),
    "large string": (pa.array(["a"], pa.large_string()), ["a"]),
    "string view": (pa.array(["a", "b" * 40, None]).cast(pa.string_view()), ["a", "b" * 40, None]),
    "a slice of a string view": (pa.array(["a", "b" * 40, None]).cast(pa.string_view())[1:], ["b" * 40, None]),
    "no rows of a string view": (pa.array([], pa.string_view()), []),
    "dictionary of text": (pa.array(["a", "b", "a", None]).dictionary_encode(), ["a", "b", "a", None]),
    "dictionary of numbers": (pa.array([7, 8, 7]).dictionary_encode(), [7, 8, 7]),
    "decimal": (pa.array([decimal.Decimal("1.50")]), ["1.50"]),
    "date": (pa.array([DAY]), ["2026-01-31"]),
    "time": (pa.array([dt.time(6, 30)], pa.time32("s")), ["06:30:00"]),
    "timestamp": (pa.array([DAY]).cast(pa.timestamp("s")), ["2026-01-31 00:00:00"]),
}


@pytest.mark.parametrize(("array", "cells"), COLUMNS.values(), ids=COLUMNS)
def test_a_column_is_read_from_a_stream_and_from_a_file(array: Any, cells: list[Cell]) -> None:
    found = read("arrow", stream(array)).columns[0]
    assert [(type(cell), cell) for cell in found] == [(type(cell), cell) for cell in cells]
    for compression in (None, "lz4", "zstd"):
        assert read("arrow", file(array, compression)).columns[0] == cells * 2


NESTED = {
    "list": pa.array([[1]]),
    "struct": pa.array([{"a": 1}]),
    "bytes": pa.array([b"a"]),
    "duration": pa.array([1], pa.duration("s")),
    "dictionary of lists": pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[1]])),
}


@pytest.mark.parametrize("array", NESTED.values(), ids=NESTED)
def test_a_column_of_another_type_is_refused(array: Any) -> None:
    assert refusal(stream(array)) == ("/header/m", "wrong-type")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_refused_at_its_place(value: float) -> None:
    assert refusal(stream(pa.array([1.0, value]))) == ("/rows/1/m", "not-finite")


def test_a_text_that_is_not_clean_is_refused_at_its_place() -> None:
    assert refusal(stream(pa.array(["a", "b\0"]))) == ("/rows/1/m", "malformed-table")


def test_names_must_differ() -> None:
    assert refusal(arrow(iter([pa.record_batch([[1], [2]], names=["m", "m"])]))) == ("/header/1", "malformed-table")


def test_a_column_gets_the_type_that_holds_each_cell() -> None:
    columns: dict[str, tuple[list[Cell], Any]] = {
        "whole": ([1, None], pa.int64()),
        "floats": ([1, 0.5], pa.float64()),
        "wide and floats": ([2**53 + 1, 0.5], pa.string()),
        "wide": ([2**63, 1], pa.string()),
        "flags": ([True, None], pa.bool_()),
        "flags and numbers": ([True, 1], pa.string()),
        "text": (["a", None], pa.string()),
        "nothing": ([None, None], pa.null()),
    }
    table = Table(tuple(columns), tuple(cells for cells, _ in columns.values()))
    found = pa.ipc.open_stream(written("arrow", table)).read_all()
    assert dict(zip(found.schema.names, found.schema.types, strict=True)) == {name: kind for name, (_, kind) in columns.items()}
    assert found.column("wide and floats").to_pylist() == ["9007199254740993", "0.5"]
    assert found.column("flags and numbers").to_pylist() == ["true", "1"]


def test_text_of_csv_becomes_numbers_where_nothing_is_lost() -> None:
    found = pa.ipc.open_stream(written("arrow", read("csv", b"m,id\n512,007\n0.5,12\n"))).read_all()
    assert found.to_pydict() == {"m": [512.0, 0.5], "id": ["007", "12"]}


def test_offsets_that_lead_outside_are_refused() -> None:
    body = stream(pa.array(["abc", "def"]))
    assert body.count(struct.pack("<3i", 0, 3, 6)) == 1
    broken = body.replace(struct.pack("<3i", 0, 3, 6), struct.pack("<3i", 0, 3, 600_000))
    assert refusal(broken) == ("", "malformed-table")


BODIES = [stream(pa.array([1, None, 3])), stream(pa.array(["a", "b"]).dictionary_encode()), file(pa.array(["a", "b" * 40]), "zstd")]


@settings(max_examples=200)
@given(
    st.sampled_from(BODIES), st.lists(st.tuples(st.integers(0, 2000), st.binary(min_size=1, max_size=4)), min_size=1, max_size=4), st.data()
)
def test_a_broken_table_is_refused_or_read_and_nothing_else_happens(
    body: bytes, changes: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    broken = bytearray(body)
    for at, change in changes:
        place = at % len(broken)
        broken[place : place + data.draw(st.integers(0, 4))] = change
    try:
        found = read("arrow", bytes(broken))
    except (InvalidInput, OverLimit):
        return
    assert {len(column) for column in found.columns} == {found.rows}
