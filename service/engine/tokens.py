"""From sequences to the rows of a matmul: [B, S, D] is [(B·S), D], and what counts is the rows that meet one copy of the weights.

Source: How to Scale Your Model, "All About Rooflines" (the batch is tokens per replica, not sequences).
"""

from __future__ import annotations

import numpy as np

from .arrays import Real


def tokens_per_replica(sequences: Real, length: Real, replicas: Real) -> Real:
    """Tokens that one replica holds when whole sequences are dealt out, or all tokens are where sequences are too few.

    >>> tokens_per_replica(np.array([512.0]), np.array([4096.0]), np.array([128.0]))
    array([16384.])
    """
    whole = np.ceil(sequences / replicas) * length
    return np.where(sequences < replicas, np.ceil(sequences * length / replicas), whole)


def sequences_needed(rows: Real, length: Real, replicas: Real) -> Real:
    """The smallest number of sequences over all replicas with `tokens_per_replica` > `rows`; NaN where `rows` is.

    With q = ⌊rows/length⌋ whole sequences still not enough per replica, one more on a single replica decides: q·replicas + 1.
    Below one whole sequence a replica holds a share of all tokens: ⌊⌊rows⌋·replicas/length⌋ + 1.

    >>> sequences_needed(np.array([240.24]), np.array([4096.0]), np.array([128.0]))
    array([8.])
    """
    full = np.floor(rows / length)
    shared = np.floor(np.floor(rows) * replicas / length) + 1
    return np.where(full >= 1, full * replicas + 1, shared)
