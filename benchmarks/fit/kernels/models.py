"""What is fitted of each kernel, within which bounds, and what around the kernel was measured with it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from service.engine.kernels import flash, gemm, search, split_kv, vector
from service.engine.kernels.flash import FlashParameters
from service.engine.kernels.gemm import GemmParameters
from service.engine.kernels.physics import GRAPH, RESIDENT, State
from service.engine.kernels.search import Problem
from service.engine.kernels.split_kv import SplitParameters
from service.engine.kernels.tiling import fits
from service.engine.kernels.vector import VectorParameters

from .bounded import Model, Range, Real
from .measured import Asked, Moe, Passed, Told

LOOP = State(GRAPH, RESIDENT)
"""The state of the measured loops."""
EAGER_S = 2.5e-5
"""What a launch by the host adds, which rows of steady loops do not say: LLMCompass has 30 µs for products that take 5 on an A100."""

GEMM = {
    "launch_s": Range(3e-7, 3e-5, 2e-6),
    "math": Range(0.3, 1.0, 0.85),
    "memory": Range(0.3, 1.0, 0.85),
    "step_s": Range(3e-9, 1.5e-6, 6e-8),
    "fill_s": Range(1e-8, 3e-6, 3e-7),
    "drain": Range(0.01, 1.0, 0.3),
    "feed": Range(6.4, 256.0, 64.0),
    "overlap": Range(1.1, 12.0, 3.0),
    "throttle": Range(0.001, 0.25, 0.05),
    "quantized": Range(0.02, 1.0, 0.3),
    "hot": Range(0.01, 1.0, 0.1),
    "copies": Range(1.0, 6.0, 2.0),
    "split_s": Range(1e-7, 4e-5, 7e-7),
}
QUANTIZED = {**GEMM, "quantize_s": Range(1e-8, 6e-6, 1.5e-6), "quantize_row_s": Range(1e-9, 1e-5, 5e-8)}
LAYER = {
    **{name: each for name, each in GEMM.items() if name not in ("hot", "copies", "launch_s", "split_s")},
    "layer_s": Range(2e-6, 6e-5, 1.5e-5),
    "around": Range(0.02, 2.0, 0.4),
    "expert_s": Range(1e-10, 2e-7, 1e-8),
}
FLASH = {
    "launch_s": Range(3e-7, 6e-5, 5e-6),
    "math": Range(0.2, 1.0, 0.7),
    "memory": Range(0.2, 1.0, 0.7),
    "core_memory": Range(0.3, 20.0, 3.0),
    "step_s": Range(3e-9, 5e-6, 1e-7),
    "block_s": Range(1e-8, 2e-5, 1e-6),
    "overlap": Range(1.1, 12.0, 3.0),
    "tail": Range(0.01, 1.0, 0.5),
    "throttle": Range(0.001, 0.25, 0.03),
    "exponential": Range(0.01, 4.0, 0.3),
    "append": Range(0.005, 10.0, 0.5),
}
SPLIT = {
    "launch_s": Range(3e-7, 4e-5, 3e-6),
    "math": Range(0.05, 1.0, 0.5),
    "memory": Range(0.3, 1.0, 0.85),
    "step_s": Range(3e-9, 5e-6, 3e-7),
    "block_s": Range(1e-8, 1e-5, 2e-6),
    "core_memory": Range(0.3, 20.0, 3.0),
    "overlap": Range(1.1, 12.0, 2.0),
    "quantized": Range(0.02, 1.0, 0.4),
    "cache": Range(1.0, 12.0, 2.0),
    "join": Range(0.05, 8.0, 2.0),
    "width": Range(0.02, 1.5, 0.3),
}
BY_ROWS = {**SPLIT, "rows": Range(0.003, 3.0, 0.1)}
BY_GROUP = {**SPLIT, "group": Range(0.003, 1.0, 0.05)}
VECTOR = {
    "launch_s": Range(3e-7, 3e-5, 2e-6),
    "memory": Range(0.3, 1.0, 0.85),
    "ramp_bytes": Range(1e3, 5e7, 3e5),
    "cache": Range(1.0, 8.0, 2.0),
    "math": Range(0.02, 1.0, 0.5),
    "overlap": Range(1.1, 12.0, 3.0),
}
ROWS = {**VECTOR, "row_s": Range(1e-9, 1e-5, 1e-7), "element": Range(1e-3, 5.0, 0.1)}


def _columns(found: Mapping[str, float], names: tuple[str, ...]) -> list[Real]:
    return [np.array([found[name]]) for name in names]


def product_time(found: Mapping[str, float], told: Told) -> Real:
    p = GemmParameters(*_columns(found, GemmParameters._fields))
    return _best(told, p) + gemm.quantize_time(told.product, told.silicon, p) + gemm.launch_time(p, LOOP)


def _best(told: Told, p: GemmParameters) -> Real:
    problem = Problem(told.product, told.silicon, p)
    every, _ = search.candidates(problem)
    times = np.where(fits(told.product, every, told.silicon), problem.work(every, LOOP).alone, np.inf)
    return np.asarray(times.min(axis=(0, 1)))


def layer_time(found: Mapping[str, float], told: Moe) -> Real:
    """Two grouped products, the passes around them, and the routing."""
    p = GemmParameters(*_columns(found, GemmParameters._fields))
    both = _best(Told(told.first, told.silicon), p) + _best(Told(told.second, told.silicon), p)
    around = told.moved / (found["around"] * told.silicon.hbm_bandwidth)
    return both + around + found["expert_s"] * told.experts + found["layer_s"]


def flash_time(found: Mapping[str, float], told: Asked) -> Real:
    p = FlashParameters(*_columns(found, FlashParameters._fields))
    passes = flash.append_time(flash.appended_bytes(told.ask) + flash.converted_bytes(told.ask), told.silicon, p)
    return np.asarray(flash.kernel_times(told.ask, told.silicon, p).min(axis=0)) + passes + flash.launch_time(p, LOOP)


def split_time(found: Mapping[str, float], told: Asked) -> Real:
    p = SplitParameters(*_columns(found, SplitParameters._fields))
    return np.asarray(split_kv.kernel_times(told.ask, told.silicon, p, LOOP).min(axis=0)) + split_kv.launch_time(told.ask, p, LOOP)


def vector_time(found: Mapping[str, float], told: Passed) -> Real:
    return vector.ladder(told.ask, told.silicon, VectorParameters(*_columns(found, VectorParameters._fields)), LOOP).estimate


EAGER = {"eager_s": EAGER_S}
WIDE = {"quantize_s": 0.0, "quantize_row_s": 0.0}
"""Of products whose activation is taken as it is."""
UNSPLIT = {"split_s": 3e-5, "step_s": 4e-7}
"""Libraries that walk k on one core, however long it is."""
PRODUCT = Model(product_time, GEMM, {**EAGER, **WIDE}, UNSPLIT)
QUANTIZED_PRODUCT = Model(product_time, QUANTIZED, EAGER, UNSPLIT)
GROUPED = Model(layer_time, LAYER, {**EAGER, **WIDE, "hot": 0.0, "copies": 1.0, "launch_s": 2e-6, "split_s": 4e-5})
PREFILL = Model(flash_time, FLASH, {**EAGER, "packs": 0.0})
PACKED = Model(flash_time, FLASH, {**EAGER, "packs": 1.0})
DECODE = Model(split_time, BY_ROWS, {**EAGER, "group": 0.0})
GROUPED_DECODE = Model(split_time, BY_GROUP, {**EAGER, "rows": 0.0})
POINTWISE = Model(vector_time, VECTOR, {**EAGER, "row_s": 0.0, "element": 0.0})
REDUCTION = Model(vector_time, ROWS, EAGER)
