"""Calibrations of kernels as files of the catalogue."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from service.catalogue import Catalogue
from service.catalogue.kernel_fit import MODELS, dimension
from service.catalogue.kernels import ANY, SELDOM
from service.catalogue.units import Dimension

from .bands import Band, Place, bands
from .calibrate import APART, FAMILIES, Fitted

CHIP_APART: Final = "four fits that leave out a quarter of the rows each"
FAMILY_APART: Final = "fits that leave out one chip each"
FORMAT_APART: Final = "fits that leave out the chips' kernels of one number format each"
LENT: Final = "no second chip was measured: those of Blackwell, each left out"
NAMES: Final = {
    "ampere": "Ampere, GA100",
    "hopper": "Hopper",
    "blackwell": "Blackwell, GB100 and its successors",
    "workstation-ampere": "Ampere, GA102",
    "workstation-blackwell": "Blackwell, GB202",
}
REGIME: Final = (
    "One kernel, or the few of one op, in a steady loop on the device: replays of a CUDA graph, or medians of a profiler, without "
    "the launch by the host. Operands that are small against the last cache stay in it. The fastest of the libraries that were measured. "
    "Attention appends the new keys and values to their cache; products of 8 and 4 bits quantise their activation."
)
UNITS: Final = {
    Dimension.TIME: ("us", 1e6),
    Dimension.BYTES: ("KiB", 1 / 1024),
    Dimension.BYTES_PER_CLOCK: ("B/clk", 1.0),
    Dimension.RATIO: ("ratio", 1.0),
}


Stated = tuple[Fitted, Band, str]
"""A fit with its band, and how its errors were found."""


@dataclass(frozen=True)
class File:
    """A calibration of kernels: of what, and the fits it states."""

    id: str
    name: str
    confidence: str
    why: str
    of: Mapping[str, str]
    """the chip or the architectures, as the file states them"""
    fits: Sequence[Stated]

    def write(self, folder: Path, *, revision: int, date: dt.date, reason: str) -> None:
        """The file in `folder`; the revision before stays beside it."""
        newest = folder / f"{self.id}.toml"
        if revision > 1:
            newest.rename(folder / f"{self.id}@{revision - 1}.toml")
        head = {
            "id": f'"{self.id}"',
            "revision": str(revision),
            "date": date.isoformat(),
            "reason": f'"{reason}"',
            "confidence": f'"{self.confidence}"',
            "confidence_why": f'"{self.why}"',
            "name": f'"{self.name}"',
            **self.of,
        }
        fits = (line for stated in self.fits for line in _lines(*stated))
        lines = [*_members(head), *_table("kernels", {"regime": f'"{REGIME}"'}), *fits]
        newest.write_text("\n".join(lines) + "\n", encoding="utf-8")


def files(fits: Iterable[Fitted], catalogue: Catalogue) -> Iterator[File]:
    """One file for each chip that was measured, one for each family, one for any chip."""
    every = sorted(fits, key=lambda fit: (list(MODELS).index(fit.kernel), fit.name))
    band = bands(every)
    chips = sorted({fit.chips[0] for fit in every if len(fit.chips) == 1})
    for chip in chips:
        mine = [(fit, band[fit.place], CHIP_APART) for fit in every if fit.chips == (chip,)]
        name = catalogue.chip(chip).name
        yield File(
            f"{chip}-kernels", name, "medium", "Fitted on measured rows; the errors are of rows left out.", {"chip": f'"{chip}"'}, mine
        )
    wide = {(fit.kernel, fit.name): fit for fit in every if set(fit.chips) <= set(FAMILIES["blackwell"]) and len(fit.chips) > 1}
    for family, members in FAMILIES.items():
        mine = [*_of_family(every, band, members, wide)]
        architectures = sorted({each for member in members for each in _of_die(catalogue, member)})
        why = f"{len(members)} of its chips {'was' if len(members) == 1 else 'were'} timed; another may differ."
        yield File(f"{family}-kernels", NAMES[family], "low", why, {"architectures": _names(architectures)}, mine)
    common = [(fit, band[fit.place], FORMAT_APART if fit.name == ANY else FAMILY_APART) for fit in every if _is_common(fit)]
    yield File("generic-kernels", "Any chip", "low", "Fitted on chips of one maker; how far that carries is in the errors.", {}, common)


def _of_family(
    every: Sequence[Fitted], band: Mapping[Place, Band], members: tuple[str, ...], wide: Mapping[tuple[str, str], Fitted]
) -> Iterator[Stated]:
    """What the chips of a family share; a family of one takes the parameters of its chip, and how far those carry from Blackwell."""
    for fit in every:
        if len(fit.chips) > 1 and set(fit.chips) <= set(members):
            yield fit, band[fit.place], FAMILY_APART
        elif fit.chips == members and (lent := wide.get((fit.kernel, fit.name))):
            worse = max(lent, fit, key=lambda each: each.median)
            yield replace(fit, median=worse.median, p90=worse.p90), band[worse.place], LENT


def _of_die(catalogue: Catalogue, chip: str) -> Iterator[str]:
    """The architectures that name the die of a chip, with and without a processor beside it."""
    die = catalogue.chip(chip).architecture.partition(" +")[0]
    yield from (each.architecture for each in catalogue.chips if each.architecture.partition(" +")[0] == die)


def _is_common(fit: Fitted) -> bool:
    """Whether it speaks of any chip. Heads of 192 have slow kernels of one library on Blackwell, which say nothing of another."""
    return (
        not fit.name.endswith(f"-{SELDOM}")
        and not set(fit.chips) & set(APART)
        and not any(set(fit.chips) <= set(members) for members in FAMILIES.values())
    )


def _lines(fit: Fitted, band: Band, apart: str) -> Iterator[str]:
    place = f"kernels.fits.{fit.kernel}.{fit.name}"
    is_profiled = fit.chips == ("nvidia-a40",) or (fit.kernel == "passes" and fit.name != "quantize")
    source = "vidur-kernels" if is_profiled else "aiconfigurator-kernels"
    yield from _table(place, {"source": f'"{source}"', "chips": _names(fit.chips), "rows": str(fit.rows)})
    stated = {name: value for name in MODELS[fit.kernel]._fields if (value := fit.parameters.get(name))}
    yield from _table(f"{place}.parameters", {name: _quantity(name, value) for name, value in stated.items()})
    edges = {"edges_us": _numbers(1e6 * band.edges_s)} if band.edges_s.size else {}
    yield from _table(f"{place}.band", {**edges, "p10": _numbers(band.p10), "p90": _numbers(band.p90)})
    yield from _table(f"{place}.errors", {"median": _digits(fit.median, 3), "p90": _digits(fit.p90, 3), "kept_apart": f'"{apart}"'})


def _quantity(name: str, value: float) -> str:
    unit, scale = UNITS[dimension(name)]
    return f'{{ value = {_digits(value * scale)}, unit = "{unit}" }}'


def _names(names: Iterable[str]) -> str:
    quoted = (f'"{name}"' for name in names)
    return f"[{', '.join(quoted)}]"


def _numbers(values: Iterable[float]) -> str:
    return f"[{', '.join(_digits(value, 3) for value in values)}]"


def _table(name: str, members: Mapping[str, str]) -> Iterator[str]:
    yield from ("", f"[{name}]", *_members(members))


def _members(members: Mapping[str, str]) -> Iterator[str]:
    width = max(map(len, members))
    yield from (f"{name:{width}} = {value}" for name, value in members.items())


def _digits(value: float, count: int = 4) -> str:
    """`value` to so many significant digits, written without an exponent."""
    return np.format_float_positional(float(f"{value:.{count}g}"), trim="0")
