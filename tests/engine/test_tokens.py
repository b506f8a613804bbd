"""Tokens per replica, and how many sequences it takes to be compute-bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.arrays import column
from service.engine.tokens import sequences_needed, tokens_per_replica

from .asking import ask, bounds, exact, threshold
from .chips import V5E


def dealt(sequences: int, length: int, replicas: int) -> int:
    """Tokens of the fullest replica, by dealing them out: whole sequences where every replica gets one, else single tokens."""
    hands = [0] * replicas
    pieces, size = (sequences, length) if sequences >= replicas else (sequences * length, 1)
    for piece in range(pieces):
        hands[piece % replicas] += size
    return max(hands)


@given(sequences=st.integers(1, 40), length=st.integers(1, 30), replicas=st.integers(1, 12))
def test_tokens_are_those_of_the_fullest_replica(sequences: int, length: int, replicas: int) -> None:
    assert tokens_per_replica(column(sequences), column(length), column(replicas)).item() == dealt(sequences, length, replicas)


@given(rows=st.floats(0.1, 400), length=st.integers(1, 60), replicas=st.integers(1, 9))
def test_the_sequences_needed_are_the_fewest_that_exceed_the_rows(rows: float, length: int, replicas: int) -> None:
    enough = next(count for count in range(1, 10_000) if dealt(count, length, replicas) > rows)
    assert sequences_needed(column(rows), column(length), column(replicas)).item() == enough


@pytest.mark.parametrize(("sequences", "length", "replicas", "tokens"), [(512, 4096, 128, 16_384), (512, 4096, 2048, 1024)])
def test_local_tokens(sequences: int, length: int, replicas: int, tokens: int) -> None:
    """2,097,152 tokens over 2048 devices are 1024 each: How To Scale Your Model, ch. 1 (later edition); over 128, 16,384."""
    assert sequences * length == 2_097_152
    assert tokens_per_replica(column(sequences), column(length), column(replicas)).item() == tokens


def test_a_few_long_sequences_are_as_good_as_many_short_ones() -> None:
    """More than 247 tokens per replica are needed: one sequence of 4096, or 16 of 16; eight over 128 replicas."""
    found = ask("matmul", V5E, sequences=512, sequence_length=[4096, 16], k=8192, n=8192, dtype="bf16")
    assert threshold(found, "sequences").exact.tolist() == [1, 16]
    shared = ask("matmul", V5E, sequences=512, sequence_length=4096, replicas=128, k=8192, n=8192, dtype="bf16")
    assert (exact(shared, "sequences"), bounds(shared)) == (8, ["compute"])


@pytest.mark.parametrize(("length", "replicas"), [(4096, 1), (4096, 128), (16, 1), (16, 128), (100, 7), (1, 1)])
def test_the_verdict_changes_at_the_number_given(length: int, replicas: int) -> None:
    def asked(sequences: int) -> str | None:
        found = ask("matmul", V5E, sequences=sequences, sequence_length=length, replicas=replicas, k=8192, n=8192, dtype="bf16")
        return bounds(found)[0]

    needed = int(
        exact(ask("matmul", V5E, sequences=1, sequence_length=length, replicas=replicas, k=8192, n=8192, dtype="bf16"), "sequences")
    )
    assert asked(needed) == "compute"
    assert needed == 1 or asked(needed - 1) == "hbm"


def test_where_no_batch_suffices_no_number_of_sequences_does() -> None:
    found = ask("matmul", V5E, sequences=4, sequence_length=16, k=64, n=64, dtype="bf16")
    assert math.isnan(exact(found, "sequences"))
    approximate = threshold(found, "sequences").approximate
    assert approximate is not None
    assert np.isfinite(approximate).all()
