"""Which kernel runs an attention: one query of each sequence has its keys split over cores, many are cut into blocks.

A few queries over a longer cache may go either way and take the faster.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

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


class Run(NamedTuple):
    """The kernel that takes each row."""

    ladder: Ladder
    splits: NDArray[np.bool_]
    """where keys are split over cores, as in decode"""
    layer: Callable[[], Layer]
    """its blocks, counted when they are asked for"""


def ladder(ask: Attend, silicon: Silicon, many: FlashParameters, few: SplitParameters, state: State) -> Ladder:
    """From the roofline to the time of the op, by the kernel that takes each row."""
    return run(ask, silicon, many, few, state).ladder


def run(ask: Attend, silicon: Silicon, many: FlashParameters, few: SplitParameters, state: State) -> Run:
    """The time of the op, and how it is cut."""
    whole, split = flash.chosen(ask, silicon, many), split_kv.chosen(ask, silicon, few, state)
    steps = split_kv.ladder_of(ask, split, silicon, few, state), flash.ladder_of(ask, whole, silicon, many, state)
    splits = (ask.q_len == 1.0) | ((ask.q_len < ask.kv_len) & (steps[0].estimate < steps[1].estimate))

    @cache
    def layer() -> Layer:
        cuts = split_kv.blocks(ask, split, silicon), flash.blocks(ask, whole, silicon, many)
        ways = zip(*(blocks.layer(ask, each, silicon) for each in cuts), strict=True)
        return Layer(*(np.where(splits, one, other) for one, other in ways))

    return Run(Ladder(*(np.where(splits, one, other) for one, other in zip(*steps, strict=True))), splits, layer)
