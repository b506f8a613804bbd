"""Days as numbers: which formats show them, and which dates they are."""

from __future__ import annotations

import pytest

from service.tables.xlsx.dates import DATE, ELAPSED, PLAIN, kind_of_format, shown

FORMATS = {
    "General": PLAIN, "0.00": PLAIN, "#,##0 [$€-407]": PLAIN, "0%": PLAIN, '0.0 "days"': PLAIN, "[Red]0.00": PLAIN, "0\\d": PLAIN,
    "0.0E+00": PLAIN, "@": PLAIN, "": PLAIN, "yyyy-mm-dd": DATE, "d/m": DATE, "h:mm": DATE, "[$-409]mmm\\-yy;@": DATE,
    "[h]:mm": ELAPSED, "[ss]": ELAPSED,
}  # fmt: skip


@pytest.mark.parametrize(("code", "kind"), FORMATS.items())
def test_a_format_says_whether_it_shows_a_date(code: str, kind: int) -> None:
    assert kind_of_format(164, code) == kind


DAYS = {
    (1.0, False): "1900-01-01", (59.0, False): "1900-02-28", (61.0, False): "1900-03-01", (46053.0, False): "2026-01-31",
    (44591.0, True): "2026-01-31", (2_958_465.0, False): "9999-12-31", (0.5, False): "12:00:00", (0.0, True): "1904-01-01",
    (46053 + 1 / 86_400_000, False): "2026-01-31T00:00:00.001",
}  # fmt: skip


@pytest.mark.parametrize(("days", "from_1904"), DAYS)
def test_days_are_counted_as_spreadsheets_do(days: float, from_1904: bool) -> None:  # noqa: FBT001
    assert shown(days, DATE, from_1904=from_1904) == DAYS[days, from_1904]


def test_days_after_the_last_are_none() -> None:
    assert shown(2_958_466, DATE, from_1904=False) is None
    assert shown(2_957_004, DATE, from_1904=True) is None
    assert shown(-0.1, ELAPSED, from_1904=False) is None
