"""The parameters of a kernel on a chip: from the nearest calibration that has them, and which that was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..engine.kernels.spread import Band
from .calibration import Basis, Calibrations
from .kernel_fit import MODELS, KernelFit, KernelName


class Kernel(NamedTuple):
    """Parameters as columns of one row, the band, and where they come from."""

    parameters: NamedTuple
    band: Band
    basis: Basis
    ref: str
    """the calibration with its revision"""
    program: str


def kernel(found: Calibrations, name: KernelName, programs: Sequence[str]) -> Kernel | None:
    """The first of `programs`, the likest first, that the nearest calibration with any of them has; None where no one has."""
    for basis, calibration in found.nearest:
        section = calibration.file.kernels
        fits = {} if section is None else section.fits.get(name, {})
        for program in programs:
            if program in fits:
                return _kernel(name, fits[program], basis, calibration.ref, program)
    return None


def _kernel(name: KernelName, fit: KernelFit, basis: Basis, ref: str, program: str) -> Kernel:
    model, values = MODELS[name], fit.values
    columns = [np.array([values.get(parameter, 0.0)]) for parameter in model._fields]
    return Kernel(model._make(columns), fit.band.si, basis, ref, program)
