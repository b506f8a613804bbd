"""The parameters of a kernel on a chip: those of the program that would run it, from the nearest calibration that has them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np

from ..engine.kernels.spread import Band, around
from .calibration import Basis, Calibration, Calibrations
from .kernel_fit import MODELS, KernelFit, KernelName

WIDTHS: Final = ((64, "slim"), (128, "narrow"), (192, "medium"), (256, "wide"), (2**53, "widest"))
"""Heads up to so wide run on programs of their own."""
TIMED_WIDTHS: Final = (64.0, 128.0, 192.0, 256.0, 512.0)
"""Those that were measured."""
SELDOM: Final = "medium"
"""The width of which few libraries have kernels, so that what nobody measured beside it most likely runs on those of the next."""
TIMED: Final = frozenset({"bf16", "fp16", "fp8", "fp4"})
"""Arithmetic classes of which kernels were measured."""
ANY: Final = "any"
"""The program of whatever formats were not: fitted on all that were, with the errors of a format that its fit has not seen."""


class Kernel(NamedTuple):
    """Parameters as columns of one row, the band, and where they come from."""

    parameters: Any
    """of the kernel's model, see `kernel_fit.MODELS`"""
    band: Band
    basis: Basis
    ref: str
    """the calibration with its revision"""
    is_borrowed: bool
    """whether it is of other formats or of other widths of a head than those asked for"""


@lru_cache(maxsize=4096)
def kernel(found: Calibrations, name: KernelName, programs: tuple[str, ...]) -> Kernel | None:
    """Of `programs`, the likest first, the nearest that any calibration has; None where none has any.

    On a chip with other numbers than the one that was measured the band is also that of chips of which nothing was.
    What a program says of another kernel is held for as uncertain as what is said of a format that was left out.
    """
    for program, basis, calibration in _nearest(found, programs):
        if (fit := _fit(calibration, name, program)) is not None:
            taken = _kernel(name, fit, basis, calibration.ref, program)
            if basis == "architecture" and (others := _of_chips_left_out(found, name, program)) is not None:
                taken = taken._replace(band=around(taken.band, others))
            return taken if program == programs[0] else _borrowed(taken, kernel(found, name, (ANY,)))
    return None


def _fit(calibration: Calibration, name: KernelName, program: str) -> KernelFit | None:
    section = calibration.file.kernels
    return None if section is None else section.fits.get(name, {}).get(program)


def _of_chips_left_out(found: Calibrations, name: KernelName, program: str) -> Band | None:
    """The nearest band that is not of one chip's own rows; None where there is none."""
    fits = (_fit(each, name, program) for _, each in found.nearest if each.file.chip is None)
    return next((fit.band.si for fit in fits if fit is not None), None)


def _nearest(found: Calibrations, programs: tuple[str, ...]) -> Iterator[tuple[str, Basis, Calibration]]:
    """Where to look: of the same formats, heads of another width on the chip or its kin before the same width on chips of other
    architectures; other formats on the same chip after both."""
    for _, alike in groupby(programs, _formats):
        widths = [*alike]
        for is_generic in (False, True):
            of = [(basis, each) for basis, each in found.nearest if (basis == "generic") is is_generic]
            yield from ((program, basis, each) for program in widths for basis, each in of)


def _formats(program: str) -> str:
    """A program without the width of its heads."""
    return next((program.removesuffix(f"-{width}") for _, width in WIDTHS if program.endswith(f"-{width}")), program)


def _borrowed(taken: Kernel, unseen: Kernel | None) -> Kernel:
    """`taken` for a kernel that it was not fitted on, with the band of what is `unseen`."""
    return taken._replace(basis="generic", is_borrowed=True, band=taken.band if unseen is None else unseen.band)


def product_programs(bits: int, *, in_blocks: bool = False) -> tuple[str, ...]:
    """The programs of products whose operands have so many bits; `in_blocks` where scales stand by blocks of both operands."""
    return (*(("bits-8-blocks",) if in_blocks and bits == 8 else ()), f"bits-{bits}", "bits-16")


def attention_programs(q_bits: int, kv_bits: int, head_dim: float) -> tuple[str, ...]:
    """The programs of attention with these formats and heads of this width, then those of other widths and of 16 bits.

    The nearest widths come first, and of two that are as near the wider.
    """
    exact = next(most for most, _ in WIDTHS if head_dim <= most)
    widths = sorted(WIDTHS, key=lambda width: (abs(width[0] - exact), -width[0]))
    formats = dict.fromkeys((f"q{q_bits}-kv{kv_bits}", f"q16-kv{kv_bits}", "q16-kv16"))
    return tuple([f"{each}-{name}" for each in formats for _, name in widths])


def latent_programs(q_bits: int, kv_bits: int) -> tuple[str, ...]:
    """The programs of latent attention with these formats."""
    return tuple(dict.fromkeys((f"q{q_bits}-kv{kv_bits}", f"q16-kv{kv_bits}", "q16-kv16")))


def _kernel(name: KernelName, fit: KernelFit, basis: Basis, ref: str, program: str) -> Kernel:
    model, values = MODELS[name], fit.values
    columns = [np.array([values.get(parameter, 0.0)]) for parameter in model._fields]
    return Kernel(model._make(columns), fit.band.si, basis, ref, is_borrowed=program == ANY)
