"""No cell of CSV is a formula, and every text comes back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tables.harmless import harmless, restored
from service.tables.numerals import is_number

STARTS = ("=", "+", "-", "@", "\t", "\r")
TEXTS = st.text() | st.text(st.sampled_from("'=+-@\t\r0123456789.,eE x"), max_size=8)


@given(TEXTS)
def test_a_text_comes_back_and_starts_like_a_formula_only_where_it_is_a_number(text: str) -> None:
    cell = harmless(text)
    assert restored(cell) == text
    assert not cell.startswith(STARTS) or is_number(cell, ".") or is_number(cell, ",")


@given(TEXTS, TEXTS)
def test_no_two_texts_are_written_alike_or_read_alike(one: str, other: str) -> None:
    assert (harmless(one) == harmless(other)) == (one == other)
    if not (one.startswith(STARTS) or other.startswith(STARTS)):  # which a spreadsheet would not have written
        assert (restored(one) == restored(other)) == (one == other)


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-x", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''-x", "=cmd|' /C calc'!A0", "-1_000", "-", "+5", "-0x1"]
)
def test_what_a_spreadsheet_might_run_gets_an_apostrophe(text: str) -> None:
    assert harmless(text) == "'" + text


@pytest.mark.parametrize("text", ["-5", "-5.5", "-1e-7", "-1,5", "'-5", "it's", "'tis", "a=b", "", "'", "''", "1-1"])
def test_numbers_and_other_text_stay(text: str) -> None:
    assert harmless(text) == text
    assert restored(text) == text
