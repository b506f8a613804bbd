"""Three-dimensional convolution, volumes or clips of depth x height x width.

operations  2·batch·positions·(in_channels/groups)·kernel_depth·kernel_height·kernel_width·out_channels on the matrix unit
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


@op("conv3d")
@dataclass(frozen=True, kw_only=True)
class Conv3d(Convolution):
    depth: Real = dim("slices of a volume, or frames of a clip")
    height: Real = dim("rows of a slice")
    width: Real = dim("columns of a slice")
    kernel_depth: Real = dim("slices of a kernel")
    kernel_height: Real = dim("rows of a kernel")
    kernel_width: Real = dim("columns of a kernel")

    example: ClassVar = example(batch=4, depth=16, height=56, width=56, kernel_depth=3, kernel_height=3, kernel_width=3)
    axes: ClassVar = {"depth": "kernel_depth", "height": "kernel_height", "width": "kernel_width"}
