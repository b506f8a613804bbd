"""Attention: out = softmax(q · kᵀ) · v for each head, where groups of query heads share the keys and values of one KV head.

Shapes: q[batch, q_len, heads, head_dim], k[batch, kv_len, kv_heads, head_dim], v[batch, kv_len, kv_heads, v_head_dim],
out[batch, q_len, heads, v_head_dim].

operations  2·pairs·heads·batch·(head_dim + v_head_dim) on the matrix unit, where pairs of query and key are counted exactly
            (causal and q_len = kv_len = S: S·(S + 1)/2); 5·pairs·heads·batch of the softmax on the vector unit, given apart
traffic     q and out move once, k and v once for each KV head, never once for each query head; scores stay on the chip
window      a query sees its own key and the window − 1 before it; keys that no query sees are not read
pages       with page_size, keys and values are read in whole pages of so many rows
Source      Dao et al. 2022, "FlashAttention"; Ainslie et al. 2023, "GQA"; counts from the definition
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from ...errors import Fault
from ..arrays import Real
from ..attending import CAUSAL_PAIRS, causal_faults, causal_pairs, fused, keys_needed
from ..demand import Demand, Gemm, Operand
from ..registry import op
from ..term import Formulas, Term, choice, dim

SOURCE = "Dao et al. 2022, FlashAttention; pairs counted from the definition"
PARTLY = "min(max(window − 1 − (kv_len − q_len), 0), q_len)"
WINDOW_PAIRS = f"({PARTLY}·(kv_len − q_len) + {PARTLY}·({PARTLY} + 1)/2 + (q_len − {PARTLY})·window)"


@op("attention")
@dataclass(frozen=True, kw_only=True)
class Attention(Term):
    batch: Real = dim("sequences")
    q_len: Real = dim("queries of each sequence; 1 in decode")
    kv_len: Real = dim("keys and values of each sequence, those of the queries included")
    heads: Real = dim("query heads")
    kv_heads: Real = dim("heads of keys and values; heads is a multiple of it")
    head_dim: Real = dim("width of a query and of a key")
    v_head_dim: Real | None = dim("width of a value (head_dim)", default=None)
    causal: bool = choice("whether a query sees only its own key and those before it", "flag", default=True)
    window: Real | None = dim("keys that a causal query sees, its own included (all)", default=None, columns=False)
    page_size: Real | None = dim("rows of a page of the KV cache, read whole (no pages)", default=None, columns=False)
    dtype: str | None = choice("format of q and out, and of k and v unless kv_dtype is given")
    kv_dtype: str | None = choice("format of k and v (dtype)")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (the promotion of the formats of q and of k and v)", "class")

    example: ClassVar = {"batch": 64, "q_len": 1, "kv_len": 4096, "heads": 64, "kv_heads": 8, "head_dim": 128, "dtype": "bf16"}
    factors = ("q", "kv")
    formats: ClassVar = {"k": "kv_dtype", "v": "kv_dtype"}

    @property
    def grows(self) -> tuple[str, ...]:
        """Dims in which operations and bytes are affine: neither a window nor pages bend them."""
        if self.window is not None or self.page_size is not None:
            return ("batch",)
        return ("batch", "kv_len") if self.causal else ("batch", "q_len", "kv_len")

    @property
    def values(self) -> Real:
        """v_head_dim, filled."""
        return self.head_dim if self.v_head_dim is None else self.v_head_dim

    def demand(self) -> Demand:
        b, q, kv, h, d, d_v = self.batch, self.q_len, self.kv_len, self.heads, self.head_dim, self.values
        window = kv if self.window is None else self.window
        pairs = causal_pairs(q, kv, window) if self.causal else q * kv
        read = self.paged(keys_needed(q, kv, window) if self.causal else kv)
        return fused(
            pairs=b * h * pairs,
            width=(d, d_v),
            gemms=(Gemm(m=q, k=d, n=kv, batch=b * h), Gemm(m=q, k=kv, n=d_v, batch=b * h)),
            operands=(
                Operand("q", (b, q, h, d)),
                Operand("k", (b, read, self.kv_heads, d)),
                Operand("v", (b, read, self.kv_heads, d_v)),
                Operand("out", (b, q, h, d_v), written=True),
            ),
        )

    def residents(self) -> tuple[Operand, ...]:
        """All keys and values, in whole pages, those before the window too: when they are dropped is not for the op to say."""
        q, k, v, out = self.demand().operands
        rows = self.paged(self.kv_len)
        cached = [each._replace(shape=(each.shape[0], rows, *each.shape[2:])) for each in (k, v)]
        return q, *cached, out

    def paged(self, rows: Real) -> Real:
        """So many rows of the cache in whole pages."""
        return rows if self.page_size is None else np.ceil(rows / self.page_size) * self.page_size

    def formulas(self) -> Formulas:
        pairs = "q_len·kv_len" if not self.causal else CAUSAL_PAIRS if self.window is None else WINDOW_PAIRS
        read = "kv_len" if self.window is None else "min(kv_len, q_len + window − 1)"
        read = read if self.page_size is None else f"⌈{read}/page_size⌉·page_size"
        return Formulas(
            flops=f"2·batch·heads·{pairs}·(head_dim + v_head_dim)",
            elements={
                "q": "batch·q_len·heads·head_dim",
                "k": f"batch·{read}·kv_heads·head_dim",
                "v": f"batch·{read}·kv_heads·v_head_dim",
                "out": "batch·q_len·heads·v_head_dim",
            },
            source=SOURCE,
        )

    def resolved(self) -> Self:
        return super().resolved()._replaced({"v_head_dim": self.values})

    def faults(self) -> list[Fault]:
        faults = causal_faults(self, self.q_len, self.kv_len) if self.causal else []
        apart = self.heads % self.kv_heads != 0
        if apart.any():
            detail = "Each KV head serves the same number of query heads."
            faults.append(Fault(self.pointer_to_first(apart, "heads", "kv_heads"), "not-divisible", detail))
        if self.window is not None and not self.causal:
            faults.append(Fault("/window", "invalid-request", "A window needs causal attention: it counts keys back from a query's own."))
        return faults
