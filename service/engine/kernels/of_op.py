"""What an op asks of a kernel: from its sizes, and from the bytes that it moves, scales and padding of pages included.

    plain products    a matmul, a grouped one, an einsum that is one
    attention         with keys and values, or with latents
    passes            everything without a product

A product whose operands overlap, as in a convolution, or of more than two, is of no kernel here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import Real, agreed, product
from ..demand import Demand
from ..ops.attention import Attention
from ..ops.mla import ABSORBED, LatentAttention
from ..ops.quantize import Quantize
from ..term import Term
from .attend import Attend
from .tiling import Product
from .vector import Pass

BY_ROWS = frozenset({"cross_entropy", "layer_norm", "reduce", "rms_norm", "softmax", "topk"})
"""Kinds that reduce each row."""

Moved = Mapping[str, Real]
"""Bytes of each operand."""


def plain_product(demand: Demand, moved: Moved, peak: Real, cast_bytes: Real) -> Product:
    """A demand that is a plain product; `cast_bytes` are those of an element of a before it is quantised on the way."""
    (gemm,), (a, b, out) = demand.gemms, (each.name for each in demand.operands)
    m, n, k, batch = gemm.m, gemm.n, gemm.k, gemm.batch
    sizes = (agreed(moved[a] / (batch * m * k)), agreed(moved[b] / (batch * k * n)), agreed(moved[out] / (batch * m * n)))
    return Product(m, n, k, batch, *sizes, peak, cast_bytes)


def attention(term: Attention, moved: Moved, peak: Real) -> Attend:
    """Attention over keys and values."""
    window = term.kv_len if term.window is None else np.minimum(term.window, term.kv_len)
    width = (term.head_dim, term.values)
    shape = Attend(
        batch=term.batch, heads=term.heads, kv_heads=term.kv_heads, q_len=term.q_len, kv_len=term.kv_len, window=window,
        is_causal=term.causal, d_qk=width[0], d_v=width[1], q_bytes=peak, kv_row_bytes=peak, out_bytes=peak, peak=peak,
    )  # fmt: skip
    paged = term.paged(shape.keys_read) / shape.keys_read
    return _with_bytes(shape._replace(paged=paged), moved["q"], moved["k"] + moved["v"], moved["out"])


def latent_attention(term: LatentAttention, moved: Moved, peak: Real) -> Attend:
    """Attention over latents, which all heads share, or over the keys and values that were made of them."""
    latents, rope = term.latent_dim, term.rope_dim
    is_absorbed = term.form == ABSORBED
    kv_heads = np.ones(1) if is_absorbed else term.heads
    d_qk, d_v = (latents + rope, latents) if is_absorbed else (term.head_dim + rope, term.v_head_dim)
    shape = Attend(
        batch=term.batch, heads=term.heads, kv_heads=kv_heads, q_len=term.q_len, kv_len=term.kv_len, window=term.kv_len,
        is_causal=True, d_qk=d_qk, d_v=d_v, q_bytes=peak, kv_row_bytes=peak, out_bytes=peak, peak=peak,
    )  # fmt: skip
    read = [moved[name] for name in moved if name not in ("q", "out")]
    return _with_bytes(shape, moved["q"], sum(read[1:], start=read[0]), moved["out"])


def _with_bytes(shape: Attend, q: Real, kv: Real, out: Real) -> Attend:
    """`shape` with the bytes of an element of q and of out, and of a row of what is cached, from those of the whole arrays."""
    rows = shape.batch * shape.q_len * shape.heads
    return shape._replace(
        q_bytes=q / (rows * shape.d_qk),
        kv_row_bytes=kv / (shape.batch * shape.kv_heads * shape.keys_read * shape.paged),
        out_bytes=out / (rows * shape.d_v),
    )


def one_pass(demand: Demand, total: Real, peak: Real | None) -> Pass:
    """Everything without a product; without a peak its operations take no time."""
    shape = demand.operands[0].shape
    rows = product((np.ones(1), *shape[:-1]))
    return Pass(total, demand.vector_flops, rows, shape[-1], np.full(1, np.inf) if peak is None else peak)


def program_of_pass(term: Term) -> str:
    """Which of the fitted passes an op is."""
    return "quantize" if isinstance(term, Quantize) else "rows" if term.kind in BY_ROWS else "pointwise"
