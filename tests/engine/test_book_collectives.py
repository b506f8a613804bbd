"""Numbers of "How To Scale Your Model" (Austin et al., jax-ml.github.io/scaling-book) about collectives.

Chapters on TPUs, sharded matrices, inference and GPUs. The book rounds to two or three digits and to round sizes; the values here
are the same calculations in full, met to 1e-6. Where a figure is an erratum, the right one stands and the text says so.
"""

from __future__ import annotations

import pytest

from service.engine.arrays import column
from service.engine.collective import cost_of
from service.engine.collectives.all_to_all import AllToAll
from service.engine.mesh import Mesh
from service.engine.wiring import group

from .meshes import EGRESS, RAIL, V5E_LINK, line, over, ring, seconds, switch

REL = 1e-6
HOP = 1e-6
GIB = 2.0**30


def test_hbm_is_25_times_as_fast_as_an_axis_of_v5p() -> None:
    """Ch. 2: about 25; 2.5e12 B/s over 9e10 of a link are 27.8, and 31 with the 2.8e12 of the table."""
    assert seconds("send", 2.5e12, line(4, link=9e10)) == pytest.approx(27.77777777777778, rel=REL)


def test_from_corner_to_corner_of_a_v5e_slice() -> None:
    """Ch. 2, problem 5: bf16[8, 128, 8192] over 4 x 4 without wraparound: six hops, two ports, "188 us" hidden or 192.4 in sum."""
    found = over("broadcast", 16_777_216, line(4, latency=HOP), line(4, latency=HOP, name="y"))
    assert found.steps == 6
    assert found.latency_s.item() == pytest.approx(6e-6, rel=REL)
    assert found.bandwidth_s.item() == pytest.approx(0.0001864135111111111, rel=REL)
    assert found.time.item() <= 0.00019241351111111112 <= found.bandwidth_s.item() + found.latency_s.item() + 1e-12


def test_gathering_along_a_ring_of_four() -> None:
    """Ch. 3, pop quiz 2: bf16[2048, 8192] as if the axis were a ring: V/W of both directions; 377 us from rounded bytes."""
    found = seconds("all_gather", 33_554_432, ring(4, latency=HOP), form="asymptotic")
    assert found == pytest.approx(0.0003728270222222222, rel=REL)


def test_gathering_along_a_line_of_four() -> None:
    """The same on a real slice of 8 x 4, whose axis of 4 has no wraparound: three hops of V/4 over one direction, 560 us."""
    found = over("all_gather", 33_554_432, line(4, latency=HOP))
    assert found.time.item() == pytest.approx(0.0005592405333333334, rel=REL)
    assert found.steps == 3
    assert found.latency_s.item() == pytest.approx(3e-6, rel=REL)


def test_gathering_so_little_that_the_hops_count() -> None:
    """Ch. 3, pop quiz 2: bf16[256, 256] along the same line: 0.73 us of bytes per hop of 1 us."""
    found = over("all_gather", 131_072, line(4, latency=HOP))
    assert found.bandwidth_s.item() / found.steps == pytest.approx(7.281777777777778e-07, rel=REL)
    assert found.time.item() == pytest.approx(3e-6, rel=REL)
    assert found.latency_bound.item()


def test_the_largest_piece_for_which_the_hop_counts() -> None:
    """Ch. 3: 45 kB on a link of 4.5e10 B/s with hops of 1 us."""
    for chips in (2, 4, 16):
        below, above = (over("all_gather", chips * piece, line(chips, latency=HOP)) for piece in (44_999, 45_001))
        assert (below.latency_bound.item(), above.latency_bound.item()) == (True, False)


def test_gathering_an_array_that_another_axis_shards() -> None:
    """Ch. 3, problem 2: AllGather_X of bf16[B_X, D_Y], B = 1024, D = 4096 on v4p 4 x 4 x 4: 2BD/Y over one axis, 23 us."""
    volume = 2 * 1024 * 4096 / 4
    assert seconds("all_gather", volume, ring(4, latency=HOP), form="asymptotic") == pytest.approx(2.330168888888889e-05, rel=REL)


def test_reducing_an_array_that_two_other_axes_shard() -> None:
    """Ch. 3, problem 2: AllReduce_Z of bf16[B_X, D_Y]{U_Z}. The first edition's 190 us forgets 1/(XY); 11.65 us is right."""
    volume = 2 * 1024 * 4096 / (4 * 4)
    assert seconds("all_reduce", volume, ring(4, latency=HOP), form="asymptotic") == pytest.approx(1.1650844444444444e-05, rel=REL)


def test_gathering_128_numbers_takes_two_hops() -> None:
    """Ch. 3, problem 3: bf16[128] around a ring of 4."""
    found = over("all_gather", 256, ring(4, latency=HOP), form="asymptotic")
    assert found.steps == 2
    assert found.time.item() == pytest.approx(2e-6, rel=REL)


def test_an_all_to_all_takes_a_quarter_of_a_gather() -> None:
    """Ch. 3: 64 MiB around a ring of 16."""
    for form in ("exact", "asymptotic"):
        assert seconds("all_to_all", 67_108_864, ring(16), form=form) == pytest.approx(0.0001864135111111111, rel=REL)
    assert seconds("all_gather", 67_108_864, ring(16), form="asymptotic") == pytest.approx(0.0007456540444444444, rel=REL)


def test_tensor_parallelism_pays_in_decode_while_weights_take_longer() -> None:
    """Ch. 7: 2BD/W_ici against 2DF/(Y·W_hbm): Y < F/(B·beta) = 64 with beta = W_hbm/W_ici = 8, F = 16384, B = 32."""
    d, f, b, link = 8192, 16_384, 32, V5E_LINK
    exchange = seconds("all_gather", 2 * b * d, ring(64, link=link), form="asymptotic")
    weights = [2 * d * f / y / (8 * 2 * link) for y in (63.999, 64, 64.001)]
    assert weights[0] > exchange > weights[2]
    assert weights[1] == pytest.approx(exchange, rel=REL)


def test_int8_activations_of_a_decode_step_are_latency_bound() -> None:
    """Ch. 7, appendix: an exchange among 8 is bound by hops below 8 x 45 kB; int8[16, 8192] has 131 kB, so from 2.9 shards on."""
    below, above = (over("all_gather", volume, line(8, latency=HOP)).latency_bound.item() for volume in (359_999, 360_001))
    assert (below, above) == (True, False)
    assert over("all_gather", 16 * 8192, line(8, latency=HOP)).latency_bound.item()
    shards = [over("all_gather", 16 * 8192, line(size, latency=HOP)).latency_bound.item() for size in (2, 3)]
    assert shards == [False, True]


def test_gathering_inside_a_node() -> None:
    """Ch. 12, pop quiz 1: bf16[1024, 16384] among 8 H100: 75 us as V/W, 65 us with 7/8."""
    assert seconds("all_gather", 33_554_432, switch(8), form="asymptotic") == pytest.approx(7.456540444444445e-05, rel=REL)
    assert seconds("all_gather", 33_554_432, switch(8)) == pytest.approx(6.524472888888889e-05, rel=REL)


def test_an_all_to_all_inside_a_node() -> None:
    """Ch. 12, pop quiz 2: 128 MiB; with 4 of 8 pieces half of it; a ring with as much bandwidth takes twice as long."""
    volume, mesh = 134_217_728, Mesh((switch(8),))
    assert seconds("all_to_all", volume, switch(8)) == pytest.approx(3.2622364444444445e-05, rel=REL)
    near = seconds("all_to_all", volume, switch(8), form="asymptotic")
    assert near == pytest.approx(3.7282702222222224e-05, rel=REL)
    ragged = cost_of(AllToAll(bytes=column(volume), axes=("gpu",), destinations=column(4)), mesh)
    assert ragged.time.item() == pytest.approx(1.6311182222222222e-05, rel=REL)
    assert seconds("all_to_all", volume, ring(8, link=EGRESS / 2)) / near == pytest.approx(2.0, rel=REL)


@pytest.mark.parametrize(
    ("destinations", "share"),
    [(8, 0.123046875), (64 * (1 - (63 / 64) ** 8), 0.11652397801750786)],
    ids=["each token to 8 shards", "as many shards as 8 random choices hit"],
)
def test_the_share_of_tokens_that_leave_their_shard(destinations: float, share: float) -> None:
    """Ch. 12: 8 of 64 experts, min(k/Z, 1)·(Z−1)/Z, against (1 − ((Z−1)/Z)^k)·(Z−1)/Z when choices fall together."""
    asked = AllToAll(bytes=column(64 * EGRESS), axes=("gpu",), destinations=column(destinations))
    assert cost_of(asked, Mesh((switch(64),))).time.item() == pytest.approx(share, rel=REL)


def test_reduction_in_the_switch() -> None:
    """Ch. 12: 1 GiB among 8: 2V(N−1)/(NW) against V/W, a gain of 1.75 in theory (1.3 as measured)."""
    plain, sharp = seconds("all_reduce", GIB, switch(8)), seconds("all_reduce", GIB, switch(8, in_network_reduction=True))
    assert plain == pytest.approx(0.004175662648888889, rel=REL)
    assert sharp == pytest.approx(0.0023860929422222224, rel=REL)
    assert plain / sharp == pytest.approx(1.75, rel=REL)


def test_the_levels_of_a_superpod() -> None:
    """Ch. 12: 8 chips in a node, 32 nodes, 4 groups: 514, 413 and 17,100 GB/s, of which the node's egress decides."""
    axes = (switch(8), switch(32, RAIL, "node"), switch(4, 12.8e12 / 256, "spine"))
    rates = [1 / level.gather("exact") for level in group(axes).levels]
    assert rates == pytest.approx([514285714285.7143, 412903225806.4516, 17066666666666.666], rel=REL)
    assert GIB / seconds("all_gather", GIB, *axes) == pytest.approx(412903225806.4516, rel=REL)


def test_an_all_to_all_over_two_nodes() -> None:
    """Ch. 12: "more than 4x" takes the factors of many nodes for those of two; in full it is 2.57 times one node's time."""
    node = switch(2, RAIL, "node")
    inside, across = seconds("all_to_all", GIB, switch(8)), seconds("all_to_all", GIB, switch(8), node)
    assert inside == pytest.approx(0.00026097891555555556, rel=REL)
    assert across == pytest.approx(0.00067108864, rel=REL)
    near = [seconds("all_to_all", GIB, *axes, form="asymptotic") for axes in ((switch(8),), (switch(8), node))]
    assert near[1] / near[0] == pytest.approx(4.5, rel=REL)


def test_gathering_over_nodes_what_the_chips_of_a_node_shard() -> None:
    """Ch. 12, pop quiz 3: bf16[8192_X, 32768_Y] over 256 GPUs. Y up to a node does not help; beyond it, each node spanned does."""
    volume = 536_870_912
    found = {
        y: [
            seconds("all_gather", volume / y, switch(8), switch(y // 8, RAIL, "y"), switch(256 // y, RAIL, "x"), names=("x",), form=form)
            for form in ("exact", "asymptotic")
        ]
        for y in (8, 16, 64)
    }
    assert found[8][0] == pytest.approx(0.00130023424, rel=REL)
    assert found[16] == pytest.approx([0.0006291456, 0.00067108864], rel=REL)
    assert found[64] == pytest.approx([0.00012582912, 0.00016777216], rel=REL)


def test_the_two_terms_of_a_reduction_beside_an_inner_axis() -> None:
    """Ch. 12: 1 GiB with Y = 4 inside the node is bound between nodes; with Y = 32 it takes a quarter."""
    four = (switch(4, name="y"), switch(2), switch(32, RAIL, "node"))
    levels = group(four[1:]).levels
    terms = [GIB / 4 * level.gather("asymptotic") for level in levels]
    assert terms == pytest.approx([0.0005965232355555556, 0.00268435456], rel=REL)
    thirty_two = (switch(8, name="y"), switch(4, RAIL, "z"), switch(8, RAIL, "node"))
    found = seconds("reduce_scatter", GIB / 32, *thirty_two, names=("node",), form="asymptotic")
    assert found == pytest.approx(0.00067108864, rel=REL)


def test_reduction_in_the_switch_of_an_array_sharded_over_another_axis() -> None:
    """Ch. 12, problem 4: bf16[D, F_Y]{U_X} with D = 8192, F = 32768, Y = 4 inside a node: 2DF/(Y·W)."""
    axes = (switch(4, name="y", in_network_reduction=True), switch(2, name="x", in_network_reduction=True))
    assert seconds("all_reduce", 2 * 8192 * 32_768 / 4, *axes, names=("x",)) == pytest.approx(0.0002982616177777778, rel=REL)
