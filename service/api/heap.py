"""What the process does with memory that columns no longer need."""

from __future__ import annotations

from typing import Final

import numpy as np

KEPT_BYTES: Final = 2**25 - 2**16
"""The largest block that glibc ever keeps (mallopt(3), M_MMAP_THRESHOLD: 32 MiB), less its own words."""


def keep_freed_memory() -> None:
    """Have the process keep what columns leave for those that come; to be called once.

    glibc gives blocks above 128 KiB back to the system when they are freed, and fetching their pages anew takes several times as
    long as the arithmetic on them. It raises that bound to the largest block that was freed so far, and none is larger than this.
    """
    np.empty(KEPT_BYTES, np.uint8)
