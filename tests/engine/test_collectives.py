"""Laws that hold for every collective on any mesh; a new collective is tested by existing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.engine.arrays import column
from service.engine.collective import Cost, cost_of
from service.engine.collectives import COLLECTIVES
from service.engine.collectives.all_to_all import AllToAll
from service.engine.mesh import TOPOLOGIES, Axis, Mesh
from service.engine.network import cost
from service.errors import InvalidInput

from .meshes import full, line, over, ring, switch

REL = 1e-12
SIZES = st.one_of(st.integers(1, 9), st.sampled_from([16, 72, 1024, 2**20]))
RATES = st.floats(1.0, 1e13)
LATENCIES = st.one_of(st.just(0.0), st.floats(1e-9, 1e-3))
VOLUMES = st.integers(1, 2**53 - 1)
KINDS = st.sampled_from(sorted(COLLECTIVES))
FORMS: Any = st.sampled_from(["exact", "asymptotic"])


@st.composite
def axes(draw: st.DrawFn, topologies: tuple[Any, ...] = TOPOLOGIES, *, reduce: bool = True) -> tuple[Axis, ...]:
    count = draw(st.integers(1, 4))
    found = []
    for name in "xyzw"[:count]:
        topology = draw(st.sampled_from(topologies))
        reduces = reduce and topology == "switch" and draw(st.booleans())
        found.append(Axis(name, draw(SIZES), topology, draw(RATES), draw(LATENCIES), reduces))
    return tuple(found)


def cost_on(kind: str, volume: Any, wired: tuple[Axis, ...], form: Any = "exact", **more: Any) -> Cost:
    """The collective on all axes; a send on the first alone."""
    names = [axis.name for axis in wired]
    return cost(kind, column(volume), names[:1] if kind == "send" else names, Mesh(wired), form=form, **more)


@given(KINDS, VOLUMES, axes(), FORMS)
def test_the_longer_of_bytes_and_steps_decides(kind: str, volume: int, wired: tuple[Axis, ...], form: Any) -> None:
    found = cost_on(kind, volume, wired, form)
    assert found.time.item() == max(found.bandwidth_s.item(), found.latency_s.item())
    assert found.latency_bound.item() == (found.latency_s.item() > found.bandwidth_s.item())
    assert found.wire_bytes.item() >= 0


@given(KINDS, VOLUMES, axes())
def test_exact_is_at_most_asymptotic(kind: str, volume: int, wired: tuple[Axis, ...]) -> None:
    exact, near = (cost_on(kind, volume, wired, form) for form in ("exact", "asymptotic"))
    assert exact.bandwidth_s.item() <= near.bandwidth_s.item() * (1 + REL)
    assert exact.latency_s == near.latency_s
    assert (exact.wire_bytes, exact.steps) == (near.wire_bytes, near.steps)


def numbers(found: Cost) -> Cost:
    """A cost without the names of its axes."""
    return found._replace(axes=())


@given(KINDS, VOLUMES, axes(), FORMS)
def test_twice_the_bandwidth_halves_the_bytes_time_and_leaves_the_steps(kind: str, volume: int, wired: tuple[Axis, ...], form: Any) -> None:
    once, twice = (cost_on(kind, volume, wired, form, link=np.array([[factor]])) for factor in (1.0, 2.0))
    assert twice.bandwidth_s.item() == once.bandwidth_s.item() / 2
    assert twice.latency_s.item() == once.latency_s.item()


@given(KINDS, st.lists(VOLUMES, min_size=2, max_size=5), axes(), FORMS)
def test_a_row_of_a_column_is_that_question_alone(kind: str, volumes: list[int], wired: tuple[Axis, ...], form: Any) -> None:
    together = cost_on(kind, volumes, wired, form)
    for at, volume in enumerate(volumes):
        alone = cost_on(kind, volume, wired, form)
        for name in ("volume", "wire_bytes", "bandwidth_s", "time", "payload"):
            assert getattr(together, name)[at] == getattr(alone, name).item()


@given(KINDS, VOLUMES, axes(), FORMS)
def test_more_bytes_never_take_less_and_never_more_steps(kind: str, volume: int, wired: tuple[Axis, ...], form: Any) -> None:
    less, more = cost_on(kind, volume, wired, form), cost_on(kind, 2 * volume, wired, form)
    assert less.time.item() <= more.time.item()
    assert (less.steps, less.latency_s) == (more.steps, more.latency_s)


@given(
    KINDS, VOLUMES, axes(), st.builds(Axis, st.just("one"), st.just(1), st.sampled_from(TOPOLOGIES), RATES, LATENCIES), st.integers(0, 4)
)
def test_an_axis_of_one_chip_costs_nothing(kind: str, volume: int, wired: tuple[Axis, ...], one: Axis, at: int) -> None:
    more = (*wired[:at], one, *wired[at:])
    names = ["x"] if kind == "send" else [axis.name for axis in more]
    assert numbers(cost(kind, column(volume), names, Mesh(more))) == numbers(cost_on(kind, volume, wired))
    alone = cost(kind, column(volume), ["one"], Mesh((one,)))
    assert [alone.time.item(), alone.wire_bytes.item(), alone.steps, alone.algbw, alone.busbw] == [0, 0, 0, None, None]


@given(st.sampled_from(sorted(set(COLLECTIVES) - {"send"})), VOLUMES, axes(), FORMS, st.randoms())
def test_the_order_in_which_axes_are_named_is_free(kind: str, volume: int, wired: tuple[Axis, ...], form: Any, drawn: Any) -> None:
    names = [axis.name for axis in wired]
    shuffled = drawn.sample(names, len(names))
    assert numbers(cost(kind, column(volume), shuffled, Mesh(wired), form=form)) == numbers(cost_on(kind, volume, wired, form))


@given(VOLUMES, axes(reduce=False), FORMS)
def test_an_all_reduce_is_a_scatter_and_a_gather(volume: int, wired: tuple[Axis, ...], form: Any) -> None:
    parts = [cost_on(kind, volume, wired, form) for kind in ("reduce_scatter", "all_gather")]
    whole = cost_on("all_reduce", volume, wired, form)
    for name in ("time", "bandwidth_s", "latency_s", "steps", "wire_bytes"):
        assert getattr(whole, name) == pytest.approx(sum(getattr(part, name) for part in parts), rel=REL)


@given(VOLUMES, axes(topologies=("switch",)), FORMS)
def test_reduction_in_the_network_saves_up_to_half(volume: int, wired: tuple[Axis, ...], form: Any) -> None:
    """V/W against 2·V/W·(N−1)/N: nothing with two chips, all but half with many."""
    plain = tuple(Axis(axis.name, axis.size, "switch", axis.bandwidth, axis.latency) for axis in wired)
    all_do = tuple(Axis(axis.name, axis.size, "switch", axis.bandwidth, axis.latency, True) for axis in wired)
    before, after = (cost_on("all_reduce", volume, each, form) for each in (plain, all_do))
    assert before.bandwidth_s.item() / 2 * (1 - REL) <= after.bandwidth_s.item() <= before.bandwidth_s.item() * (1 + REL)
    assert after.latency_s.item() <= before.latency_s.item()
    some = cost_on("all_reduce", volume, wired, form)
    assert some == (after if all(axis.in_network_reduction for axis in wired if axis.size > 1) else before)


@given(
    st.sampled_from(["all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast"]), VOLUMES, axes(topologies=("ring",)), FORMS
)
def test_without_wraparound_it_takes_twice_as_long(kind: str, volume: int, wired: tuple[Axis, ...], form: Any) -> None:
    lines = tuple(Axis(axis.name, axis.size, "line", axis.bandwidth, axis.latency) for axis in wired)
    wrapped, cut = cost_on(kind, volume, wired, form), cost_on(kind, volume, lines, form)
    assert cut.bandwidth_s.item() == pytest.approx(2 * wrapped.bandwidth_s.item(), rel=REL)


@given(VOLUMES, st.sampled_from(["ring", "line", "switch"]), RATES, st.integers(2, 10**6), st.integers(2, 10**6))
def test_asymptotically_a_gather_does_not_depend_on_the_chips(volume: int, topology: Any, rate: float, few: int, many: int) -> None:
    one, other = (cost_on("all_gather", volume, (Axis("x", size, topology, rate),), "asymptotic") for size in (few, many))
    assert one.time == other.time


@given(st.integers(1, 6), VOLUMES)
def test_what_another_axis_shards_costs_less_on_a_torus_and_inside_a_node_costs_the_same(power: int, volume: int) -> None:
    """An array sharded over Y: 1/Y on a torus; over nodes of 8, Y up to 8 leaves the node's egress busy as before."""
    y = 2**power
    whole, sharded = over("all_gather", volume * y, ring(4)), over("all_gather", volume, ring(4), ring(y, name="y"), names=("x",))
    assert sharded.time.item() == pytest.approx(whole.time.item() / y, rel=REL)
    nodes = switch(4, 5e10, "node")
    whole = over("all_gather", volume * y, switch(8), nodes, form="asymptotic")
    inside, spanned = min(y, 8), max(1, y // 8)
    axes = (switch(inside, name="y"), switch(8 // inside), switch(spanned, 5e10, "z"), nodes)
    sharded = over("all_gather", volume, *axes, names=("gpu", "node"), form="asymptotic")
    assert sharded.time.item() == pytest.approx(whole.time.item() / spanned, rel=REL)


@given(VOLUMES, axes(), FORMS, st.integers(1, 10**7), st.integers(1, 10**7))
def test_fewer_destinations_cost_their_share(volume: int, wired: tuple[Axis, ...], form: Any, few: int, many: int) -> None:
    mesh, names = Mesh(wired), tuple(axis.name for axis in wired)
    dense, some, more = (
        cost_of(AllToAll(bytes=column(volume), axes=names, destinations=None if k is None else column(k)), mesh, form)
        for k in (None, min(few, many), max(few, many))
    )
    assert some.bandwidth_s.item() <= more.bandwidth_s.item() <= dense.bandwidth_s.item()
    share = min(min(few, many) / mesh.devices, 1.0)
    assert some.bandwidth_s.item() == pytest.approx(dense.bandwidth_s.item() * share, rel=REL)
    assert some.latency_s == dense.latency_s


@given(st.sampled_from(["all_gather", "reduce_scatter", "all_reduce", "all_to_all"]), VOLUMES, SIZES.filter(lambda size: size > 1))
def test_bus_bandwidth_compares_with_the_links(kind: str, volume: int, size: int) -> None:
    """nccl-tests: S/t · 2(N−1)/N of an all-reduce, S/t · (N−1)/N else: the egress of a chip, whatever N."""
    wired = {"switch": (switch(size), 4.5e11), "full": (full(size, pair=6.4e10), 6.4e10 * (size - 1))}
    for axis, rate in wired.values():
        found = over(kind, volume, axis)
        assert found.busbw is not None
        assert found.busbw.item() == pytest.approx(rate, rel=REL)
        assert found.busbw.item() * found.time.item() == pytest.approx(found.wire_bytes.item(), rel=REL)


def test_the_bandwidths_of_nccl_tests() -> None:
    """An all-reduce of 64 MiB among 8 at 450 GB/s takes 261.0 us: algbw 257 GB/s, busbw 450 GB/s."""
    found = over("all_reduce", 2**26, switch(8))
    assert found.time.item() == pytest.approx(2 * 7 / 8 * 2**26 / 4.5e11, rel=REL)
    assert found.algbw is not None
    assert found.algbw.item() == pytest.approx(4.5e11 * 8 / 14, rel=REL)
    exchange = over("all_to_all", 2**26, switch(8))
    assert exchange.payload.item() == 2**23


@settings(max_examples=30)
@given(KINDS, VOLUMES, axes(), FORMS)
def test_the_largest_meshes_stay_finite(kind: str, volume: int, wired: tuple[Axis, ...], form: Any) -> None:
    vast = tuple(Axis(f"{axis.name}{at}", 2**53 - 1, axis.topology, 1e30, 1e3) for at in range(4) for axis in wired)
    found = cost_on(kind, volume, vast, form)
    assert np.isfinite([found.time.item(), found.wire_bytes.item(), found.steps]).all()


def test_a_send_goes_along_one_axis() -> None:
    mesh = Mesh((ring(4), line(4, name="y"), line(1, name="z")))
    assert cost("send", column(4.5e10), ["x", "z"], mesh).time == 1.0
    with pytest.raises(InvalidInput) as refused:
        cost("send", column(1), ["x", "y"], mesh)
    assert [(fault.pointer, fault.code) for fault in refused.value.faults] == [("/axes", "out-of-range")]
