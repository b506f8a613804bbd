"""Two-dimensional convolution, images of height x width.

operations  2·batch·positions·(in_channels/groups)·kernel_height·kernel_width·out_channels on the matrix unit
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


@op("conv2d")
@dataclass(frozen=True, kw_only=True)
class Conv2d(Convolution):
    height: Real = dim("rows of an image")
    width: Real = dim("columns of an image")
    kernel_height: Real = dim("rows of a kernel")
    kernel_width: Real = dim("columns of a kernel")

    example: ClassVar = example(batch=32, height=56, width=56, kernel_height=3, kernel_width=3)
    axes: ClassVar = {"height": "kernel_height", "width": "kernel_width"}
