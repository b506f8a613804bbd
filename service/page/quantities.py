"""Numbers for people: four digits and a prefix. The exact ones are in the JSON."""

from __future__ import annotations

import math
from typing import Final

LARGE: Final = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
SMALL: Final = ("", "m", "µ", "n", "p")
PREFIXED: Final = {"s": SMALL, "B": LARGE, "FLOP": LARGE, "B/s": LARGE, "FLOP/s": LARGE, "W": LARGE, "Hz": LARGE}
"""Units that take prefixes, and which: seconds the small ones."""


def quantity(value: float | None, unit: str) -> str:
    """A value with its unit; a dash for what does not exist.

    >>> quantity(240518168576, "FLOP"), quantity(0.00024309, "s"), quantity(473.917, "FLOP/B")
    ('240.5 GFLOP', '243.1 µs', '473.9 FLOP/B')
    """
    if value is None:
        return "–"
    prefixes = PREFIXED.get(unit)
    step = _step(value)
    if prefixes is None or step == 0 or (step < 0) != (prefixes is SMALL) or abs(step) >= len(prefixes):
        return f"{number(value)} {unit}"
    return f"{number(value / 1000.0**step)} {prefixes[abs(step)]}{unit}"


def number(value: float) -> str:
    """Four significant digits, with an exponent only where zeros would hide them; whole numbers below ten million in full.

    >>> number(309.6988), number(28672), number(0.5), number(1e30)
    ('309.7', '28,672', '0.5', '1e+30')
    """
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    rounded = float(f"{value:.4g}")
    if not 1e-4 <= abs(rounded) < 1e7:
        return f"{value:.4g}"
    text = f"{rounded:,.8f}".rstrip("0")
    return text.rstrip(".")


def times(factor: float) -> str:
    """A ratio as people say it.

    >>> times(1.6046), times(2.0)
    ('1.605×', '2×')
    """
    return f"{number(factor)}×"


def _step(value: float) -> int:
    """How many thousands `value` has, once it is rounded."""
    rounded = float(f"{value:.4g}")
    return math.floor(math.log10(abs(rounded)) / 3 + 1e-12) if rounded else 0
