"""The pace of a collective: its formula beside a plain one, the laws that every pace obeys, and what a mesh puts on its wires."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.arrays import column
from service.engine.collectives import COLLECTIVES
from service.engine.loads import load
from service.engine.mesh import Axis, Mesh
from service.engine.pace import Band, Load, Pace, estimate, expected

NVLINK = Axis("gpu", 8, "switch", 4.5e11)
NETWORK = Axis("node", 4, "switch", 5e10)
BAND = Band(p10=(0.9, 0.8, 0.7), p90=(1.1, 1.5, 2.0))

times = st.floats(1e-7, 1e-4)
PACES = st.builds(
    Pace,
    start=times,
    step=times,
    exponent=st.floats(0.2, 1.2),
    outer_step=times,
    spread=st.floats(0.0, 1.0),
    spread_bytes=st.floats(1e2, 1e6),
    own=st.floats(0.0, 2.0),
    low_share=st.floats(0.05, 1.0),
    bulk_start=times,
    bulk_step=times,
    bulk_outer_step=times,
    bulk_share=st.floats(0.05, 1.0),
    bulk_ramp=st.sampled_from([0.0, 1e-5]),
)
SIZES = st.lists(st.floats(1.0, 1e12), min_size=2, max_size=5).map(sorted)


def ring(sizes: list[float], ranks: int = 8) -> Load:
    piece = column(sizes) / ranks
    return Load(wire=piece * (ranks - 1) / 4.5e11, piece=piece, piece_s=piece / 4.5e11, rounds=ranks - 1.0, outer_rounds=3.0)


def plain(pace: Pace, size: float, ranks: int = 8) -> float:
    """The formula of the module, for one size, in plain numbers."""
    p = asdict(pace)
    piece, link = size / ranks, 4.5e11
    latency = p["start"] + p["step"] * (ranks - 1) ** p["exponent"] + p["outer_step"] * 3
    x = piece * (ranks - 1) / link + p["own"] * piece / link
    low = latency * (1 + p["spread"] / (1 + (p["spread_bytes"] / piece) ** 2)) + x / p["low_share"]
    ramp = p["bulk_ramp"] * x / (x + p["bulk_ramp"]) if p["bulk_ramp"] else 0.0
    later = p["bulk_start"] + p["bulk_step"] * (ranks - 1) ** p["exponent"] + p["bulk_outer_step"] * 3
    return float(min(low, latency + later + (x + ramp) / p["bulk_share"]))


@given(PACES, SIZES)
def test_it_is_the_formula(pace: Pace, sizes: list[float]) -> None:
    found, _ = expected(pace, ring(sizes))
    assert found.tolist() == pytest.approx([plain(pace, size) for size in sizes], rel=1e-12)


@given(PACES, SIZES)
def test_more_bytes_take_no_less_time(pace: Pace, sizes: list[float]) -> None:
    found, _ = expected(pace, ring(sizes))
    assert (np.diff(found) >= -1e-12 * found[1:]).all()


@given(PACES, SIZES, st.floats(0.0, 1.0))
def test_the_roofline_lies_below_the_band_and_the_estimate_inside(pace: Pace, sizes: list[float], least: float) -> None:
    floor = column([least] * len(sizes))
    found = estimate(pace, BAND, ring(sizes), floor)
    assert (floor <= found.p10).all()
    assert (found.p10 <= found.time).all()
    assert (found.time <= found.p90).all()


@given(PACES, SIZES)
def test_a_row_is_the_same_alone(pace: Pace, sizes: list[float]) -> None:
    together = estimate(pace, BAND, ring(sizes), column([0.0] * len(sizes)))
    for at, size in enumerate(sizes):
        alone = estimate(pace, BAND, ring([size]), column([0.0]))
        assert [each[at] for each in together] == [each[0] for each in alone]


def test_the_regime_follows_the_term_that_decides() -> None:
    """1 µs of rounds: 4 kB cost a hundredth of that, 4 GB ten thousand times as much."""
    pace = Pace(start=1e-6, low_share=0.5, bulk_share=1.0, bulk_start=1e-6)
    _, regime = expected(pace, ring([4e3, 4e5, 4e9]))
    assert regime.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("kind", "size", "wire", "rounds"),
    [
        ("all_gather", 8e9, 7e9 / 4.5e11, 7),
        ("reduce_scatter", 8e9, 7e9 / 4.5e11, 7),
        ("all_reduce", 8e9, 14e9 / 4.5e11, 14),
        ("all_to_all", 64e9, 7e9 / 4.5e11, 7),
        ("send", 8e9, 8e9 / 4.5e11, 1),
        ("broadcast", 8e9, 8e9 / 4.5e11, 7),
    ],
)
@pytest.mark.parametrize("reduces", [False, True])
def test_a_switch_carries_what_nccl_tests_counts(kind: str, size: float, wire: float, rounds: float, reduces: bool) -> None:  # noqa: FBT001
    """busbw = S/t × factor: an array of 8 GB, and 8 GB of each of 8 chips. A switch that adds is the library's affair."""
    mesh = Mesh((Axis("gpu", 8, "switch", 4.5e11, in_network_reduction=reduces),))
    found = load(COLLECTIVES[kind](bytes=column(size), axes=("gpu",)), mesh)
    assert found is not None
    assert found.wire.tolist() == pytest.approx([wire])
    assert found.piece.tolist() == [1e9]
    assert found.piece_s.tolist() == pytest.approx([1e9 / 4.5e11])
    assert (found.rounds, found.outer_rounds) == (rounds, 0.0)


def test_what_leaves_a_domain_has_rounds_outside() -> None:
    gather = COLLECTIVES["all_gather"](bytes=column(1e6), axes=("gpu", "node"))
    both = load(gather, Mesh((NVLINK, NETWORK)))
    assert both is not None
    assert (both.rounds, both.outer_rounds) == (7.0, 3.0)
    alone = COLLECTIVES["all_reduce"](bytes=column(1e6), axes=("node",))
    found = load(alone, Mesh((NVLINK, NETWORK)), outer=("node",))
    assert found is not None
    assert (found.rounds, found.outer_rounds) == (0.0, 6.0)


def test_one_chip_exchanges_nothing() -> None:
    assert load(COLLECTIVES["all_gather"](bytes=column(1e6), axes=("gpu",)), Mesh((Axis("gpu", 1, "switch", 4.5e11),))) is None


def test_a_start_is_all_that_next_to_nothing_takes() -> None:
    found, _ = expected(Pace(start=5e-6, step=1e-6, low_share=0.2, bulk_share=0.8), ring([1.0]))
    assert math.isclose(found[0], 12e-6, rel_tol=1e-5)
