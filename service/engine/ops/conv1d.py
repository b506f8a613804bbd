"""One-dimensional convolution: out[b, o, t] = Σ a[b, c, t·stride + s·dilation − padding] · b[o, c, s] over channels c and taps s.

operations  2·batch·positions·(in_channels/groups)·kernel·out_channels on the matrix unit
traffic     input, kernels and output move once each
Source      see `engine/convolution.py`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Real
from ..convolution import Convolution, example
from ..registry import op
from ..term import dim


@op("conv1d")
@dataclass(frozen=True, kw_only=True)
class Conv1d(Convolution):
    length: Real = dim("positions of the input")
    kernel: Real = dim("taps of a kernel")

    example: ClassVar = example(batch=16, length=4096, kernel=3)
    axes: ClassVar = {"length": "kernel"}
