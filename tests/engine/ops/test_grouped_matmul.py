"""The grouped product of a mixture of experts, against a twin that routes tokens one by one."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput

from ..asking import ask, exact, term, threshold
from ..chips import EVERYTHING, V5E
from .counting import moved


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_a_walk_over_routed_tokens_counts_the_same(tokens: int, experts: int, data: st.DataObject) -> None:
    top_k = data.draw(st.integers(1, experts))
    k, n = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    used, operations, rows = set(), 0, 0
    for token in range(tokens):
        for choice in range(top_k):
            used.add((token * top_k + choice) % experts)  # dealt out in turn: balanced
            operations += 2 * k * n
            rows += 1

    found = ask("grouped_matmul", EVERYTHING, tokens=tokens, experts=experts, top_k=top_k, k=k, n=n, dtype="bf16")

    assert found.flops.item() == operations
    assert moved(found) == {"a": 2 * rows * k, "b": 2 * len(used) * k * n, "out": 2 * rows * n}


def test_a_mixture_needs_more_tokens_by_the_share_of_its_experts() -> None:
    """How To Scale Your Model, ch. 7: B > (C·w / 2W)·E/k; 240.24 · 256/8 with the rates of ch. 1 in bf16."""
    found = ask("grouped_matmul", V5E, tokens=512, experts=256, top_k=8, k=7168, n=2048, dtype="bf16")

    approximate = threshold(found, "tokens").approximate
    assert approximate is not None
    assert approximate.item() == pytest.approx(240.2439024390244 * 32, rel=1e-12)


def test_the_threshold_in_tokens_is_where_the_times_meet() -> None:
    members: dict[str, Any] = {"experts": 256, "top_k": 8, "k": 7168, "n": 2048, "dtype": "bf16"}
    at = exact(ask("grouped_matmul", V5E, tokens=1, **members), "tokens")

    below, above = (ask("grouped_matmul", V5E, tokens=tokens, **members) for tokens in (math.floor(at), math.ceil(at)))
    assert below.times.math <= below.times.hbm
    assert above.times.math >= above.times.hbm


def test_a_token_has_no_more_experts_than_there_are() -> None:
    with pytest.raises(InvalidInput) as caught:
        term("grouped_matmul", tokens=8, experts=[4, 2], top_k=4, k=8, n=8, dtype="bf16")

    assert [(fault.pointer, fault.code) for fault in caught.value.faults] == [("/experts/1", "out-of-range")]
