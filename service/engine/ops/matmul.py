"""Matrix multiplication: out[batch, m, n] = a[batch, m, k] · b[batch, k, n].

operations  2·batch·m·k·n on the matrix unit (k−1 adds counted as k)
traffic     a, b and out move once each; the output is cast to its format before it is written
rows        m is given, or follows from sequences: tokens per replica of the weights
approximate where m ≪ k, n only b's bytes matter: intensity → 2·m / (bytes per element of b)
Source      How to Scale Your Model, "All About Rooflines", matrix multiplication
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import ClassVar, Self

from ...errors import Fault
from ..arrays import ONE, Real, any_of, column
from ..demand import Demand, Gemm, Operand, matrix_product
from ..formats import Scale, quantised_faults
from ..registry import op
from ..term import Formulas, Term, choice, dim
from ..tokens import sequences_needed, tokens_per_replica

FORMULAS = Formulas(
    flops="2·batch·m·k·n",
    elements={"a": "batch·m·k", "b": "batch·k·n", "out": "batch·m·n"},
    source="How to Scale Your Model, All About Rooflines: matrix multiplication",
)


@op("matmul")
@dataclass(frozen=True, kw_only=True)
class Matmul(Term):
    m: Real | None = dim("rows of a and out, per pair", default=None)
    k: Real = dim("contracted dim: columns of a, rows of b")
    n: Real = dim("columns of b and out")
    batch: Real = dim("independent pairs of matrices", default=1)
    sequences: Real | None = dim("sequences over all replicas; with sequence_length, instead of m", default=None)
    sequence_length: Real | None = dim("tokens of one sequence", default=None)
    replicas: Real | None = dim("copies of the weights that share the sequences (1)", default=None, columns=False)
    dtype: str | None = choice("format of a, b and out")
    a_dtype: str | None = choice("format of a (dtype)")
    b_dtype: str | None = choice("format of b (dtype)")
    out_dtype: str | None = choice("format of out (dtype)")
    compute_dtype: str | None = choice("arithmetic class (the promotion of a's and b's formats)", "class")
    a_scale: Scale | None = choice("scales stored beside a, along k or per block of (m, k)", "scale")
    b_scale: Scale | None = choice("scales stored beside b, along k or per block of (k, n)", "scale")
    a_quantized_from: str | None = choice("format in which a arrives before it is quantised on the way; costs time in the estimate alone")

    example: ClassVar = {"m": 512, "k": 8192, "n": 28672, "dtype": "bf16"}
    factors = ("a", "b")
    approximates = "m"

    @property
    def grows(self) -> tuple[str, ...]:
        return ("m", "batch") if any_of(self.batch > ONE) else ("m",)

    def demand(self) -> Demand:
        m, k, n, batch = self.rows, self.k, self.n, self.batch
        return matrix_product(
            Gemm(m, k, n, batch),
            a=Operand("a", (batch, m, k), along=(-1,), uncut=1),
            b=Operand("b", (batch, k, n), along=(-2,), uncut=1),
            out=Operand("out", (batch, m, n), written=True, uncut=1),
        )

    @property
    def rows(self) -> Real:
        """m of a resolved term."""
        if self.m is None:
            raise ValueError("the rows of a matmul are known only after resolved()")
        return self.m

    def formulas(self) -> Formulas:
        return FORMULAS

    def approximation(self, flops: Real, moved: Mapping[str, Real]) -> Real:
        """2·m / w where w is the bytes of one element of b, its scales included [FLOP/B]."""
        return flops / moved["b"]

    @property
    def batch_dim(self) -> str:
        """Pairs where there are several, else the rows, in terms of what the caller gave."""
        return "batch" if any_of(self.batch > ONE) else self.asks("m")

    def batch_of(self, sizes: Real) -> Self:
        if self.batch_dim != "sequences" or self.sequence_length is None or self.replicas is None:
            return super().batch_of(sizes)
        return self.with_columns({"sequences": sizes, "m": tokens_per_replica(sizes, self.sequence_length, self.replicas)})

    def batch_step(self, parts: Mapping[str, int]) -> int:
        """Of sequences, as many as give every replica whole ones, so many that their tokens can be cut."""
        if self.batch_dim != "sequences" or self.sequence_length is None or self.replicas is None:
            return super().batch_step(parts)
        rows = parts.get("m", 1)
        return 1 if rows == 1 else int(self.replicas.item()) * rows // gcd(rows, int(self.sequence_length.item()))

    @property
    def derived(self) -> frozenset[str]:
        return frozenset() if self.sequences is None else frozenset({"m"})

    def asks(self, variable: str) -> str:
        return "sequences" if variable == "m" and self.sequences is not None else variable

    def answer(self, variable: str, value: Real) -> Real:
        if self.asks(variable) != "sequences" or self.sequence_length is None or self.replicas is None:
            return value
        return sequences_needed(value, self.sequence_length, self.replicas)

    def faults(self) -> list[Fault]:
        return [*self._faults_of_rows(), *quantised_faults(self.a_quantized_from, self.a_dtype or self.dtype)]

    def _faults_of_rows(self) -> list[Fault]:
        """What is wrong with how the rows are stated: as m, or as sequences."""
        if self.sequences is None and self.sequence_length is None and self.replicas is None:
            return [] if self.m is not None else [Fault("/m", "missing", "State m, or sequences with sequence_length.")]
        if self.m is not None:
            return [Fault("/m", "invalid-request", "State m or sequences, not both.")]
        missing = [name for name in ("sequences", "sequence_length") if getattr(self, name) is None]
        return [Fault(f"/{name}", "missing", "sequences and sequence_length go together.") for name in missing]

    def resolved(self) -> Self:
        found = super().resolved()
        if found.sequences is None or found.sequence_length is None:
            return found
        replicas = column(1) if found.replicas is None else found.replicas
        m = tokens_per_replica(found.sequences, found.sequence_length, replicas)
        return found._replaced({"m": m, "replicas": replicas})
