"""What an op takes with good kernels: what it asks of them, and the parameters of the nearest calibration that has them.

Rows may stand for chips of their own, and for heads of different widths; each takes the parameters of the program that would run it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.calibration import Basis
from ..catalogue.kernel_fit import KernelName
from ..catalogue.kernels import (
    ANY,
    SELDOM,
    TIMED,
    TIMED_WIDTHS,
    WIDTHS,
    Kernel,
    attention_programs,
    kernel,
    latent_programs,
    product_programs,
)
from ..engine.arrays import Real, all_of, column, cut
from ..engine.dtypes import DTYPES, DType
from ..engine.kernels import attention, gemm, given, layer, of_op, vector
from ..engine.kernels.attend import Attend
from ..engine.kernels.given import Stepped, Tile
from ..engine.kernels.layer import Layer
from ..engine.kernels.losses import Ladder
from ..engine.kernels.physics import COLD, State
from ..engine.kernels.search import Problem, search
from ..engine.kernels.silicon import Silicon
from ..engine.kernels.spread import Spread, spread
from ..engine.kernels.tiling import Product, Tiling, fits
from ..engine.ops.attention import Attention
from ..engine.ops.grouped_matmul import GroupedMatmul
from ..engine.ops.mla import LatentAttention
from ..engine.report import Report
from ..engine.term import Term
from .cells import Cells
from .targets import Target

Places = NDArray[np.intp]
BASES: tuple[Basis, ...] = ("generic", "architecture", "chip")
"""Bases, the weakest first."""
ONLY: Places = np.zeros(1, np.intp)
"""The place of the one family of programs that all rows need."""
ALL = (np.ones(1, np.bool_),)
"""Rows that have one way to run."""
EDGES = [most for most, _ in WIDTHS]
"""The widest heads of each width."""
SELDOM_AT = [name for _, name in WIDTHS].index(SELDOM)
EXPANDED = (192, 128)
"""Widths of a key and of a value of expanded latents, which have kernels of their own."""
UNTIMED = "untimed"
"""The program of heads that nobody measured, which no calibration has: what stands in for it is borrowed."""
Family = tuple[KernelName, tuple[str, ...]]
"""A kernel and its programs, the likest first."""


class Timed(NamedTuple):
    """How long an op takes, and what that stands on."""

    ladder: Ladder
    band: Spread
    runs: tuple[tuple[Kernel, ...], ...]
    """the ways to run it, each with its kernels"""
    taken: tuple[NDArray[np.bool_], ...]
    """which rows take each of the ways"""
    basis: NDArray[np.intp]
    """of each row, its place in `BASES`"""
    layer: Callable[[], Layer] | None = None
    """its tiles, where it has any"""
    silicon: Silicon | None = None
    """the chips that it has its tiles on"""

    def kernels(self, cells: Cells) -> tuple[Kernel, ...]:
        """Those of the ways that some row takes."""
        return tuple(each for kernels, rows in zip(self.runs, self.taken, strict=True) if cells.any_of(rows) for each in kernels)


class Setup(NamedTuple):
    """Where and how kernels run: the chips, which of them each row has, and the state."""

    targets: Sequence[Target]
    """each once"""
    at: Places
    """of each row, or of all"""
    state: State
    tile: Tile | None = None
    """of products, where it is given"""

    @property
    def silicon(self) -> Silicon | None:
        chips = [each.silicon for each in self.targets]
        known = [each for each in chips if each is not None]
        if len(known) < len(chips):
            return None
        return known[0] if len(known) == 1 else Silicon.stacked(known, self.at)


class Chosen(NamedTuple):
    """The kernels that run some rows, and which of them each row has."""

    kernels: tuple[Kernel, ...]
    at: Places

    @property
    def parameters(self) -> Any:
        """Columns of the model's parameters."""
        columns = [each.parameters for each in self.kernels]
        if len(columns) == 1:
            return columns[0]
        return type(columns[0])._make([np.concatenate(each)[self.at] for each in zip(*columns, strict=True)])

    @property
    def basis(self) -> Places:
        return np.array([BASES.index(each.basis) for each in self.kernels])[self.at]

    def band(self, estimate: Real, roofline: Real) -> Spread:
        """The band of each row, by its kernel."""
        if len(self.kernels) == 1:
            return spread(estimate, roofline, self.kernels[0].band)
        low, high = np.empty(self.at.size), np.empty(self.at.size)
        for place, each in enumerate(self.kernels):
            rows = self.at == place
            low[rows], high[rows] = spread(estimate[rows], cut(roofline, rows), each.band)
        return Spread(low, high)


Both = tuple[Chosen, Chosen]
"""The kernels of many queries and of a few."""


def timed(term: Term, report: Report, setup: Setup) -> Timed | None:
    """The time of a term that one chip runs, which `report` counts; None where there is no model of it."""
    silicon = setup.silicon
    if silicon is None or not report.bytes:
        return None
    found = _timed(term, report, setup, silicon)
    return None if found is None else _above(found, report.lower, setup.state)


def _timed(term: Term, report: Report, setup: Setup, silicon: Silicon) -> Timed | None:
    demand, placed = term.demand(), report.placement
    peak, arithmetic = placed.peak, placed.dtype
    if not demand.has_product:
        return _of_pass(of_op.one_pass(demand, report.bytes_total, peak), of_op.program_of_pass(term), setup, silicon)
    if peak is None:
        return None
    if demand.is_plain_product:
        return _of_product(term, of_op.plain_product(demand, report.bytes, peak, _cast_bytes(term)), arithmetic, setup, silicon)
    if isinstance(term, Attention):
        return _of_attention(of_op.attention(term, report.bytes, peak), _attention_kernels(term, arithmetic, setup), setup.state, silicon)
    if isinstance(term, LatentAttention):
        return _of_attention(
            of_op.latent_attention(term, report.bytes, peak), _latent_kernels(term, arithmetic, setup), setup.state, silicon
        )
    return None


def product_of(term: Term, report: Report) -> Product | None:
    """The matrix product that a term is, where it is one; where there is no peak, at any."""
    demand, peak = term.demand(), report.placement.peak
    if not demand.is_plain_product:
        return None
    return of_op.plain_product(demand, report.bytes, np.ones(1) if peak is None else peak, _cast_bytes(term))


def _above(found: Timed, lower: Real, state: State) -> Timed:
    """`found` with every operand from HBM where the caches are cold: there the roofline is that of the question."""
    if state.cache != COLD:
        return found
    ladder = found.ladder._replace(roofline=lower).climbing()
    p10 = np.minimum(np.maximum(found.band.p10, lower), ladder.estimate)
    return found._replace(ladder=ladder, band=Spread(p10, np.maximum(found.band.p90, ladder.estimate)))


def _of_pass(ask: vector.Pass, program: str, setup: Setup, silicon: Silicon) -> Timed | None:
    chosen = _chosen([("passes", (program,))], ONLY, setup)
    if chosen is None:
        return None
    ladder = vector.ladder(ask, silicon, chosen.parameters, setup.state)
    return Timed(ladder, chosen.band(ladder.estimate, ladder.roofline), (chosen.kernels,), ALL, chosen.basis)


def _of_product(term: Term, product: Product, arithmetic: str, setup: Setup, silicon: Silicon) -> Timed | None:
    name: KernelName = "grouped_products" if isinstance(term, GroupedMatmul) else "products"
    chosen = _chosen([(name, _product_programs(term, arithmetic))], ONLY, setup)
    if chosen is None:
        return None
    ladder, tiles = _tiled(Problem(product, silicon, chosen.parameters), setup)
    band = chosen.band(ladder.estimate, ladder.roofline)
    return Timed(ladder, band, (chosen.kernels,), ALL, chosen.basis, tiles, silicon)


def _tiled(problem: Problem, setup: Setup) -> tuple[Ladder, Callable[[], Layer]]:
    """The time of a product and its tiles: as given, else the fastest, or small ones where the store of a core holds no other."""
    product, silicon, p = problem
    if setup.tile is not None:
        return given.ladder(product, setup.tile, silicon, p, setup.state), cache(partial(given.of_product, product, setup.tile, silicon))
    tiling, parts = search(problem, setup.state)
    has_room = fits(product, tiling, silicon)
    if not all_of(has_room):
        small = given.squeezed(product, silicon)
        tiling = Tiling(*(np.where(has_room, each, other) for each, other in zip(tiling, small.tiling, strict=True)))
        silicon = Stepped.by(silicon, np.where(has_room, silicon.step, small.k))
        parts = Problem(product, silicon, p).work(tiling, setup.state)
    ladder = gemm.ladder_of(parts, product, silicon, p, setup.state)
    return ladder, cache(partial(layer.of_product, product, tiling, silicon))


def _of_attention(ask: Attend, kernels: Both | None, state: State, silicon: Silicon) -> Timed | None:
    if kernels is None:
        return None
    many, few = kernels
    ladder, splits, tiles = attention.run(ask, silicon, many.parameters, few.parameters, state)
    bands = [each.band(ladder.estimate, ladder.roofline) for each in (few, many)]
    band = Spread(*(np.where(splits, one, other) for one, other in zip(*bands, strict=True)))
    runs = many.kernels, few.kernels
    return Timed(ladder, band, runs, (~splits, splits), np.where(splits, few.basis, many.basis), tiles, silicon)


def _chosen(families: Sequence[Family], family: Places, setup: Setup) -> Chosen | None:
    """The kernel of each row by its chip and by the family of programs that it needs."""
    places = setup.at * len(families) + family
    every = np.flatnonzero(np.bincount(places))
    found = [kernel(setup.targets[each // len(families)].calibrations, *families[each % len(families)]) for each in every.tolist()]
    kernels = tuple([each for each in found if each is not None])
    return Chosen(kernels, every.searchsorted(places)) if len(kernels) == len(found) else None


def _product_programs(term: Term, arithmetic: str) -> tuple[str, ...]:
    a, b = (DTYPES[getattr(term, f"{name}_dtype")] for name in ("a", "b"))
    if not _is_timed(arithmetic, a, b) or a.bits != b.bits:
        return (ANY,)
    scales = [getattr(term, f"{name}_scale", None) for name in ("a", "b")]
    in_blocks = all(each is not None for each in scales) and any(each.block is not None for each in scales if each is not None)
    return product_programs(a.bits, in_blocks=in_blocks)


def _is_timed(arithmetic: str, first: DType, second: DType) -> bool:
    """Whether kernels were measured that compute in such a class, that of the unit which runs the op, from operands of such formats."""
    return first.arithmetic == arithmetic and {first.arithmetic, second.arithmetic} <= TIMED


def _cast_bytes(term: Term) -> Real:
    """Bytes of an element of a before it is quantised on the way; 0 where it arrives as it is."""
    wide: str | None = getattr(term, "a_quantized_from", None)
    return column(0.0 if wide is None else DTYPES[wide].bits / 8.0)


def _attention_kernels(term: Attention, arithmetic: str, setup: Setup) -> Both | None:
    formats = _attended(term, arithmetic)
    if formats is None:
        return _both([("prefill", (ANY,))], [("decode", (ANY,))], ONLY, setup)
    by_width = [attention_programs(*formats, float(most)) for most in EDGES]
    every = [*by_width, *[(UNTIMED, *programs) for programs in by_width]]
    blocks: list[Family] = [*(("prefill", programs) for programs in every), ("latent_prefill", latent_programs(*formats))]
    expanded = every[len(EDGES) + EDGES.index(EXPANDED[1])]
    splits: list[Family] = [("decode", programs) for programs in (*every, expanded)]
    return _both(blocks, splits, width_of(term), setup)


def width_of(term: Attention) -> Places:
    """The place in `WIDTHS` of the heads of each row, by which it takes its kernels; as far behind for widths that nobody measured, and
    the last for expanded latents."""
    width = np.maximum(term.head_dim, term.values)
    place = np.searchsorted(EDGES, width)
    untimed = len(EDGES) + place + (place == SELDOM_AT)
    found = np.where(np.isin(width, TIMED_WIDTHS) & (term.head_dim == term.values), place, untimed)
    return np.where((term.head_dim == EXPANDED[0]) & (term.values == EXPANDED[1]), 2 * len(EDGES), found)


def _latent_kernels(term: LatentAttention, arithmetic: str, setup: Setup) -> Both | None:
    formats = _attended(term, arithmetic)
    programs = (ANY,) if formats is None else latent_programs(*formats)
    return _both([("latent_prefill", programs)], [("latent_decode", programs)], ONLY, setup)


def _both(blocks: Sequence[Family], splits: Sequence[Family], family: Places, setup: Setup) -> Both | None:
    many, few = _chosen(blocks, family, setup), _chosen(splits, family, setup)
    return None if many is None or few is None else (many, few)


def _attended(term: Attention | LatentAttention, arithmetic: str) -> tuple[int, int] | None:
    """Bits of q and of what is cached; None where no kernel of such formats was measured."""
    assert term.dtype is not None, "the formats of a term are known only after resolved()"
    q, kv = DTYPES[term.dtype], DTYPES[term.kv_dtype or term.dtype]
    return (q.bits, kv.bits) if _is_timed(arithmetic, q, kv) and 8 <= kv.bits <= q.bits else None
