"""The numeric vocabulary: the numbers of a chip that an engine needs, in SI, named as in a request that writes a chip in place.

Members that are unknown are absent. Peaks are keyed by arithmetic class, dense, a multiply-add counted as two FLOP.
"""

from __future__ import annotations

from typing import TypedDict

SiNumber = int | float


class HbmNumbers(TypedDict, total=False):
    """Main memory, of whatever technology."""

    bandwidth_bytes_per_s: SiNumber
    capacity_bytes: SiNumber


class L2Numbers(TypedDict, total=False):
    """The last cache that all cores share, between the tiles and the main memory."""

    capacity_bytes: SiNumber
    bandwidth_bytes_per_s: SiNumber


class ChipNumbers(TypedDict, total=False):
    """A chip as a machine sees it."""

    peak_flops_per_s: dict[str, SiNumber]
    """of the matrix unit; absent where there is none"""
    vector_peak_flops_per_s: dict[str, SiNumber]
    hbm: HbmNumbers
    cores: int
    on_chip_bytes_per_core: SiNumber
    """usable part of the store in which one core keeps the tile of a matrix product"""
    l2: L2Numbers
