"""Blocks of attention: how many there are, how many of their operations count, and that they have room beside a core."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.engine.kernels import attention
from service.engine.kernels.layer import Layer
from service.engine.kernels.physics import State

from .asking import attend, first, silicon, usual_flash, usual_split

HEADS = st.integers(1, 16)


def blocks(batch: int, heads: int, kv_heads: int, q_len: int, kv_len: int, **changes: float) -> Layer:
    ask = attend(batch, heads, kv_heads, q_len, kv_len)
    return attention.run(ask, silicon(**changes), usual_flash(packs=0.0), usual_split(), State()).layer()


def test_one_query_of_each_sequence() -> None:
    """8 queries share a KV head and stand in 16 rows of an instruction: half of the operations count."""
    found = blocks(64, 64, 8, 1, 4096)
    assert [first(each) for each in (found.m, found.n, found.k, found.tiles, found.padding)] == [16, 64, 128, 512, 0.5]
    assert first(found.waves) == -(-512 * first(found.split) // 108)


def test_blocks_of_queries() -> None:
    """A block of r queries walks its causal keys, the masked half of its diagonal included."""
    found = blocks(1, 32, 32, 4096, 4096)
    rows = int(first(found.m))
    counted, computed = 4096 * 4097 / 2, 4096 * 4097 / 2 + 4096 * (rows - 1) / 2
    assert first(found.tiles) == 32 * 4096 / rows
    assert first(found.padding) == pytest.approx(counted / computed, rel=1e-12)
    assert 0.5 < first(found.wave) <= 1.0


@pytest.mark.parametrize(("room", "keys"), [(164 * 1024, 128), (80 * 1024, 64), (50 * 1024, 32)])
def test_a_step_takes_as_many_keys_as_have_room(room: float, keys: int) -> None:
    """64 queries of 256 B take 16 KiB or 128 of them 32 KiB, each key in two stages 1 KiB."""
    found = blocks(1, 32, 32, 4096, 4096, tile_bytes=room)
    assert first(found.on_chip_bytes) == first(found.m) * 256 + first(found.n) * 1024 <= room
    assert first(found.n) == (keys if first(found.m) == 64 or room > 1e5 else keys // (2 if room - 32768 < keys * 1024 else 1))


@settings(max_examples=40)
@given(
    batch=st.integers(1, 64), kv_heads=st.integers(1, 16), group=st.integers(1, 16), q_len=st.integers(1, 512), more=st.integers(0, 4096)
)
def test_efficiencies_are_shares_and_operands_move_once(batch: int, kv_heads: int, group: int, q_len: int, more: int) -> None:
    found = blocks(batch, kv_heads * group, kv_heads, q_len, q_len + more)
    assert 0 < first(found.padding) <= 1
    assert 0 < first(found.wave) <= 1
    assert first(found.hbm_bytes) == first(attend(batch, kv_heads * group, kv_heads, q_len, q_len + more).bytes)
