"""Fitted kernels as a calibration states them: by kernel, and by what tells one program of it from another.

`[kernels.products.bits-16]` are matrix products whose operands have 16 bits; attention goes by the bits of q and of its cache and by
the width of a head: up to 64 `slim`, 128 `narrow`, 192 `medium`, 256 `wide`, beyond `widest`. A parameter that is left out is 0: it costs
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from ..engine.arrays import column
from ..engine.kernels.flash import FlashParameters
from ..engine.kernels.gemm import GemmParameters
from ..engine.kernels.split_kv import SplitParameters
from ..engine.kernels.spread import Band
from ..engine.kernels.vector import VectorParameters
from .parameter import Errors, Parameter
from .quantity import Number, Section, Slug, Sourced, Text
from .units import UNITS, Dimension

KernelName = Literal["products", "grouped_products", "prefill", "decode", "latent_prefill", "latent_decode", "passes"]
MODELS: Final[Mapping[str, type[NamedTuple]]] = {
    "products": GemmParameters,
    "grouped_products": GemmParameters,
    "prefill": FlashParameters,
    "decode": SplitParameters,
    "latent_prefill": FlashParameters,
    "latent_decode": SplitParameters,
    "passes": VectorParameters,
}
FREE: Final = frozenset({"drain", "quantize_s", "quantize_row_s", "hot", "packs", "rows", "group", "row_s", "element"})
"""Parameters that may be left out."""
OTHERS: Final = {"feed": Dimension.BYTES_PER_CLOCK, "ramp_bytes": Dimension.BYTES}
"""Dimensions of the parameters that are neither times, which end in `_s`, nor ratios."""


def dimension(name: str) -> Dimension:
    """What a parameter measures."""
    return Dimension.TIME if name.endswith("_s") else OTHERS.get(name, Dimension.RATIO)


class SizedBand(Section):
    """Multiples of the estimate between which four of five measured times lie, by the size of the estimate."""

    edges_us: tuple[Number, ...] = ()
    p10: Annotated[tuple[Number, ...], Field(min_length=1)]
    p90: Annotated[tuple[Number, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _around_one(self) -> Self:
        if not len(self.p10) == len(self.p90) == len(self.edges_us) + 1 or list(self.edges_us) != sorted(self.edges_us):
            raise ValueError("edges ascend, and p10 and p90 have one number more than there are edges")
        if any(low > 1 for low in self.p10) or any(high < 1 for high in self.p90):
            raise ValueError("p10 is at most 1 and p90 at least 1, of each size")
        return self

    @property
    def si(self) -> Band:
        return Band(
            column([float(edge) * 1e-6 for edge in self.edges_us]), column([*map(float, self.p10)]), column([*map(float, self.p90)])
        )


class KernelFit(Sourced, Section):
    """One program: whose rows were fitted, the parameters, the band and the errors."""

    chips: Annotated[tuple[Slug, ...], Field(min_length=1)]
    rows: Annotated[int, Field(strict=True, gt=0)]
    parameters: dict[str, Parameter]
    band: SizedBand
    errors: Errors

    @property
    def values(self) -> dict[str, float]:
        """The parameters in SI."""
        return {name: float(each.si) for name, each in self.parameters.items()}

    @property
    def si(self) -> dict[str, Any]:
        """What the engine uses."""
        return {"parameters": self.values, "band": {name: each.tolist() for name, each in self.band.si._asdict().items()}}

    def head(self) -> dict[str, Any]:
        return {
            "chips": list(self.chips),
            "rows": self.rows,
            "parameters": {name: each.head() for name, each in self.parameters.items()},
            "band": self.si["band"],
            "errors": {**self.errors.model_dump(), "median": float(self.errors.median), "p90": float(self.errors.p90)},
        }


class Kernels(Section):
    """How kernels run."""

    regime: Text
    """what was measured, and how"""
    fits: Annotated[dict[KernelName, Annotated[dict[Slug, KernelFit], Field(min_length=1)]], Field(min_length=1)]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for kernel, programs in self.fits.items():
            for program, fit in programs.items():
                if fault := _fault(MODELS[kernel]._fields, fit.parameters):
                    raise ValueError(f"{kernel}.{program}: {fault}")
        return self


def _fault(names: tuple[str, ...], stated: Mapping[str, Parameter]) -> str | None:
    """What is wrong with the parameters of a model."""
    if unknown := [name for name in stated if name not in names]:
        return f"the model has no parameter {unknown[0]!r}"
    if missing := [name for name in names if name not in stated and name not in FREE]:
        return f"the parameter {missing[0]!r} is missing"
    if list(stated) != [name for name in names if name in stated]:
        return f"the parameters stand as {', '.join(stated)}; the model has them as {', '.join(names)}"
    if "overlap" in stated and stated["overlap"].si < 1:
        return "the exponent 'overlap' is below 1: two streams would take longer at once than one after another"
    wrong = [name for name, each in stated.items() if each.unit not in UNITS or UNITS[each.unit].dimension is not dimension(name)]
    return f"{wrong[0]!r} is not in a unit of its kind" if wrong else None
