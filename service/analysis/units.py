"""The unit that the name of a column tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

_SYMBOLS: Final[Mapping[str, str]] = {
    "flops_per_byte": "FLOP/B",
    "flops_per_s": "FLOP/s",
    "bytes_per_s": "B/s",
    "bytes_per_core": "B",
    "bytes": "B",
    "flops": "FLOP",
    "s": "s",
}
_ENDING: Final = re.compile(r"(?:(?:^|_)(flops_per_byte|flops_per_s|bytes_per_s|bytes_per_core|bytes|flops)|_(s))$")
_OF_ALL_BELOW: Final = ("peak_flops_per_s", "vector_peak_flops_per_s", "ridge_flops_per_byte", "bytes")
_BY_NAME: Final = frozenset({"axes", "factors", "levers", "mesh", "thresholds"})


def unit(name: str) -> str | None:
    """The unit of a column, None where it has none. Below an object of one quantity, names are those of classes and operands.

    >>> unit("time.lower_s"), unit("peak_flops_per_s.bf16"), unit("levers.b_bytes.speedup"), unit("ratios.bytes")
    ('s', 'FLOP/s', None, None)
    >>> unit("metrics.lower_s.delta"), unit("metrics.lower_s.ratio")
    ('s', None)
    """
    steps = name.split(".")
    if "ratios" in steps:
        return None
    if steps[0] == "metrics":  # each stands beside that of the base
        return None if steps[-1] == "ratio" else unit(steps[1])
    is_by_name = not _BY_NAME.isdisjoint(steps[:-1])
    telling = steps[-1] if is_by_name else next((step for step in steps if step in _OF_ALL_BELOW), steps[-1])
    found = _ENDING.search(telling.removesuffix("_after").removesuffix("_before").removesuffix("_total"))
    return _SYMBOLS[found[1] or found[2]] if found else None


def units(names: Iterable[str]) -> dict[str, str]:
    """The units of columns that have one."""
    return {name: found for name in names if (found := unit(name)) is not None}
