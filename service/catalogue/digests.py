"""Digests: two equal ones mean equal numbers, whatever the units, the order or the wording of the files.

`digests.txt` lists one line per revision of every entry that was ever published. A test compares it with the files, so that
no number changes under a revision that somebody may have pinned.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

SiValue = int | float | bool | list[int]


def digest_of(values: Mapping[str, SiValue]) -> str:
    """SHA-256 over the SI values by name, in hexadecimal.

    >>> digest_of({"a": 1, "b": 0.5}) == digest_of({"b": 0.5, "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def digest_of_set(lines: Iterable[str]) -> str:
    """SHA-256 over the lines of all entries, sorted."""
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
