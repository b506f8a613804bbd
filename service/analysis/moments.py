"""Moments: counted in the store, written out in documents."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now_us() -> int:
    """The time [µs since 1970-01-01 UTC]."""
    return time.time_ns() // 1000


def moment(us: int) -> str:
    """A time [µs since 1970-01-01 UTC] as documents write it.

    >>> moment(1_700_000_000_000_001)
    '2023-11-14T22:13:20.000001Z'
    """
    whole = datetime.fromtimestamp(us // 1_000_000, UTC)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{us % 1_000_000:06d}Z"
