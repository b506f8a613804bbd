"""Convolution as a matrix product: every output position multiplies the window that it sees by the kernels (implicit GEMM).

With P output positions and kernels of V taps, per group

    m = batch·P      k = in_channels/groups·V      n = out_channels/groups

operations  2·groups·m·k·n, taps that fall on the padding included, as kernels and counters do
traffic     the input, the kernels and the output move once each; windows overlap on the chip, not in memory
scales      of formats like mxfp8 run along what is summed: channels of input and output, channels and taps of a kernel
positions   along each dim ⌊(size + 2·padding − dilation·(kernel − 1) − 1)/stride⌋ + 1
Source      Dumoulin & Visin 2016, "A guide to convolution arithmetic for deep learning", relationship 14;
            Chetlur et al. 2014, "cuDNN: Efficient Primitives for Deep Learning", section 3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import Fault
from .arrays import Real, product
from .demand import Demand, Gemm, Operand, matrix_product
from .term import Formulas, Term, choice, dim

SOURCE = "implicit GEMM; Dumoulin & Visin 2016, relationship 14, for the output positions"


@dataclass(frozen=True, kw_only=True)
class Convolution(Term):
    """What the convolutions share; `axes` names the size and the kernel size along each dim."""

    batch: Real = dim("images, or sequences", default=1)
    in_channels: Real = dim("channels of the input")
    out_channels: Real = dim("channels of the output: kernels")
    stride: Real = dim("steps between windows, along every dim", default=1)
    padding: Real = dim("positions added on either side of every dim", default=0, least=0)
    dilation: Real = dim("distance between the taps of a kernel, along every dim", default=1)
    groups: Real = dim("groups of channels that are convolved apart; in_channels for depthwise", default=1)
    dtype: str | None = choice("format of input, kernels and output")
    a_dtype: str | None = choice("format of the input, a (dtype)")
    b_dtype: str | None = choice("format of the kernels, b (dtype)")
    out_dtype: str | None = choice("format of the output (dtype)")
    compute_dtype: str | None = choice("arithmetic class (the promotion of a's and b's formats)", "class")

    axes: ClassVar[Mapping[str, str]]

    @property
    def factors(self) -> tuple[str, ...]:
        return ("a", "b")

    @property
    def grows(self) -> tuple[str, ...]:
        return ("batch", "in_channels", "out_channels")

    def demand(self) -> Demand:
        sizes = [self._column(name) for name in self.axes]
        taps = [self._column(name) for name in self.axes.values()]
        positions = [self._positions(size, tap) for size, tap in zip(sizes, taps, strict=True)]
        inner = self.in_channels / self.groups
        gemm = Gemm(
            m=self.batch * product(positions),
            k=inner * product(taps),
            n=self.out_channels / self.groups,
            batch=self.groups,
        )
        return matrix_product(
            gemm,
            a=Operand("a", (self.batch, self.in_channels, *sizes), along=(1,)),
            b=Operand("b", (self.out_channels, inner, *taps), along=tuple(range(1, 2 + len(taps)))),
            out=Operand("out", (self.batch, self.out_channels, *positions), written=True, along=(1,)),
            is_plain=False,
        )

    def _column(self, name: str) -> Real:
        value: Real = self.__dict__[name]
        return value

    def _positions(self, size: Real, taps: Real) -> Real:
        return np.floor((size + 2.0 * self.padding - self.dilation * (taps - 1.0) - 1.0) / self.stride) + 1.0

    def formulas(self) -> Formulas:
        taps = "·".join(self.axes.values())
        places = "·".join(f"(⌊({size} + 2·padding − dilation·({kernel} − 1) − 1)/stride⌋ + 1)" for size, kernel in self.axes.items())
        return Formulas(
            flops=f"2·batch·{places}·in_channels/groups·{taps}·out_channels",
            elements={
                "a": f"batch·in_channels·{'·'.join(self.axes)}",
                "b": f"out_channels·in_channels/groups·{taps}",
                "out": f"batch·out_channels·{places}",
            },
            source=SOURCE,
        )

    def faults(self) -> list[Fault]:
        uneven = "Channels are dealt out over groups; this number is no multiple of groups."
        faults = [
            Fault(f"/{name}", "not-divisible", uneven)
            for name in ("in_channels", "out_channels")
            if (self._column(name) % self.groups != 0).any()
        ]
        faults += [
            Fault(f"/{kernel}", "out-of-range", f"The kernel is larger than {size} with its padding.")
            for size, kernel in self.axes.items()
            if (self._positions(self._column(size), self._column(kernel)) < 1).any()
        ]
        return faults


def example(**sizes: int) -> dict[str, Any]:
    """An example question: a layer in bf16."""
    return {"in_channels": 256, "out_channels": 256, "padding": 1, "dtype": "bf16", **sizes}
