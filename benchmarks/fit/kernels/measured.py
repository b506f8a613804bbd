"""The measured rows, as what the kernels of the engine are told.

Left out are rows that a service should not imitate: attention and experts of which no second library came within a quarter of the
fastest, but where only one library has kernels of such formats and heads at all, and products and decode that took less than one read
of their operands from HBM.
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from service.catalogue import Catalogue
from service.catalogue.kernels import WIDTHS
from service.catalogue.silicon import die
from service.engine.kernels.attend import Attend
from service.engine.kernels.silicon import Silicon
from service.engine.kernels.tiling import Product
from service.engine.kernels.vector import Pass

from .bounded import Part, Real

FOLDER = Path(__file__).parents[2] / "measured"
BYTES = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8_e4m3": 1.0, "fp8": 1.0, "nvfp4": 0.5625}
CLASSES = {"fp32": "fp32", "bf16": "bf16", "fp16": "fp16", "fp8_e4m3": "fp8", "fp8": "fp8", "nvfp4": "fp4"}
BITS = {"fp32": "bits-32", "bf16": "bits-16", "fp16": "bits-16", "fp8_e4m3": "bits-8", "nvfp4": "bits-4"}
BLOCKED = {"block128"}
AGREE = 1.25
"""Two libraries agree whose times differ by less than this factor."""
LOOPED = {"nvidia-a100-sxm-80gb", "nvidia-h100-sxm"}
"""Chips with rows of a steady loop, which those of a profiler and an older library would blur."""
GRAPH_SOURCES = ("aiconfigurator", "vidur")
"""Works that timed the device and not the host."""
BESIDE = {"slim": "narrow", "narrow": "slim", "medium": "wide", "wide": "medium"}
"""Widths of heads that may run alike."""

Row = dict[str, str]


class Told(NamedTuple):
    """Products on a chip."""

    product: Product
    silicon: Silicon


class Asked(NamedTuple):
    """Attention on a chip."""

    ask: Attend
    silicon: Silicon


class Moe(NamedTuple):
    """Two grouped products and what stands around them, on a chip."""

    first: Product
    second: Product
    silicon: Silicon
    moved: Real
    """by routing, activation and the weighted sum [B]"""
    experts: Real


class Passed(NamedTuple):
    """Vector work on a chip."""

    ask: Pass
    silicon: Silicon


class Chips(NamedTuple):
    """What the catalogue has of the chips that were measured."""

    catalogue: Catalogue

    def silicon(self, chip: str) -> Silicon:
        found = self.catalogue.chip(chip)
        return Silicon.of(die(found, self.catalogue.chips).numbers, found.numbers()["hbm"]["bandwidth_bytes_per_s"])

    def peak(self, chip: str, name: str) -> Real:
        numbers = self.catalogue.chip(chip).numbers()
        return np.array([numbers.get("peak_flops_per_s", {}).get(name) or numbers["vector_peak_flops_per_s"][name]], np.float64)


def read(name: str) -> list[Row]:
    """The rows of one table."""
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def products(chips: Chips) -> Iterator[tuple[str, Part]]:
    """Matrix products, by bits of their operands and by chip."""
    rows = [row for row in read("products") if row["source"] in GRAPH_SOURCES]
    for (chip, a, scaling, source), some in _groups(rows, "chip", "a_dtype", "scaling", "source"):
        if source == "vidur" and chip in LOOPED:
            continue
        block = scaling in BLOCKED
        told = Told(_product(some, a, chips.peak(chip, CLASSES[a]), in_blocks=block), chips.silicon(chip))
        part = Part(chip, told, _column(some, "measured_s"))
        yield BITS[a] + ("-blocks" if block else ""), part.where(part.measured_s >= told.product.bytes / told.silicon.hbm_bandwidth)


def _product(rows: list[Row], a: str, peak: Real, *, in_blocks: bool) -> Product:
    m, n, k, batch = (_column(rows, name) for name in ("m", "n", "k", "batch"))
    scales = (4.0 / 128.0, 4.0 / 128.0**2) if in_blocks else (0.0, 0.0)
    cast = 2.0 if a in ("fp8_e4m3", "nvfp4") else 0.0
    sizes = (BYTES[a] + scales[0], BYTES[rows[0]["b_dtype"]] + scales[1], 2.0, cast)
    a_bytes, b_bytes, out_bytes, cast_bytes = (np.array([each]) for each in sizes)
    return Product(m, n, k, batch, a_bytes, b_bytes, out_bytes, peak, cast_bytes)


def attention(chips: Chips, *, decode: bool, lone: bool = True) -> Iterator[tuple[str, Part]]:
    """Attention with one query of each sequence or with all of them, by formats, width of a head and chip; with programs that only one
    library has where `lone`."""
    rows = [{**row, "width": _width(row)} for row in read("attention") if (row["q_len"] == "1") == decode]
    for (chip, q, kv, width), some in _groups(rows, "chip", "q_dtype", "kv_dtype", "width"):
        if best := _best(some) if lone else _agreed(some):
            d, kv_heads = _column(best, "head_dim"), _column(best, "kv_heads")
            part = _part(chips, chip, best, (q, kv), (kv_heads, d, d, 2.0 * d * BYTES[kv]))
            if decode:
                part = part.where(part.measured_s >= part.told.ask.kv_bytes / part.told.silicon.hbm_bandwidth)
            yield f"{_formats(q, kv)}-{width}", part


def _width(row: Row) -> str:
    return next(name for most, name in WIDTHS if int(row["head_dim"]) <= most)


def beside(read: Mapping[str, list[Part]]) -> dict[str, list[Part]]:
    """Parts of attention, each with the rows of its chip whose heads may run alike."""
    return {name: [replace(part, beside=_like(read, name, part.chip)) for part in parts] for name, parts in read.items()}


def _like(read: Mapping[str, list[Part]], name: str, chip: str) -> Part | None:
    formats, _, width = name.rpartition("-")
    return next((part for part in read.get(f"{formats}-{BESIDE.get(width)}", ()) if part.chip == chip), None)


def latent(chips: Chips, *, decode: bool) -> Iterator[tuple[str, Part]]:
    """Latent attention, absorbed in decode and expanded in prefill, by formats and chip."""
    rows = [row for row in _agreed(read("latent_attention")) if (row["q_len"] == "1") == decode]
    for (chip, q, kv), some in _groups(rows, "chip", "q_dtype", "kv_dtype"):
        heads = _column(some, "heads")
        one = np.ones(heads.size)
        sizes = (
            (one, 576.0 * one, 512.0 * one, 576.0 * BYTES[kv] * one)
            if decode
            else (heads, 192.0 * one, 128.0 * one, 320.0 * BYTES[kv] * one)
        )
        yield _formats(q, kv), _part(chips, chip, some, (q, kv), sizes)


def _part(chips: Chips, chip: str, rows: list[Row], formats: tuple[str, str], sizes: tuple[Real, Real, Real, Real]) -> Part:
    q, kv = formats
    kv_heads, d_qk, d_v, kv_row = sizes
    batch, heads, q_len, kv_len = (_column(rows, name) for name in ("batch", "heads", "q_len", "kv_len"))
    peak = chips.peak(chip, "fp8" if q == kv == "fp8" else "bf16")
    ask = Attend(
        batch=batch, heads=heads, kv_heads=kv_heads, q_len=q_len, kv_len=kv_len, window=kv_len, is_causal=True, d_qk=d_qk, d_v=d_v,
        q_bytes=np.array([BYTES[q]]), kv_row_bytes=kv_row, out_bytes=np.array([2.0]), peak=peak,
    )  # fmt: skip
    return Part(chip, Asked(ask, chips.silicon(chip)), _column(rows, "measured_s"))


def _formats(q: str, kv: str) -> str:
    return f"q{8 * BYTES[q]:.0f}-kv{8 * BYTES[kv]:.0f}"


EXPERT_FORMATS = {"bfloat16": "bf16", "fp8": "fp8_e4m3", "fp8_block": "fp8_e4m3", "nvfp4": "nvfp4"}


def experts(chips: Chips) -> Iterator[tuple[str, Part]]:
    """Layers of experts with balanced routing, by bits of their operands and by chip."""
    rows = [row for row in _agreed(read("experts")) if row["scaling"] in EXPERT_FORMATS]
    for (chip, scaling), some in _groups(rows, "chip", "scaling"):
        name = EXPERT_FORMATS[scaling]
        told = _moe(some, name, chips.peak(chip, CLASSES[name]), chips.silicon(chip))
        yield BITS[name] + ("-blocks" if scaling == "fp8_block" else ""), Part(chip, told, _column(some, "measured_s"))


def _moe(rows: list[Row], name: str, peak: Real, silicon: Silicon) -> Moe:
    tokens, hidden, inter, topk, held, tp, ep = (
        _column(rows, each) for each in ("tokens", "hidden", "inter", "topk", "experts", "tp", "ep")
    )
    assigned = tokens * topk / ep
    active = np.minimum(held / ep, np.maximum(assigned, 1.0))
    width, each = inter / tp, np.array([BYTES[name]])
    wide, none = np.array([2.0]), np.zeros(1)
    first = Product(assigned / active, 2.0 * width, hidden, active, each, each, wide, peak, none)
    second = Product(assigned / active, hidden, width, active, each, each, wide, peak, none)
    moved = assigned * (hidden + width) * (4.0 + each) + 4.0 * tokens * hidden
    return Moe(first, second, silicon, moved, held)


PASSES: dict[str, tuple[str, float, float]] = {
    "add": ("pointwise", 3.0, 1.0), "gelu": ("pointwise", 2.0, 8.0), "silu_mul": ("pointwise", 3.0, 5.0),
    "rmsnorm": ("rows", 2.0, 4.0), "layernorm": ("rows", 2.0, 7.0), "softmax": ("rows", 2.0, 5.0),
    "quantize_fp8_dynamic": ("quantize", 1.5, 2.0),
}  # fmt: skip
"""By op: which kernel it is, arrays of its input format that it moves, operations of an element."""


def passes(chips: Chips) -> Iterator[tuple[str, Part]]:
    """Vector work timed on the device, by kernel and chip."""
    rows = [{**row, "kernel": PASSES[row["op"]][0]} for row in read("passes") if row["op"] in PASSES and row["source"] in GRAPH_SOURCES]
    for (chip, kernel), some in _groups(rows, "chip", "kernel"):
        height, width = _column(some, "rows"), _column(some, "cols")
        moved = height * width * np.array([BYTES[row["in_dtype"]] * PASSES[row["op"]][1] for row in some])
        operations = height * width * np.array([PASSES[row["op"]][2] for row in some])
        ask = Pass(moved, operations, height, width, chips.peak(chip, "fp32"))
        yield kernel, Part(chip, Passed(ask, chips.silicon(chip)), _column(some, "measured_s"))


def by_kernel(found: Iterator[tuple[str, Part]]) -> dict[str, list[Part]]:
    """The parts of each kernel, one per chip."""
    parts: dict[str, list[Part]] = defaultdict(list)
    for name, part in found:
        if part.size:
            parts[name].append(part)
    return dict(parts)


def _best(rows: list[Row]) -> list[Row]:
    """Those of one program that two libraries agree on; all where only one library has it, for then nobody is faster."""
    return _agreed(rows) if any(row["agreement"] for row in rows) else rows


def _agreed(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["agreement"] and float(row["agreement"]) <= AGREE]


def _groups(rows: list[Row], *names: str) -> list[tuple[tuple[str, ...], list[Row]]]:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return sorted(groups.items())


def _column(rows: list[Row], name: str) -> Real:
    return np.array([float(row[name]) for row in rows])


Reader = Callable[[Chips], Iterator[tuple[str, Part]]]
