"""How many requests a key may make: a fixed number in a minute that begins with the first of them, counted by each process for itself.

The counters are those of keys that were used within the last minute, so there are never more of them than keys.
"""

from __future__ import annotations

import math
import time
from typing import Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from ..errors import RateLimited

WINDOW_S: Final = 60

RawHeaders = list[tuple[bytes, bytes]]


class Quota:
    """Counts the requests of keys, and tells them what is left (draft-ietf-httpapi-ratelimit-headers-10)."""

    def __init__(self, per_minute: int) -> None:
        self._item = RateLimitItemPerMinute(per_minute)
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._policy = f'"key";q={per_minute};w={WINDOW_S}'.encode()

    def take(self, key_id: str, headers: RawHeaders) -> None:
        """Counts a request of a key and adds to `headers` what is left of its share. Raises RateLimited where nothing is."""
        has_room = self._limiter.hit(self._item, key_id)
        window = self._limiter.get_window_stats(self._item, key_id)
        wait_s = max(1, math.ceil(window.reset_time - time.time()))
        headers += [(b"ratelimit-policy", self._policy), (b"ratelimit", f'"key";r={window.remaining};t={wait_s}'.encode())]
        if not has_room:
            raise RateLimited(f"The key may make {self._item.amount} requests in {WINDOW_S} s; go on in {wait_s} s.", retry_after_s=wait_s)
