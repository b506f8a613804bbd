"""The grammar of numbers in cells, at its edges."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput
from service.tables.numerals import in_place, is_number, number

NUMBERS: dict[str, float] = {
    "0": 0, "-5": -5, "512": 512, "512.0": 512, "1.5": 1.5, "-0.25": -0.25, "1e9": 10**9, "1E+2": 100, "15e-1": 1.5, "5.12e2": 512,
    "9007199254740993": 2**53 + 1, "9007199254740992.0": 2**53, "1e300": 1e300, "-0": 0, "-0.0": 0, "0e5": 0,
}  # fmt: skip

OTHERS = [
    "", " ", "+5", " 5", "5 ", "1_000", "1,000", "1.000,5", "0x10", "0b1", "007", "-07", ".5", "5.", "1e", "1e1.5", "NaN", "nan",
    "Infinity", "inf", "-", "--5", "1 000", "５", "٣", "1e5\n", "1/2", "50%", "1.5.2", "e5", "True", "'5", "1\u00a0000",
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_a_number_is_read(text: str, value: float) -> None:
    assert number(text) == value
    assert type(number(text)) is (int if value == int(value) and abs(value) < 1e16 else float)
    assert is_number(text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_text_is_no_number(text: str) -> None:
    assert not is_number(text)
    with pytest.raises(InvalidInput) as refused:
        number(text, at="/query/m")
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/query/m", "wrong-type")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1e999", "not-finite"),
        ("-1e309", "not-finite"),
        ("1e-320", "out-of-range"),
        ("1e-400", "out-of-range"),
        ("9" * 309, "out-of-range"),
    ],
)
def test_what_a_float_cannot_hold_is_refused(text: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        number(text)
    assert refused.value.code == code


def test_a_decimal_comma_is_a_choice() -> None:
    assert number("1,5", decimal=",") == 1.5
    assert number("-0,25e3", decimal=",") == -250
    assert number("512", decimal=",") == 512
    for text in ("1.5", "1.000", "1.000,5", "1,000,000", ",5"):
        assert not is_number(text, ",")


@given(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False) | st.integers(-(2**80), 2**80))
def test_each_number_of_json_is_one_of_ours(value: float) -> None:
    text = json.dumps(value)
    found = number(text)
    assert found == value
    assert math.copysign(1, found) == math.copysign(1, value) or value == 0
    assert in_place(repr(value)) == value


@given(st.text(st.sampled_from("0123456789+-.,eE_ x'"), max_size=8))
def test_what_is_a_number_is_one_for_json_too_and_is_put_in_place_without_loss(text: str) -> None:
    try:
        found = json.loads(text)
        is_json = isinstance(found, (int, float)) and text == text.strip()
    except ValueError:
        is_json = False
    assert is_number(text) == is_json
    placed = in_place(text)
    assert (placed if isinstance(placed, str) else repr(placed)) == text
