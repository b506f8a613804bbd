"""The formulas of collectives against the same exchange carried out piece by piece."""

from __future__ import annotations

import itertools

import pytest

from service.engine.collective import Cost
from service.engine.mesh import Axis

from . import exchanging
from .exchanging import Wires
from .meshes import full, line, over, ring, switch

REL = 1e-12
VOLUME = 10_080
LINK = 7


def agree(found: Cost, carried: Wires) -> None:
    """Time, steps and bytes of an exchange made in steps, each hop of which takes a second without bytes."""
    assert found.bandwidth_s.item() == pytest.approx(float(carried.seconds), rel=REL)
    assert found.wire_bytes.item() * found.chips == pytest.approx(float(carried.sent), rel=REL)
    assert (found.steps, found.latency_s.item()) == (carried.steps, carried.steps)


@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize(("side", "axes"), [*((side, 1) for side in range(2, 10)), (2, 2), (3, 2), (4, 2), (5, 2), (2, 3), (3, 3)])
def test_gathers_on_rings_and_lines(side: int, axes: int, *, wraps: bool) -> None:
    kind = ring if wraps else line
    found = over("all_gather", VOLUME, *(kind(side, LINK, 1.0, name) for name in "xyz"[:axes]))
    agree(found, exchanging.gathered(side, axes, VOLUME, LINK, wraps=wraps))


@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("chips", range(2, 9))
def test_sums_on_a_ring(chips: int, *, everywhere: bool) -> None:
    """Half of the array travels each way and all the way round: as many bytes as by the formula, in more steps than it needs."""
    values = [[(7 * chip + 3) * (piece + 1) % 101 for piece in range(2 * chips)] for chip in range(chips)]
    carried, ends = exchanging.reduced_on_a_ring(values, LINK, everywhere=everywhere)
    found = over("all_reduce" if everywhere else "reduce_scatter", 2 * chips, ring(chips, LINK))
    assert found.bandwidth_s.item() == pytest.approx(float(carried.seconds), rel=REL)
    assert found.wire_bytes.item() * chips == carried.sent
    assert found.steps <= carried.steps
    totals = dict(enumerate(map(sum, zip(*values, strict=True))))
    assert {piece: total for end in ends for piece, total in end.items()} == totals
    assert {len(end) for end in ends} == {2 * chips if everywhere else 2}


SHAPES = [(2,), (4,), (6,), (2, 4), (4, 4), (4, 2, 6)]


@pytest.mark.parametrize(
    ("sizes", "wraps"), [(sizes, wraps) for sizes in SHAPES for wraps in itertools.product((True, False), repeat=len(sizes))]
)
def test_all_to_alls_on_rings_and_lines(sizes: tuple[int, ...], wraps: tuple[bool, ...]) -> None:
    links = (LINK, 5, 11)
    shape = list(zip(sizes, wraps, links, strict=False))
    axes = [(ring if each else line)(size, link, name=name) for (size, each, link), name in zip(shape, "xyz", strict=False)]
    carried = exchanging.exchanged_on_a_torus(shape, VOLUME)
    assert over("all_to_all", VOLUME, *axes).time.item() == pytest.approx(float(carried.busiest), rel=REL)


@pytest.mark.parametrize("chips", [3, 5, 7])
@pytest.mark.parametrize("wraps", [True, False])
def test_all_to_alls_on_an_odd_ring_or_line_need_a_little_less(chips: int, *, wraps: bool) -> None:
    carried = exchanging.exchanged_on_a_torus([(chips, wraps, LINK)], VOLUME)
    found = over("all_to_all", VOLUME, (ring if wraps else line)(chips, LINK)).time.item()
    assert found * (1 - 1 / chips**2) == pytest.approx(float(carried.busiest), rel=REL)


LEVELS = [[(8, 45)], [(4, 45), (3, 5)], [(2, 45), (3, 5), (2, 9)], [(3, 9), (2, 2), (4, 1)]]


def switched(levels: list[tuple[int, int]]) -> list[Axis]:
    return [switch(size, rate, name) for (size, rate), name in zip(levels, ("gpu", "node", "leaf"), strict=False)]


@pytest.mark.parametrize("levels", LEVELS)
def test_gathers_through_switches(levels: list[tuple[int, int]]) -> None:
    carried = exchanging.gathered_through_levels(levels, VOLUME)
    found = over("all_gather", VOLUME, *switched(levels))
    assert found.time.item() == pytest.approx(float(carried.busiest), rel=REL)
    assert found.wire_bytes.item() * found.chips == pytest.approx(float(carried.sent), rel=REL)


@pytest.mark.parametrize("levels", LEVELS)
def test_all_to_alls_through_switches(levels: list[tuple[int, int]]) -> None:
    carried = exchanging.exchanged_through_levels(levels, VOLUME)
    assert over("all_to_all", VOLUME, *switched(levels)).time.item() == pytest.approx(float(carried.busiest), rel=REL)


@pytest.mark.parametrize("chips", range(2, 9))
def test_one_step_is_enough_where_every_pair_has_a_link(chips: int) -> None:
    """In one round every link carries a piece, and the pair's reply in another direction at the same time."""
    axis = full(chips, LINK, latency=1.0)
    assert over("all_gather", VOLUME, axis).bandwidth_s.item() == pytest.approx(VOLUME / chips / LINK, rel=REL)
    assert over("all_to_all", VOLUME, axis).bandwidth_s.item() == pytest.approx(VOLUME / chips**2 / LINK, rel=REL)
    assert [over(kind, VOLUME, axis).steps for kind in ("all_gather", "all_to_all", "all_reduce", "send")] == [1, 1, 2, 1]


@pytest.mark.parametrize("pieces", [1, 10, 1000])
def test_a_broadcast_is_a_stream(pieces: int) -> None:
    """In more pieces the last chips wait less, and what is left is the time of one link."""
    chips = 5
    carried = exchanging.streamed_down_a_line(chips, pieces, VOLUME, LINK)
    found = over("broadcast", VOLUME, line(chips, LINK)).time.item()
    assert float(carried.seconds) == pytest.approx(found * (1 + (chips - 2) / pieces), rel=REL)


@pytest.mark.parametrize(("side", "groups"), [(4, 2), (2, 3), (6, 4)])
def test_rings_inside_a_switch(side: int, groups: int) -> None:
    """Each chip exchanges with those that stand where it stands in the other rings, and with its ring; the slower of the two decides."""
    axes = (ring(side, LINK), switch(groups, 3, "node"))
    outer = exchanging.gathered_through_levels([(side, 10**9), (groups, 3)], VOLUME).busiest
    inner = exchanging.gathered(side, 1, VOLUME, LINK, wraps=True).seconds
    assert over("all_gather", VOLUME, *axes).time.item() == pytest.approx(float(max(outer, inner)), rel=REL)
    outer = exchanging.exchanged_through_levels([(side, 10**9), (groups, 3)], VOLUME).busiest
    inner = exchanging.exchanged_on_a_torus([(side, True, LINK)], VOLUME).busiest / groups
    assert over("all_to_all", VOLUME, *axes).time.item() == pytest.approx(float(max(outer, inner)), rel=REL)
