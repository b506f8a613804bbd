"""Attention: which keys each query sees, and what a fused kernel moves for it.

Queries stand at the end of the keys: query i of q_len has the key kv_len − q_len + i as its own. Causal, it sees its own key and
those before it; with a window w, its own and the w − 1 before it; otherwise all of them.

Kernels of the flash kind keep scores and probabilities on the chip, so that only queries, keys, values and the output move.
Source: Dao et al. 2022, "FlashAttention", section 3 and theorem 2; Dao 2023, "FlashAttention-2", section 3.1.
"""

from __future__ import annotations

import numpy as np

from ..errors import Fault
from .arrays import Real
from .demand import Demand, Gemm, Operand
from .term import Term

CAUSAL_PAIRS = "(q_len·kv_len − q_len·(q_len − 1)/2)"
"""`causal_pairs` without a window, as text."""

SOFTMAX_OPERATIONS = 5.0
"""For each score: maximum, subtraction, exponential (as one), sum, division; as in the op softmax."""


def causal_pairs(q_len: Real, kv_len: Real, window: Real) -> Real:
    """Pairs of a query and a key that it sees, of one head and one sequence.

    The first r queries see fewer keys than the window holds, kv_len − q_len + 1, + 2, …; the others see `window` each.

    >>> import numpy as np
    >>> causal_pairs(np.array([4.0]), np.array([4.0]), np.array([4.0]))
    array([10.])
    """
    before = kv_len - q_len
    r = np.minimum(np.maximum(window - 1.0 - before, 0.0), q_len)
    return r * before + r * (r + 1.0) / 2.0 + (q_len - r) * window


def keys_needed(q_len: Real, kv_len: Real, window: Real) -> Real:
    """Distinct keys that any query of a sequence sees: those from the first key of the first query to the end."""
    return np.minimum(kv_len, q_len + window - 1.0)


def fused(*, pairs: Real, width: tuple[Real, Real], gemms: tuple[Gemm, Gemm], operands: tuple[Operand, ...]) -> Demand:
    """Scores, softmax and the weighted sum of values in one kernel.

    `pairs` of query and key over all heads and sequences take 2·(d_qk + d_v) operations each on the matrix unit, `width` being
    (d_qk, d_v), and those of a softmax on the vector unit. `gemms` are the two products, all pairs of them.
    """
    d_qk, d_v = width
    return Demand(
        operands=operands,
        matrix_operations=2.0 * pairs * (d_qk + d_v),
        vector_operations=SOFTMAX_OPERATIONS * pairs,
        gemms=gemms,
    )


def causal_faults(term: Term, q_len: Real, kv_len: Real) -> list[Fault]:
    """What is wrong with a term whose causal queries outnumber the keys."""
    bad = q_len > kv_len
    if not bad.any():
        return []
    detail = "Causal queries stand at the end of the keys; there are more of them than keys."
    return [Fault(term.pointer_to_first(bad, "q_len", "kv_len"), "out-of-range", detail)]
