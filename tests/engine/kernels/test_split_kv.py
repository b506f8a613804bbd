"""Decode: keys split over cores."""

from __future__ import annotations

import numpy as np
import pytest

from service.engine.kernels import attention, flash
from service.engine.kernels.physics import RESIDENT, State
from service.engine.kernels.split_kv import kernel_times, ladder, plan

from .asking import attend, first, silicon, usual_flash, usual_split

COLD, HOT = State(), State(cache=RESIDENT)


def test_few_sequences_split_their_keys_and_many_do_not() -> None:
    one, many = (kernel_times(attend(batch, 32, 8, 1, 32768), silicon(), usual_split(), COLD)[:, 0] for batch in (1, 512))
    assert np.argmin(one) > 0
    assert np.argmin(many) == 0


def test_a_split_has_at_least_128_keys() -> None:
    at = plan(attend(1, 8, 8, 1, 300), silicon(), usual_split())
    assert at.split[:, 0].tolist() == [1, 2, 3, 3, 3, 3, 3]


def test_the_heads_of_a_group_are_padded_to_16_rows() -> None:
    at = plan(attend(1, 40, 8, 1, 4096), silicon(), usual_split())
    assert first(at.rows) == 16


def test_a_cache_that_fits_is_served_from_the_last_cache_only_in_a_loop() -> None:
    ask = attend(4, 32, 8, 1, 1024)  # 16.8 MB of keys and values against 41.9 MB
    cold, hot = (ladder(ask, silicon(), usual_split(), state) for state in (COLD, HOT))
    assert first(cold.roofline) == first(ask.bytes) / 2.039e12
    assert first(hot.roofline) == pytest.approx(first(cold.roofline) / 2.0)
    assert first(hot.estimate) < first(cold.estimate)
    large = attend(64, 32, 8, 1, 4096)
    assert first(ladder(large, silicon(), usual_split(), HOT).estimate) == first(ladder(large, silicon(), usual_split(), COLD).estimate)


def test_the_losses_explain_the_gap() -> None:
    ask = attend([1, 8, 2048], [32, 8, 4], [8, 8, 1], 1, [65536, 300, 33])
    found = ladder(ask, silicon(), usual_split(), HOT)
    assert all((each >= 0.0).all() for each in found.losses)
    np.testing.assert_allclose(sum(found.losses), found.estimate - found.roofline, rtol=1e-12)


def test_a_long_cache_is_read_at_the_bandwidth_that_is_reached() -> None:
    ask = attend(256, 64, 8, 1, 32768)
    ideal = first(ask.bytes) / 2.039e12
    assert ideal / 0.85 < first(ladder(ask, silicon(), usual_split(), COLD).estimate) < 1.1 * ideal / 0.85


def test_one_query_is_split_and_a_prompt_is_not() -> None:
    many, few = usual_flash(), usual_split()
    ask = attend(4, 32, 8, [1, 2048, 4], [8192, 2048, 8192])
    found = attention.ladder(ask, silicon(), many, few, COLD).estimate
    one, prompt, draft = (attend(4, 32, 8, q, kv) for q, kv in ((1, 8192), (2048, 2048), (4, 8192)))
    assert found[0] == first(ladder(one, silicon(), few, COLD).estimate)
    assert found[1] == first(flash.ladder(prompt, silicon(), many, COLD).estimate)
    assert found[2] == first(ladder(draft, silicon(), few, COLD).estimate)
