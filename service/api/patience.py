"""How long a caller may take to send what it has begun to send, and to take what it has asked for."""

from __future__ import annotations

from typing import Final

SLOWEST_BYTES_PER_S: Final = 64 * 1024
"""Rate [B/s] that is waited for, however long it takes: 8 MiB in 128 s."""


def last_moment(began: float, size: int, receive_s: float) -> float:
    """Until when [s] a caller that began at `began` [s] and has sent `size` bytes may go on: each byte gives it more time.

    >>> last_moment(100.0, 131072, receive_s=15.0)
    117.0
    """
    return began + receive_s + size / SLOWEST_BYTES_PER_S
