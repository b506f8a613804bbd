"""What a fused attention kernel is asked: heads, lengths, widths, and the bytes of a row of each operand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import ONE, Real
from ..attending import causal_pairs


class Attend(NamedTuple):
    """Attention of `batch` sequences; groups of heads share the keys and values of one KV head."""

    batch: Real
    heads: Real
    kv_heads: Real
    q_len: Real
    kv_len: Real
    window: Real
    """keys that a query sees at most; kv_len where there is no window"""
    is_causal: bool
    d_qk: Real
    d_v: Real
    q_bytes: Real
    """of an element of q"""
    kv_row_bytes: Real
    """of the keys and values of one token and KV head; of one latent where heads share it"""
    out_bytes: Real
    """of an element of out"""
    peak: Real
    """[FLOP/s]"""
    paged: Real = ONE
    """rows that are read, in whole pages, over those that any query sees"""

    @property
    def pairs(self) -> Real:
        """Pairs of query and key that count, over all heads."""
        each = causal_pairs(self.q_len, self.kv_len, self.window) if self.is_causal else self.q_len * self.kv_len
        return self.batch * self.heads * each

    @property
    def pair_flops(self) -> Real:
        return 2.0 * (self.d_qk + self.d_v)

    @property
    def keys_read(self) -> Real:
        """Keys of a sequence that any of its queries sees."""
        return np.minimum(self.kv_len, self.q_len + self.window - 1.0) if self.is_causal else self.kv_len

    @property
    def kv_bytes(self) -> Real:
        """Keys and values, or latents, once, in whole pages."""
        return self.batch * self.kv_heads * self.keys_read * self.paged * self.kv_row_bytes

    @property
    def bytes(self) -> Real:
        """Queries, keys, values and output once."""
        return self.batch * self.q_len * self.heads * (self.d_qk * self.q_bytes + self.d_v * self.out_bytes) + self.kv_bytes
