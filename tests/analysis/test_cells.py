"""From columns to numbers of a document: finite, whole where they are, null where nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest

from service.analysis.cells import AllRows, OneRow
from service.engine.arrays import column
from service.engine.roofline import BOUNDS
from service.errors import Internal


def written(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_a_fault_of_ours(bad: float) -> None:
    for write in (OneRow().number, OneRow().whole):
        with pytest.raises(Internal):
            write(column(bad))
    for write in (AllRows(2).number, AllRows(2).whole):
        with pytest.raises(Internal):
            write(column([1.0, bad]))
        with pytest.raises(Internal):
            write(column([1.0, bad]), np.array([False, True]))


def test_what_is_not_present_is_null_even_if_it_is_not_finite() -> None:
    absent = np.array([False])
    assert (OneRow().number(column(np.nan), absent), OneRow().whole(column(np.nan), absent)) == (None, None)
    present = np.array([True, False, True])
    assert written(AllRows(3).number(column([1.5, np.nan, 2.5]), present)) == [1.5, None, 2.5]
    assert written(AllRows(3).whole(column([1.0, np.nan, 2.0**60]), present)) == [1, None, 2.0**60]
    assert written(AllRows(2).flag(np.array([True, False]), np.array([True, False]))) == [True, None]
    assert written(AllRows(2).name(np.array([1, 2], dtype=np.int8), BOUNDS, np.array([True, False]))) == ["compute", None]
    assert OneRow().name(np.array([1], dtype=np.int8), BOUNDS, absent) is None
    assert OneRow().flag(np.array([True]), absent) is None


@pytest.mark.parametrize(("value", "expected"), [(3.0, 3), (2.0**53, 2**53), (2.0**53 + 2, 2.0**53 + 2), (0.0, 0)])
def test_whole_numbers_up_to_2_to_the_53_have_no_point(value: float, expected: float) -> None:
    one, rows = OneRow().whole(column(value)), AllRows(1).whole(column(value))
    assert (one, type(one)) == (expected, type(expected))
    assert (written(rows), type(written(rows)[0])) == ([expected], type(expected))


def test_a_column_that_all_rows_share_is_repeated() -> None:
    rows = AllRows(3)
    assert written(rows.number(column(1.5))) == [1.5] * 3
    assert written(rows.whole(column(7.0))) == [7] * 3
    assert written(rows.flag(np.array([True]))) == [True] * 3
    assert written(rows.name(np.array([2], dtype=np.int8), BOUNDS)) == ["hbm"] * 3


def test_small_and_large_in_one_column() -> None:
    found = written(AllRows(2).whole(column([5.0, 2.0**70])))
    assert found == [5, 2.0**70]
    assert [type(each) for each in found] == [int, float]
