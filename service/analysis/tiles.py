"""The tile layer of an answer: how an op is cut for the cores of a chip, what that costs, and why a kernel takes longer than its roof."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ..engine import roofline
from ..engine.arrays import Real, all_of, any_of, column, constant
from ..engine.kernels import given
from ..engine.kernels.given import Tile
from ..engine.kernels.layer import Layer
from ..engine.kernels.silicon import Silicon
from ..engine.ops.attention import Attention
from ..engine.ops.mla import LatentAttention
from ..engine.report import Report
from ..engine.roofline import BOUNDS, TIE
from ..engine.term import Term
from ..errors import Fault, refuse
from ..schemas.evaluate import OptionsModel, TileModel
from .cells import Cells, Flag
from .kernels import Setup, Timed, product_of, timed

NONE: Final = "none"
AT: Final = "/options/tile"
HELPS: Final = constant(1.0 + TIE)
"""A speedup beyond this is one."""
SAME: Final = column(1.0)
"""What changes nothing, as a speedup."""

CAUSES: Final = ("launch", "waves", "padding", "rereads", "bandwidth", "rate", "quantization")
"""Why a kernel takes longer than its roofline, in the order of the answer."""

LEAVES: Final = (
    *("tile.m", "tile.n", "tile.k", "split_k", "tiles", "waves", "padding_efficiency", "wave_efficiency"),
    *("on_chip_bytes", "on_chip_capacity_bytes", "hbm_bytes", "intensity_flops_per_byte", "compute_time_s", "hbm_time_s", "bound"),
    *("roofline_s", "estimate_s"),
    *(f"losses.{name}_s" for name in CAUSES),
)
"""The members of the layer by their steps."""

OMITTED = "layers.tile is null: options.tile is none."
EXCHANGED = "layers.tile is null: what only exchanges has no tiles."
UNTILED = "layers.tile is null: what has no matrix product has no tiles."
UNMODELLED = "layers.tile is null: there is no model of the tiles of this op on this chip."
UNUSED = "options.tile is not used: the op is not cut into tiles here."
UNCHECKED = "layers.tile.on_chip_capacity_bytes is null: the chip states no store of a core, so whether the tile fits was not checked."
CROWDED = "No tile of this op has room in the store of a core; layers.tile shows what comes nearest."
UNEXPLAINED = "layers.tile.losses and its estimate_s are null, as the estimates are."


def tile_of(options: OptionsModel) -> Tile | None:
    """The tile that is given."""
    asked = options.tile
    return Tile(column(asked.m), column(asked.n), column(asked.k)) if isinstance(asked, TileModel) else None


def check_kind(term: Term, options: OptionsModel) -> None:
    """Raises `InvalidInput` at /options/tile (invalid-request): a tile is given for what is cut otherwise."""
    if isinstance(options.tile, TileModel) and isinstance(term, Attention | LatentAttention):
        raise refuse(AT, "invalid-request", "A tile is given for a matrix product; attention is cut into blocks by its kernel.", ("auto",))


def room(term: Term, report: Report, setup: Setup) -> given.Room | None:
    """What a given tile takes of the stores of a core; None where there is nothing to check."""
    if setup.tile is None:
        return None
    product, silicon = product_of(term, report), setup.silicon
    if product is None or silicon is None:
        return None
    return given.room(product, setup.tile, silicon)


def misfit(term: Term, report: Report, setup: Setup) -> Fault | None:
    """What is wrong with a given tile for which a row has no room: tile-does-not-fit at /options/tile."""
    found = room(term, report, setup)
    if found is None or all_of(found.fits):
        return None
    product, silicon = product_of(term, report), setup.silicon
    assert product is not None
    assert silicon is not None
    assert setup.tile is not None
    smaller = given.shrunk(product, setup.tile, silicon)
    return Fault(AT, "tile-does-not-fit", _misfit(found, silicon), _suggested(smaller))


def _misfit(found: given.Room, silicon: Silicon) -> str:
    store, sums = silicon.tile_bytes, silicon.accumulator_bytes
    if any_of(found.operands > store):
        return (
            f"The tile takes {found.operands.max():,.0f} bytes of the store beside a core, in which two steps of its operands stand at "
            f"once; it holds {store.min():,.0f}."
        )
    return (
        f"The fp32 sums of the tile take {found.sums.max():,.0f} bytes of the store that a core has for them; it holds {sums.min():,.0f}."
    )


def _suggested(tile: Tile | None) -> tuple[str, ...]:
    if tile is None:
        return ("auto",)
    m, n, k = (each.item() for each in tile)
    return (f'{{"m": {m:.0f}, "n": {n:.0f}, "k": {k:.0f}}}', "auto")


def has_layer(term: Term, options: OptionsModel) -> bool:
    """Whether an answer about `term` may have a tile layer."""
    return options.tile != NONE and (isinstance(term, Attention | LatentAttention) or term.demand().is_plain_product)


def layer(found: Timed | None, report: Report, cells: Cells, known: Flag | None = None) -> dict[str, Any] | None:
    """The document of the layer; `report` is of what one chip does, `known` marks the rows whose time is estimated."""
    if found is None or found.layer is None or found.silicon is None:
        return None
    at, capacity = found.layer(), found.silicon.tile_bytes
    times = tile_times(at, report)
    return {
        "tile": {"m": cells.whole(at.m), "n": cells.whole(at.n), "k": cells.whole(at.k)},
        "split_k": cells.whole(at.split),
        "tiles": cells.whole(at.tiles),
        "waves": cells.whole(at.waves),
        "padding_efficiency": cells.number(at.padding),
        "wave_efficiency": cells.number(at.wave),
        "on_chip_bytes": cells.whole(at.on_chip_bytes),
        "on_chip_capacity_bytes": cells.whole(capacity, np.isfinite(capacity)),
        "hbm_bytes": cells.whole(at.hbm_bytes),
        "intensity_flops_per_byte": cells.number(report.flops / at.hbm_bytes),
        "compute_time_s": cells.number(times.math),
        "hbm_time_s": cells.number(times.hbm),
        "bound": cells.name(roofline.longest_paths(times, roofline.lower(times)), BOUNDS),
        "roofline_s": cells.number(found.ladder.roofline),
        "estimate_s": cells.number(found.ladder.estimate, known),
        "losses": _losses(found, cells, known),
    }


def _losses(found: Timed, cells: Cells, known: Flag | None) -> dict[str, Any]:
    """Seconds of the estimate above the roofline by their causes."""
    lost = found.ladder.losses
    return {f"{name}_s": cells.number(getattr(lost, f"{name}_s"), known) for name in CAUSES}


def tile_times(at: Layer, report: Report) -> roofline.Times:
    """The times of compute and memory with tiles."""
    assert report.bandwidth is not None
    return roofline.Times(report.times.math / (at.padding * at.wave), at.hbm_bytes / report.bandwidth)


def speedup(found: Timed, term: Term, report: Report, setup: Setup, is_known: Flag) -> Real:
    """How many times faster the op is with the tile that would be chosen than with the one that is given; 1 where none is.

    Of the times that are expected; in rows that are not `is_known`, for which none are, of those that the tiles leave at least.
    """
    if found.layer is None or setup.tile is None:
        return SAME
    chosen = timed(term, report, setup._replace(tile=None))
    assert chosen is not None
    assert chosen.layer is not None
    before, after = (roofline.lower(tile_times(each(), report)) for each in (found.layer, chosen.layer))
    gain: Real = np.where(is_known, found.ladder.estimate / chosen.ladder.estimate, before / after)
    return gain


def lever(gain: Real, report: Report, cells: Cells) -> dict[str, Any]:
    """The lever of another tile. The bounds of the time know no tiles, so it moves what is expected alone."""
    return {
        "change": "tile",
        "factor": None,
        "lower_s_after": cells.number(report.lower),
        "bound_after": cells.name(report.longest, BOUNDS),
        "speedup": cells.number(gain),
        "helps": cells.flag(gain > HELPS),
    }


def notes(term: Term, found: Timed | None, options: OptionsModel, report: Report, cells: Cells, *, is_known: bool) -> Iterator[str]:
    """What must be said of the layer, or why it is null."""
    has_tiles = found is not None and found.layer is not None
    if not report.bytes:
        yield EXCHANGED
    elif not has_tiles and not term.demand().has_product:
        yield UNTILED
    elif options.tile == NONE:
        yield OMITTED
    elif found is None or found.layer is None or found.silicon is None:
        yield UNMODELLED
    else:
        capacity = found.silicon.tile_bytes
        if cells.any_of(~np.isfinite(capacity)):
            yield UNCHECKED
        if cells.any_of(found.layer().on_chip_bytes > capacity):
            yield CROWDED
        if not is_known:
            yield UNEXPLAINED
        return
    if isinstance(options.tile, TileModel):
        yield UNUSED
