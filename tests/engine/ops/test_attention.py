"""Attention against a twin that walks every query and key, and the worked numbers of the literature."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput

from ..asking import ask, exact, term
from ..chips import EVERYTHING, H100, V5E
from .counting import moved

LENGTHS = st.integers(1, 40)


def seen(query: int, q_len: int, kv_len: int, *, causal: bool, window: int | None) -> set[int]:
    """Keys that a query attends to, one by one."""
    own = kv_len - q_len + query
    keys = set()
    for key in range(kv_len):
        if causal and key > own:
            continue
        if window is not None and key <= own - window:
            continue
        keys.add(key)
    return keys


def question(**changes: Any) -> dict[str, Any]:
    return {"batch": 1, "q_len": 1, "kv_len": 1, "heads": 1, "kv_heads": 1, "head_dim": 1, "dtype": "bf16", **changes}


@st.composite
def lengths(draw: st.DrawFn) -> tuple[int, int, bool, int | None]:
    kv_len = draw(LENGTHS)
    causal = draw(st.booleans())
    q_len = draw(st.integers(1, kv_len)) if causal else draw(LENGTHS)
    return q_len, kv_len, causal, draw(st.none() | LENGTHS) if causal else None


SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(1, 9), st.integers(1, 9))


@given(lengths(), SHAPES, st.none() | st.integers(1, 9))
def test_attention_counts_what_a_walk_over_all_queries_and_keys_counts(
    asked: tuple[int, int, bool, int | None], shape: tuple[int, int, int, int, int], page: int | None
) -> None:
    (q_len, kv_len, causal, window), (batch, kv_heads, group, d, d_v) = asked, shape
    visible = [seen(query, q_len, kv_len, causal=causal, window=window) for query in range(q_len)]
    pairs = sum(map(len, visible))
    rows = len(set().union(*visible))
    rows = rows if page is None else math.ceil(rows / page) * page
    heads = kv_heads * group

    found = ask(
        "attention",
        EVERYTHING,
        batch=batch,
        q_len=q_len,
        kv_len=kv_len,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=d,
        v_head_dim=d_v,
        causal=causal,
        window=window,
        page_size=page,
        dtype="bf16",
        kv_dtype="fp8_e4m3",
    )

    assert found.flops.item() == 2 * batch * heads * pairs * (d + d_v)
    assert found.vector_flops.item() == 5 * batch * heads * pairs
    assert moved(found) == {
        "q": 2 * batch * q_len * heads * d,
        "k": batch * rows * kv_heads * d,
        "v": batch * rows * kv_heads * d_v,
        "out": 2 * batch * q_len * heads * d_v,
    }


@given(st.integers(1, 30), st.integers(0, 30), st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 6), st.integers(1, 6)))
def test_latent_attention_counts_what_a_walk_over_all_queries_and_keys_counts(
    q_len: int, before: int, sizes: tuple[int, int, int, int]
) -> None:
    kv_len, (batch, heads, latent, rope) = q_len + before, sizes
    pairs = sum(len(seen(query, q_len, kv_len, causal=True, window=None)) for query in range(q_len))
    shape = {"batch": batch, "q_len": q_len, "kv_len": kv_len, "heads": heads, "latent_dim": latent, "rope_dim": rope}
    members: dict[str, Any] = {**shape, "head_dim": 5, "v_head_dim": 7, "dtype": "bf16"}

    absorbed = ask("mla", EVERYTHING, **members, form="absorbed")
    expanded = ask("mla", EVERYTHING, **members, form="expanded")

    assert absorbed.flops.item() == 2 * batch * heads * pairs * ((latent + rope) + latent)
    assert moved(absorbed) == {
        "q": 2 * batch * q_len * heads * (latent + rope),
        "kv": 2 * batch * kv_len * (latent + rope),
        "out": 2 * batch * q_len * heads * latent,
    }
    assert expanded.flops.item() == 2 * batch * heads * pairs * ((5 + rope) + 7)
    assert moved(expanded) == {
        "q": 2 * batch * q_len * heads * (5 + rope),
        "k": 2 * batch * kv_len * heads * (5 + rope),
        "v": 2 * batch * kv_len * heads * 7,
        "out": 2 * batch * q_len * heads * 7,
    }


def test_a_causal_square_has_half_the_pairs_and_half_its_diagonal() -> None:
    """S(S+1)/2 pairs: 8,390,656 for S = 4096; 4·128 operations for each, over 32 heads."""
    found = ask("attention", H100, **question(q_len=4096, kv_len=4096, heads=32, kv_heads=32, head_dim=128))

    assert found.flops.item() == 8_390_656 * 4 * 128 * 32


def test_decode_reads_the_cache_once_for_each_kv_head() -> None:
    """Llama-3.1-70B: 2·8·128·2 B = 4,096 B a token and layer, 1/8 of what its 64 query heads would read."""
    found = ask("attention", H100, **question(batch=64, kv_len=4096, heads=64, kv_heads=8, head_dim=128))

    assert moved(found)["k"] + moved(found)["v"] == 64 * 4096 * 4096


@pytest.mark.parametrize(("heads", "limit"), [(1, 240.24), (8, 8 * 240.24)])
def test_the_intensity_of_decode_tends_to_the_group(heads: int, limit: float) -> None:
    """How To Scale Your Model, ch. 7: S·G/(G + S) → G query heads for each KV head; in bf16 one operation a byte each."""
    found = ask("attention", V5E, **question(kv_len=2**40, heads=heads, kv_heads=1, head_dim=128))

    assert found.intensity.item() == pytest.approx(heads, rel=1e-9)


def test_prefill_turns_compute_bound_where_the_book_says() -> None:
    """How To Scale Your Model, ch. 7: unmasked with one query head a KV head, T·G/(G + 1) = 240.24 at T = 480.49."""
    just_below, just_above = (ask("attention", V5E, **question(q_len=t, kv_len=t, head_dim=128, causal=False)) for t in (480, 481))

    assert just_below.times.math < just_below.times.hbm
    assert just_above.times.math > just_above.times.hbm


def test_the_threshold_in_keys_is_where_the_times_meet() -> None:
    """40 queries of 8 heads for each KV head: with few keys queries and output weigh more than the work."""
    members = question(batch=8, q_len=40, heads=64, kv_heads=8, head_dim=128)
    at = exact(ask("attention", H100, **{**members, "kv_len": 2048}), "kv_len")

    below, above = (ask("attention", H100, **{**members, "kv_len": kv_len}) for kv_len in (math.floor(at), math.ceil(at)))
    assert at > 40
    assert below.times.math <= below.times.hbm
    assert above.times.math >= above.times.hbm


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"q_len": 8, "kv_len": [8, 7]}, "/kv_len/1", "out-of-range"),
        ({"q_len": [4, 8], "kv_len": 7}, "/q_len/1", "out-of-range"),
        ({"heads": [8, 6], "kv_heads": 4}, "/heads/1", "not-divisible"),
        ({"causal": False, "window": 4}, "/window", "invalid-request"),
    ],
)
def test_attention_refuses_what_it_cannot_mean(changes: dict[str, Any], pointer: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        term("attention", **question(**changes))

    assert [(fault.pointer, fault.code) for fault in caught.value.faults] == [(pointer, code)]


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        term("attention", **question(q_len=9, kv_len=8, heads=3, kv_heads=2))

    assert [fault.pointer for fault in caught.value.faults] == ["/q_len", "/heads"]
