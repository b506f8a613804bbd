"""Which kernel runs an attention: one query of each sequence has its keys split over cores, many are cut into blocks.

A few queries over a longer cache may go either way and take the faster.
"""

from __future__ import annotations

import numpy as np

from . import flash, split_kv
from .attend import Attend
from .flash import FlashParameters
from .losses import Ladder
from .physics import State
from .silicon import Silicon
from .split_kv import SplitParameters


def ladder(ask: Attend, silicon: Silicon, many: FlashParameters, few: SplitParameters, state: State) -> Ladder:
    """From the roofline to the time of the op, by the kernel that takes each row."""
    blocks, splits = flash.ladder(ask, silicon, many, state), split_kv.ladder(ask, silicon, few, state)
    takes_splits = (ask.q_len == 1.0) | ((ask.q_len < ask.kv_len) & (splits.estimate < blocks.estimate))
    return Ladder(*(np.where(takes_splits, split, block) for split, block in zip(splits, blocks, strict=True)))
