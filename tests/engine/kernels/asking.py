"""Products, attention and chips to ask the kernels about."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from service.engine.arrays import Real, column
from service.engine.kernels.attend import Attend
from service.engine.kernels.flash import FlashParameters
from service.engine.kernels.gemm import GemmParameters
from service.engine.kernels.silicon import Silicon
from service.engine.kernels.split_kv import SplitParameters
from service.engine.kernels.tiling import Product, Tiling

PEAK = 312e12
"""bf16 peak of an A100 [FLOP/s]."""


def silicon(**changes: float) -> Silicon:
    """An A100 with some numbers changed."""
    numbers = {
        "cores": 108.0, "clock": 1.41e9, "cache_bytes": 40 * 2.0**20, "tile_bytes": 164 * 1024.0, "accumulator_bytes": 256 * 1024.0,
    }  # fmt: skip
    return Silicon.of({**numbers, **changes}, hbm_bandwidth=2.039e12)


def product(m: ArrayLike, n: ArrayLike, k: ArrayLike, *, batch: ArrayLike = 1.0, width: float = 2.0, cast: float = 0.0) -> Product:
    """A product of operands of `width` bytes an element."""
    return Product(column(m), column(n), column(k), column(batch), column(width), column(width), column(2.0), column(PEAK), column(cast))


def tiling(tm: float, tn: float, split: float = 1.0) -> Tiling:
    return Tiling(column(tm), column(tn), column(split))


def gemm_parameters(**changes: float) -> GemmParameters:
    """A kernel that loses nothing, with some parameters changed."""
    perfect = {
        "launch_s": 0.0, "math": 1.0, "memory": 1.0, "step_s": 0.0, "fill_s": 0.0, "drain": 0.0, "feed": 1e6, "overlap": 50.0,
        "throttle": 0.0,
        "quantized": 1.0, "hot": 0.0, "copies": 1.0, "split_s": 0.0, "quantize_s": 0.0, "quantize_row_s": 0.0, "eager_s": 0.0,
    }  # fmt: skip
    return GemmParameters(**{name: column(value) for name, value in {**perfect, **changes}.items()})


def usual_gemm() -> GemmParameters:
    """A kernel as measured ones are."""
    return gemm_parameters(
        launch_s=2e-6, math=0.85, memory=0.85, step_s=6e-8, fill_s=3e-7, drain=0.5, feed=64.0, overlap=3.0, throttle=0.05, quantized=0.3,
        hot=0.1,
        copies=2.0, split_s=7e-7, quantize_s=1.5e-6, quantize_row_s=2e-8, eager_s=2e-5,
    )  # fmt: skip


def usual_flash(**changes: float) -> FlashParameters:
    usual = {
        "launch_s": 5e-6, "math": 0.7, "memory": 0.7, "core_memory": 3.0, "step_s": 1e-7, "block_s": 1e-6, "overlap": 2.0, "tail": 0.9,
        "packs": 1.0, "throttle": 0.03, "exponential": 0.3, "append": 0.5, "eager_s": 2e-5,
    }  # fmt: skip
    return FlashParameters(**{name: column(value) for name, value in {**usual, **changes}.items()})


def usual_split(**changes: float) -> SplitParameters:
    usual = {
        "launch_s": 5e-6, "math": 0.5, "memory": 0.85, "step_s": 3e-7, "block_s": 2e-6, "core_memory": 3.0, "overlap": 2.0,
        "quantized": 0.4, "cache": 2.0, "join": 2.0, "width": 0.3, "rows": 0.1, "group": 0.0, "eager_s": 2e-5,
    }  # fmt: skip
    return SplitParameters(**{name: column(value) for name, value in {**usual, **changes}.items()})


def attend(
    batch: ArrayLike, heads: ArrayLike, kv_heads: ArrayLike, q_len: ArrayLike, kv_len: ArrayLike, *, window: ArrayLike | None = None
) -> Attend:
    """Causal bf16 attention with heads of 128."""
    width, keys = column(128.0), column(kv_len)
    return Attend(
        batch=column(batch),
        heads=column(heads),
        kv_heads=column(kv_heads),
        q_len=column(q_len),
        kv_len=keys,
        window=keys if window is None else column(window),
        is_causal=True,
        d_qk=width,
        d_v=width,
        q_bytes=column(2.0),
        kv_row_bytes=4.0 * width,
        out_bytes=column(2.0),
        peak=column(PEAK),
    )


def first(values: Real) -> float:
    return float(np.ravel(values)[0])
