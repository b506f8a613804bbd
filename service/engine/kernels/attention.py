"""Which kernel runs an attention: one query of each sequence has its keys split over cores, many are cut into blocks.

A few queries over a longer cache may go either way and take the faster.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import blocks, flash, split_kv
from .attend import Attend
from .flash import FlashParameters
from .layer import Layer
from .losses import Ladder
from .physics import State
from .silicon import Silicon
from .split_kv import SplitParameters


def ladder(ask: Attend, silicon: Silicon, many: FlashParameters, few: SplitParameters, state: State) -> Ladder:
    """From the roofline to the time of the op, by the kernel that takes each row."""
    whole, splits = flash.ladder(ask, silicon, many, state), split_kv.ladder(ask, silicon, few, state)
    takes_splits = _takes_splits(ask, splits, whole)
    return Ladder(*(np.where(takes_splits, split, block) for split, block in zip(splits, whole, strict=True)))


def layer(ask: Attend, silicon: Silicon, many: FlashParameters, few: SplitParameters, state: State) -> Layer:
    """The tiles of the kernel that takes each row."""
    takes_splits = _takes_splits(ask, split_kv.ladder(ask, silicon, few, state), flash.ladder(ask, silicon, many, state))
    splits = blocks.layer(ask, split_kv.blocks(ask, silicon, few, state), silicon)
    whole = blocks.layer(ask, flash.blocks(ask, silicon, many), silicon)
    return Layer(*(np.where(takes_splits, split, block) for split, block in zip(splits, whole, strict=True)))


def _takes_splits(ask: Attend, splits: Ladder, whole: Ladder) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (ask.q_len == 1.0) | ((ask.q_len < ask.kv_len) & (splits.estimate < whole.estimate))
    return found
