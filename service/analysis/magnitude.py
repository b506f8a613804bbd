"""Numbers that follow from several allowed ones, such as sums and ratios, may still be too large to be written."""

from __future__ import annotations

from ..errors import refuse

LARGEST = 1e300
"""As of counts."""


def check(pointer: str, what: str, *values: float | None) -> None:
    """Raises `InvalidInput` (too-large) at `pointer` where one of `values` exceeds 1e300."""
    if any(value is not None and not abs(value) <= LARGEST for value in values):
        raise refuse(pointer, "too-large", f"{what} exceeds 1e300.")
