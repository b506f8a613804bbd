"""A document of many rows, cut into the text of each: what one row by itself is written as."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.canonical import text
from service.analysis.cells import Cells, OneRow
from service.analysis.row_texts import EachRow, Unlike
from service.engine.arrays import column
from service.engine.batch import row_of
from service.engine.roofline import BOUNDS
from service.errors import Internal

ROW = st.tuples(st.floats(-1e300, 1e300), st.integers(1, 2**60), st.integers(1, len(BOUNDS) - 1), st.booleans())


def document(columns: tuple[Any, ...], cells: Cells) -> dict[str, Any]:
    numbers, sizes, codes, flags = columns
    return {
        "words": 'between "marks"',
        "number": cells.number(numbers),
        "whole": [cells.whole(sizes), cells.whole(sizes, flags)],
        "of all": [cells.number(column(0.5)), cells.number(column(0.5), flags), cells.whole(column(7), flags | ~flags)],
        "again": [cells.number(numbers), cells.whole(numbers)],
        "bound": {"name": cells.name(codes, BOUNDS), "of some": cells.name(codes, BOUNDS, flags)},
        "flag": cells.flag(flags),
    }


@given(st.lists(ROW, min_size=2, max_size=6))
def test_the_text_of_each_row_is_what_the_row_is_written_as_alone(rows: list[tuple[float, int, int, bool]]) -> None:
    numbers, sizes, codes, flags = zip(*rows, strict=True)
    columns = column(numbers), column(sizes), np.array(codes, np.int8), np.array(flags)
    cells = EachRow(len(rows))
    alone = [text(document(row_of(columns, at, len(rows)), OneRow())) for at in range(len(rows))]
    assert cells.cut(text(document(columns, cells))) == alone


def test_a_size_is_that_of_its_row_and_not_the_one_that_was_given_first() -> None:
    cells = EachRow(2)
    assert cells.cut(orjson.dumps([cells.dim(column([512, 7]), 512)])) == [b"[512]", b"[7]"]


def test_what_is_said_of_some_rows_alone_parts_them() -> None:
    cells, mixed = EachRow(2), np.array([True, False])
    assert cells.any_of(np.ones(2, np.bool_)) is True
    assert cells.any_of(np.zeros(1, np.bool_)) is False
    with pytest.raises(Unlike) as unlike:
        cells.any_of(mixed)
    assert unlike.value.flags is mixed


def test_a_number_that_is_not_finite_is_refused_where_it_is_present() -> None:
    cells, present = EachRow(2), np.array([True, False])
    assert cells.cut(orjson.dumps(cells.number(column([1.5, np.nan]), present))) == [b"1.5", b"null"]
    for write in (cells.number, cells.whole):
        document = orjson.dumps(write(column([1.5, np.nan])))
        with pytest.raises(Internal):
            cells.cut(document)
