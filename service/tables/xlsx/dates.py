"""Cells that are shown as dates: a number of days, whose format alone says so. They become text in the form of ISO 8601."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

from .archive import Archive, refused
from .markup import follow_all

MOST_STYLES: Final = 65_536  # more than any spreadsheet program lets a workbook have

_BUILT_IN: Final = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_ELAPSED_BUILT_IN: Final = 46  # [h]:mm:ss
_ASIDE: Final = re.compile(r'"[^"]*"|\\.|_.|\*.')
_ELAPSED: Final = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_BRACKETED: Final = re.compile(r"\[[^\]]*\]")
_LAST_DAY: Final = 2_958_465  # 9999-12-31
_LATER: Final = 1462  # days from the usual epoch to that of 1904
_DAY_MS: Final = 86_400_000

PLAIN, DATE, ELAPSED = 0, 1, 2


def kind_of_format(number: int, code: str) -> int:
    """Whether a number format shows a date, a time that has gone by, or a plain number.

    >>> kind_of_format(164, 'yyyy"s"'), kind_of_format(164, "[h]:mm"), kind_of_format(164, '0.0 "s"'), kind_of_format(9, "")
    (1, 2, 0, 0)
    """
    bare = _ASIDE.sub("", code.split(";", 1)[0])
    if number == _ELAPSED_BUILT_IN or _ELAPSED.search(bare):
        return ELAPSED
    bare = _BRACKETED.sub("", bare)
    return DATE if number in _BUILT_IN or re.search("[ymdhs]", bare.replace("General", ""), re.IGNORECASE) else PLAIN


def date_styles(archive: Archive, part: str) -> dict[str, int]:
    """The styles of cells that show no plain number, by the index that a cell states, with their kinds."""
    codes: dict[str, str] = {}
    kinds: list[int] = []
    is_cell = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal is_cell
        if name == "numFmt":
            codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name in {"cellXfs", "cellStyleXfs"}:
            is_cell = name == "cellXfs"
        elif name == "xf" and is_cell:
            number = attributes.get("numFmtId", "0")
            kinds.append(kind_of_format(int(number), codes.get(number, "")))
        if max(len(kinds), len(codes)) > MOST_STYLES:
            raise refused(f"A workbook has at most {MOST_STYLES} styles.")

    if part:
        follow_all(archive.pieces(part), start)
    return {str(at): kind for at, kind in enumerate(kinds) if kind != PLAIN}


def shown(days: float, kind: int, *, from_1904: bool) -> str | None:
    """A date, a date with a time, a time of the day, or hours that have gone by; None for what no calendar has.

    >>> shown(46053, DATE, from_1904=False), shown(46053.5, DATE, from_1904=False), shown(0.25, DATE, from_1904=False)
    ('2026-01-31', '2026-01-31T12:00:00', '06:00:00')
    >>> shown(1.25, ELAPSED, from_1904=False)
    '30:00:00'
    """
    if not 0 <= days <= _LAST_DAY - (_LATER if from_1904 else 0):
        return None
    day, rest = divmod(round(days * _DAY_MS), _DAY_MS)
    hours, minutes, seconds = rest // 3_600_000, rest // 60_000 % 60, rest % 60_000 / 1000
    clock = f"{hours:02d}:{minutes:02d}:" + (f"{seconds:06.3f}" if rest % 1000 else f"{seconds:02.0f}")
    if kind == ELAPSED:
        return f"{day * 24 + hours}{clock[2:]}"
    if not day and not from_1904:
        return clock
    date = _date(day, from_1904=from_1904).isoformat()
    return f"{date}T{clock}" if rest else date


def _date(day: int, *, from_1904: bool) -> dt.date:
    """Day 60 of the other epoch is a 29 February 1900 that never was; the days before it count from one day later."""
    first = dt.date(1904, 1, 1) if from_1904 else dt.date(1899, 12, 31 if day < 60 else 30)
    return first + dt.timedelta(days=day)
