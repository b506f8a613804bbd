"""What a block of attention keeps beside its core: its queries, two stages of keys and values, and its sums.

Sums are the scores of one step and the output so far, in fp32, unless registers or tensor memory hold them. A kernel takes as many
keys in a step as it is used to, or the largest power of two of them that has room.
Source: Dao 2023, "FlashAttention-2", section 3.3, block sizes
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Real
from .attend import Attend
from .layer import Layer
from .silicon import ISSUE_ROWS, SUM_BYTES, Silicon
from .tiling import STAGES


class Blocks(NamedTuple):
    """How a kernel cuts an attention."""

    rows: Real
    """of a block: queries, of one head or of a group"""
    keys: float
    """of a step, where there is room"""
    tiles: Real
    split: Real
    padding: Real
    """efficiency"""
    wave: Real
    """efficiency"""


def layer(ask: Attend, at: Blocks, silicon: Silicon) -> Layer:
    """The blocks as tiles of queries by keys; each operand is read from HBM once."""
    keys = _keys(ask, at, silicon)
    return Layer(
        m=at.rows,
        n=keys,
        k=ask.d_qk,
        split=at.split,
        tiles=at.tiles,
        waves=np.ceil(at.tiles * at.split / silicon.cores),
        padding=np.minimum(at.padding, 1.0),
        wave=np.minimum(at.wave, 1.0),
        on_chip_bytes=np.ceil(_fixed(ask, at, silicon) + keys * _of_key(ask, at, silicon)),
        hbm_bytes=np.rint(ask.bytes),
    )


def _keys(ask: Attend, at: Blocks, silicon: Silicon) -> Real:
    """Keys of a step; where no step has room the least that an instruction takes."""
    room = (silicon.tile_bytes - _fixed(ask, at, silicon)) / _of_key(ask, at, silicon)
    _, exponent = np.frexp(np.minimum(np.maximum(room, ISSUE_ROWS), at.keys))
    fitting: Real = np.ldexp(1.0, exponent - 1)
    return fitting


def _fixed(ask: Attend, at: Blocks, silicon: Silicon) -> Real:
    """Bytes of the queries and of the output so far."""
    return at.rows * (ask.d_qk * ask.q_bytes + _sums(silicon) * ask.d_v)


def _of_key(ask: Attend, at: Blocks, silicon: Silicon) -> Real:
    """Bytes that one more key in a step takes."""
    return STAGES * ask.kv_row_bytes + _sums(silicon) * at.rows


def _sums(silicon: Silicon) -> Real:
    return np.where(silicon.sums_apart, 0.0, SUM_BYTES)
