"""The parameters of a kernel on a chip: those of the program that would run it, from the nearest calibration that has them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from ..engine.kernels.spread import Band
from .calibration import Basis, Calibration, Calibrations
from .kernel_fit import MODELS, KernelFit, KernelName

WIDTHS: Final = ((128, "narrow"), (256, "wide"), (2**53, "widest"))
"""Heads up to so wide run on programs of their own."""
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
    """Of `programs`, the likest first, the first that any calibration has, from the nearest; None where none has any.

    On a chip with other numbers than the one that was measured the band is that of chips of which nothing was.
    Another program on the same chip says less than the same program on another chip. What it says of a kernel that nobody measured is
    held for as uncertain as what is said of a format that was left out.
    """
    for program in programs:
        fits = [(basis, each, fit) for basis, each in found.nearest if (fit := _fit(each, name, program)) is not None]
        if fits:
            basis, nearest, fit = fits[0]
            taken = _kernel(name, fit, basis, nearest.ref, program)
            if basis == "architecture":
                taken = taken._replace(band=next((each.band.si for _, of, each in fits if of.file.chip is None), taken.band))
            return taken if program == programs[0] else _borrowed(taken, kernel(found, name, (ANY,)))
    return None


def _fit(calibration: Calibration, name: KernelName, program: str) -> KernelFit | None:
    section = calibration.file.kernels
    return None if section is None else section.fits.get(name, {}).get(program)


def _borrowed(taken: Kernel, unseen: Kernel | None) -> Kernel:
    """`taken` for a kernel that it was not fitted on, with the band of what is `unseen`."""
    return taken._replace(basis="generic", is_borrowed=True, band=taken.band if unseen is None else unseen.band)


def product_programs(bits: int, *, in_blocks: bool = False) -> tuple[str, ...]:
    """The programs of products whose operands have so many bits; `in_blocks` where scales stand by blocks of both operands."""
    return (*(("bits-8-blocks",) if in_blocks and bits == 8 else ()), f"bits-{bits}", "bits-16")


def attention_programs(q_bits: int, kv_bits: int, head_dim: float) -> tuple[str, ...]:
    """The programs of attention with these formats and heads of this width, then those of other widths and of 16 bits."""
    exact = next(index for index, (most, _) in enumerate(WIDTHS) if head_dim <= most)
    widths = sorted(range(len(WIDTHS)), key=lambda index: abs(index - exact))
    formats = dict.fromkeys((f"q{q_bits}-kv{kv_bits}", f"q16-kv{kv_bits}", "q16-kv16"))
    return tuple([f"{each}-{WIDTHS[index][1]}" for each in formats for index in widths])


def latent_programs(q_bits: int, kv_bits: int) -> tuple[str, ...]:
    """The programs of latent attention with these formats."""
    return tuple(dict.fromkeys((f"q{q_bits}-kv{kv_bits}", f"q16-kv{kv_bits}", "q16-kv16")))


def _kernel(name: KernelName, fit: KernelFit, basis: Basis, ref: str, program: str) -> Kernel:
    model, values = MODELS[name], fit.values
    columns = [np.array([values.get(parameter, 0.0)]) for parameter in model._fields]
    return Kernel(model._make(columns), fit.band.si, basis, ref, is_borrowed=program == ANY)
