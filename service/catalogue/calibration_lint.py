"""What a plausible calibration looks like: rules that catch a slip of units, or a fit that found a corner instead of a fabric."""

from __future__ import annotations

from collections.abc import Iterator

from .calibration_file import CalibrationFile, KindOfCollective
from .lint import Finding

SHARES = {"low_share": 1.0, "bulk_share": 1.15}
"""Of the rate of a link, at most. A switch that adds what it is sent lets an all-reduce pass its link."""

MICROSECONDS = {"start": (1e-6, 1e-4), "step": (1e-8, 1e-4)}
"""Of a kernel, and of a round between chips [s]."""


def lint(calibration: CalibrationFile) -> list[Finding]:
    """Everything about `calibration` that a reader should look at again."""
    section = calibration.collectives
    return [] if section is None else [found for name, kind in section.kinds.items() for found in _odd(f"collectives.kinds.{name}", kind)]


def _odd(place: str, kind: KindOfCollective) -> Iterator[Finding]:
    parameters = kind.parameters.si
    for name, most in SHARES.items():
        if parameters[name] > most:
            yield Finding(f"{place}.parameters.{name}", f"is more than {most} of the link")
    if parameters["low_share"] >= parameters["bulk_share"]:
        yield Finding(f"{place}.parameters.low_share", "is not below bulk_share, so the bulk protocol is for nothing")
    for name, (low, high) in MICROSECONDS.items():
        if name in parameters and not low <= parameters[name] <= high:
            yield Finding(f"{place}.parameters.{name}", f"is not between {low} and {high} s")
    if kind.errors.median > kind.errors.p90:
        yield Finding(f"{place}.errors.median", "is above the 90th percentile")
    for name, pair in (("ranks", kind.ranks), ("sizes", kind.sizes)):
        if pair is not None and pair[0] > pair[1]:
            yield Finding(f"{place}.{name}", "are not least and largest")
