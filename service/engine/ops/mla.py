"""Multi-head latent attention: keys and values of all heads are projections of one latent row per token.

The cache holds, for each token, a latent of latent_dim and a rotary key of rope_dim that all heads share. Attention is causal and
queries stand at the end of the keys.

absorbed    the projections are folded into queries and output, so every head attends over the latents themselves:
            q[batch, q_len, heads, latent_dim + rope_dim], kv[batch, kv_len, latent_dim + rope_dim] read once as keys and as
            values, out[batch, q_len, heads, latent_dim]
            operations 2·batch·heads·pairs·(2·latent_dim + rope_dim)
expanded    keys and values are written out for each head before:
            q and k [batch, ·, heads, head_dim + rope_dim], v and out [batch, ·, heads, v_head_dim]
            operations 2·batch·heads·pairs·(head_dim + rope_dim + v_head_dim)
traffic     each of these arrays moves once; scores stay on the chip
ignored     the projections around the attention, which are matmuls of their own
operations  on the matrix unit, as above for either form; 5·batch·heads·pairs of the softmax on the vector unit, given apart
Source      DeepSeek-AI 2024, "DeepSeek-V2", section 2.1 and appendix C; pairs counted from the definition
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import Fault
from ..arrays import Real
from ..attending import CAUSAL_PAIRS, causal_faults, causal_pairs, fused
from ..demand import Demand, Gemm, Operand
from ..registry import op
from ..term import REQUIRED, Formulas, Term, choice, dim

SOURCE = "DeepSeek-AI 2024, DeepSeek-V2, section 2.1; pairs counted from the definition"
ABSORBED, EXPANDED = "absorbed", "expanded"
FORMULAS = {
    ABSORBED: Formulas(
        flops=f"2·batch·heads·{CAUSAL_PAIRS}·(2·latent_dim + rope_dim)",
        elements={
            "q": "batch·q_len·heads·(latent_dim + rope_dim)",
            "kv": "batch·kv_len·(latent_dim + rope_dim)",
            "out": "batch·q_len·heads·latent_dim",
        },
        source=SOURCE,
    ),
    EXPANDED: Formulas(
        flops=f"2·batch·heads·{CAUSAL_PAIRS}·(head_dim + rope_dim + v_head_dim)",
        elements={
            "q": "batch·q_len·heads·(head_dim + rope_dim)",
            "k": "batch·kv_len·heads·(head_dim + rope_dim)",
            "v": "batch·kv_len·heads·v_head_dim",
            "out": "batch·q_len·heads·v_head_dim",
        },
        source=SOURCE,
    ),
}


@op("mla")
@dataclass(frozen=True, kw_only=True)
class LatentAttention(Term):
    batch: Real = dim("sequences")
    q_len: Real = dim("queries of each sequence; 1 in decode")
    kv_len: Real = dim("cached tokens of each sequence, those of the queries included")
    heads: Real = dim("heads")
    latent_dim: Real = dim("width of a cached latent")
    rope_dim: Real = dim("width of the rotary key beside it")
    head_dim: Real = dim("width of a query and a key of a head, the rotary part left out")
    v_head_dim: Real = dim("width of a value of a head")
    form: str = choice("what heads attend over: latents, or keys and values", "name", default=REQUIRED, names=(ABSORBED, EXPANDED))
    dtype: str | None = choice("format of q and out, and of what is cached unless kv_dtype is given")
    kv_dtype: str | None = choice("format of latents, keys and values (dtype)")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (the promotion of the formats of q and of what is cached)", "class")

    example: ClassVar = {
        "batch": 64,
        "q_len": 1,
        "kv_len": 4096,
        "heads": 128,
        "latent_dim": 512,
        "rope_dim": 64,
        "head_dim": 128,
        "v_head_dim": 128,
        "form": ABSORBED,
        "dtype": "bf16",
    }
    factors = ("q", "kv")
    formats: ClassVar = {"k": "kv_dtype", "v": "kv_dtype"}
    grows = ("batch", "kv_len")

    def demand(self) -> Demand:
        return self._absorbed() if self.form == ABSORBED else self._expanded()

    def _absorbed(self) -> Demand:
        q, kv, h, c, r = self.q_len, self.kv_len, self.heads, self.latent_dim, self.rope_dim
        b = np.broadcast_arrays(self.batch, self.head_dim, self.v_head_dim)[0]  # a list of these makes rows, though none is used
        return fused(
            pairs=b * h * causal_pairs(q, kv, kv),
            width=(c + r, c),
            gemms=(Gemm(m=q * h, k=c + r, n=kv, batch=b), Gemm(m=q * h, k=kv, n=c, batch=b)),
            operands=(Operand("q", (b, q, h, c + r)), Operand("kv", (b, kv, c + r)), Operand("out", (b, q, h, c), written=True)),
        )

    def _expanded(self) -> Demand:
        q, kv, h, d, d_v = self.q_len, self.kv_len, self.heads, self.head_dim + self.rope_dim, self.v_head_dim
        b = np.broadcast_arrays(self.batch, self.latent_dim)[0]  # a list of it makes rows, though it is not used
        return fused(
            pairs=b * h * causal_pairs(q, kv, kv),
            width=(d, d_v),
            gemms=(Gemm(m=q, k=d, n=kv, batch=b * h), Gemm(m=q, k=kv, n=d_v, batch=b * h)),
            operands=(
                Operand("q", (b, q, h, d)),
                Operand("k", (b, kv, h, d)),
                Operand("v", (b, kv, h, d_v)),
                Operand("out", (b, q, h, d_v), written=True),
            ),
        )

    def formulas(self) -> Formulas:
        return FORMULAS[self.form]

    def faults(self) -> list[Fault]:
        return causal_faults(self, self.q_len, self.kv_len)
