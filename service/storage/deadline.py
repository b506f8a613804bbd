"""Until when the database may keep a caller waiting.

A server that is frozen keeps its connections open and says nothing, and no limit of its own ends that. So the time is kept on our
side: `until` sets it for all that a thread does inside, and whoever waits for the server asks `remaining_s`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..errors import Unavailable

_ENDS_AT: ContextVar[float] = ContextVar("_ENDS_AT", default=math.inf)


@contextmanager
def until(ends_at: float) -> Iterator[None]:
    """Inside, the database may be waited for until `ends_at` [s of the monotonic clock]; without it there is no limit."""
    mark = _ENDS_AT.set(ends_at)
    try:
        yield
    finally:
        _ENDS_AT.reset(mark)


def remaining_s() -> float:
    """How much longer [s] the database may be waited for; infinite where nothing limits it.

    >>> remaining_s()
    inf
    """
    return _ENDS_AT.get() - time.monotonic()


def too_late() -> Unavailable:
    """What a caller is told whose time is over."""
    return Unavailable(
        "The database did not answer in time. A change that was asked for may or may not have been made; asking again is safe.",
        code="deadline-exceeded",
        retry_after_s=5,
    )
