"""What holds of every estimate, on every chip of the catalogue: the roofline bounds it, its losses explain it, it grows."""

from __future__ import annotations

import dataclasses
from functools import cache

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from service.catalogue import Catalogue, load
from service.catalogue.silicon import die
from service.engine.arrays import column
from service.engine.kernels import attention, gemm, vector
from service.engine.kernels.gemm import GemmParameters
from service.engine.kernels.losses import Ladder
from service.engine.kernels.physics import State
from service.engine.kernels.search import Problem, fastest
from service.engine.kernels.silicon import Silicon
from service.engine.kernels.spread import Band, around, spread
from service.engine.kernels.tiling import Product
from service.engine.kernels.vector import Pass, VectorParameters

from .asking import attend, first, gemm_parameters, product, silicon, usual_flash, usual_gemm, usual_split

dims = st.integers(1, 40).flatmap(lambda bits: st.integers(1, 2**bits)).map(float)
states = st.sampled_from([State(launch, held) for launch in ("graph", "eager") for held in ("cold", "resident")])
PASSING = VectorParameters(*(column(each) for each in (2e-6, 0.85, 3e5, 2.0, 0.3, 3.0, 1e-7, 0.1, 2e-5)))


@cache
def catalogue() -> Catalogue:
    return load()


@cache
def chips() -> dict[str, Silicon]:
    every = catalogue().chips
    return {chip.id: Silicon.of(die(chip, every).numbers, chip.numbers()["hbm"]["bandwidth_bytes_per_s"]) for chip in every}


def holds(found: Ladder) -> None:
    """Each idealisation that is given up costs time, and the losses are the whole of the gap."""
    assert all((each >= 0.0).all() for each in found.losses)
    assert (found.estimate >= found.roofline).all()
    np.testing.assert_allclose(sum(found.losses), found.estimate - found.roofline, rtol=1e-9, atol=1e-18)


def matmul(ask: Product, chip: Silicon, parameters: GemmParameters, state: State) -> Ladder:
    return gemm.ladder(ask, fastest(Problem(ask, chip, parameters), state), chip, parameters, state)


def test_the_roofline_bounds_products_on_every_chip() -> None:
    m, n, k = np.rint(2.0 ** np.random.default_rng(5).uniform(0.0, 17.0, (3, 40)))
    for chip in chips().values():
        for parameters in (usual_gemm(), gemm_parameters()):
            ask = product(m, n, k, cast=2.0)
            found = matmul(ask, chip, parameters, State())
            holds(found)
            assert (found.roofline >= np.maximum(ask.flops / ask.peak, ask.bytes / chip.hbm_bandwidth)).all()


@settings(max_examples=60, deadline=None)
@given(data=st.data(), sizes=st.tuples(dims, dims, dims), batch=st.integers(1, 500).map(float), state=states)
def test_the_roofline_bounds_any_product(data: st.DataObject, sizes: tuple[float, float, float], batch: float, state: State) -> None:
    chip = data.draw(st.sampled_from(sorted(chips())))
    holds(matmul(product(*sizes, batch=batch, cast=2.0), chips()[chip], usual_gemm(), state))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), batch=st.integers(1, 4096), heads=st.integers(1, 128), lengths=st.tuples(dims, st.integers(0, 10**6)), state=states)
def test_the_roofline_bounds_any_attention(data: st.DataObject, batch: int, heads: int, lengths: tuple[float, int], state: State) -> None:
    chip = chips()[data.draw(st.sampled_from(sorted(chips())))]
    kv_heads = data.draw(st.sampled_from([each for each in range(1, heads + 1) if heads % each == 0]))
    holds(attention.ladder(attend(batch, heads, kv_heads, lengths[0], sum(lengths)), chip, usual_flash(), usual_split(), state))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), rows=dims, cols=dims, state=states)
def test_the_roofline_bounds_any_pass(data: st.DataObject, rows: float, cols: float, state: State) -> None:
    chip = chips()[data.draw(st.sampled_from(sorted(chips())))]
    ask = Pass(column(4.0 * rows * cols), column(5.0 * rows * cols), column(rows), column(cols), column(2e13))
    holds(vector.ladder(ask, chip, PASSING, state))


@pytest.mark.parametrize("dim", ["m", "n", "k", "batch"])
def test_more_work_takes_more_time_but_for_the_teeth_of_the_saw(dim: str) -> None:
    """A tooth is a wave or a tile that is better filled: doubling a dim never gains, and one more costs at most a little less."""
    sizes = np.rint(2.0 ** np.arange(5.0, 14.0, 0.25))
    asks = dataclasses.replace(product(700.0, 3000.0, 5000.0), **{dim: sizes})
    times = matmul(asks, silicon(), usual_gemm(), State()).estimate
    doubled = times[4:] / times[:-4]
    assert (doubled >= 0.999).all()
    assert (times[1:] / times[:-1]).min() > 0.93


def test_longer_prompts_and_caches_take_longer() -> None:
    lengths = np.rint(2.0 ** np.arange(7.0, 16.0, 0.5))
    prompts = attention.ladder(attend(2, 32, 8, lengths, lengths), silicon(), usual_flash(), usual_split(), State()).estimate
    caches = attention.ladder(attend(16, 32, 8, 1, lengths), silicon(), usual_flash(), usual_split(), State()).estimate
    assert (np.diff(prompts) > 0.0).all()
    assert (caches[1:] > 0.97 * caches[:-1]).all()


def test_the_quantisation_of_the_activation_is_a_pass_of_its_own() -> None:
    ask, plain = product(4096.0, 4096.0, 4096.0, width=1.0, cast=2.0), product(4096.0, 4096.0, 4096.0, width=1.0)
    with_it, without = (matmul(each, silicon(), usual_gemm(), State()) for each in (ask, plain))
    assert first(with_it.losses.quantization_s) == pytest.approx(1.5e-6 + 4096 * 2e-8 / 108 + 4096 * 4096 * 3 / (0.85 * 2.039e12))
    assert first(without.losses.quantization_s) == 0.0


def test_the_band_holds_the_estimate_and_not_what_no_kernel_can() -> None:
    found = spread(column([1e-5, 1e-3]), column([9e-6, 1e-4]), Band(column(1e-4), column([0.5, 0.9]), column([2.0, 1.1])))
    assert found.p10.tolist() == [9e-6, 1e-3 * 0.9]
    assert found.p90.tolist() == [2e-5, 1e-3 * 1.1]


@st.composite
def bands(draw: st.DrawFn) -> Band:
    edges = sorted(draw(st.sets(st.sampled_from([1e-6, 1e-5, 1e-4, 1e-3]))))
    low, high = (
        np.array(draw(st.lists(st.floats(*ends), min_size=len(edges) + 1, max_size=len(edges) + 1))) for ends in ((0.1, 1.0), (1.0, 9.0))
    )
    return Band(np.array(edges), low, high)


@given(one=bands(), other=bands())
def test_a_band_around_two_is_the_wider_of_both_at_every_time(one: Band, other: Band) -> None:
    times = np.array([5e-7, 1e-6, 3e-6, 1e-5, 2e-5, 1e-4, 1e-3, 1.0])
    both, first_of, second_of = (spread(times, np.zeros(1), band) for band in (around(one, other), one, other))
    assert both.p10.tolist() == np.minimum(first_of.p10, second_of.p10).tolist()
    assert both.p90.tolist() == np.maximum(first_of.p90, second_of.p90).tolist()
