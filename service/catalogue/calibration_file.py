"""A calibration as its file states it: `calibrations/<id>.toml`, what measured times say of how far hardware falls short of its roofline.

It speaks of one chip, of architectures, or, with neither, of any. It has a section per model of the engine, whose parameters it
gives with their units. A parameter that is left out costs nothing. What was measured, how well the model meets it on rows that the
fit has not seen, and in which regime, stands beside the parameters.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from ..engine.pace import REGIMES
from .entry import Entry
from .kernel_fit import Kernels
from .parameter import Errors, Parameter
from .quantity import Number, Section, Slug, Sourced, Text
from .units import Dimension, units_of

CollectiveKind = Literal["all_gather", "all_reduce", "all_to_all", "broadcast", "reduce_scatter", "send", "any", "across"]
"""A kind of collective; `any` stands for those without parameters of their own, `across` for all that leave a domain."""


def _of(dimension: Dimension) -> AfterValidator:
    allowed = units_of(dimension)

    def check(parameter: Parameter) -> Parameter:
        if parameter.unit not in allowed:
            raise ValueError(f"the unit {parameter.unit!r} is not one of {', '.join(allowed)}")
        return parameter

    return AfterValidator(check)


Time = Annotated[Parameter, _of(Dimension.TIME)]
Bytes = Annotated[Parameter, _of(Dimension.BYTES)]
Ratio = Annotated[Parameter, _of(Dimension.RATIO)]
Factors = Annotated[tuple[Number, Number, Number], Field(description=f"by regime: {', '.join(REGIMES)}")]


class PaceParameters(Section):
    """Those of `engine.pace.Pace`."""

    start: Time
    step: Time | None = None
    exponent: Ratio | None = None
    outer_step: Time | None = None
    spread: Ratio | None = None
    spread_bytes: Bytes | None = None
    own: Ratio | None = None
    low_share: Ratio
    bulk_start: Time | None = None
    bulk_step: Time | None = None
    bulk_outer_step: Time | None = None
    bulk_share: Ratio
    bulk_ramp: Time | None = None

    @property
    def si(self) -> dict[str, float]:
        """By name, in SI, without what is left out."""
        return {name: float(getattr(self, name).si) for name in type(self).model_fields if getattr(self, name) is not None}


class BandFactors(Section):
    """Between which multiples of the estimate the tenth and the ninetieth of a hundred measured times lie, by regime."""

    p10: Factors
    p90: Factors

    @model_validator(mode="after")
    def _around_one(self) -> Self:
        if any(low > 1 for low in self.p10) or any(high < 1 for high in self.p90):
            raise ValueError("p10 is at most 1 and p90 at least 1, in each regime")
        return self

    @property
    def si(self) -> dict[str, list[float]]:
        return {name: [float(each) for each in getattr(self, name)] for name in ("p10", "p90")}


class KindOfCollective(Sourced, Section):
    """The parameters of one kind. `ranks` and `sizes` [B, of nccl-tests] are the least and the largest that were measured."""

    rows: Annotated[int, Field(strict=True, gt=0)] | None = None
    ranks: tuple[int, int] | None = None
    sizes: tuple[int, int] | None = None
    parameters: PaceParameters
    band: BandFactors
    errors: Errors

    @property
    def si(self) -> dict[str, Any]:
        """What the engine uses."""
        ranks = {} if self.ranks is None else {"ranks": list(self.ranks)}
        return {"parameters": self.parameters.si, "band": self.band.si, **ranks}

    def head(self) -> dict[str, Any]:
        stated = {name: getattr(self.parameters, name) for name in PaceParameters.model_fields}
        return {
            **({} if self.rows is None else {"rows": self.rows}),
            **({} if self.ranks is None else {"ranks": list(self.ranks)}),
            **({} if self.sizes is None else {"sizes_bytes": list(self.sizes)}),
            "parameters": {name: each.head() for name, each in stated.items() if each is not None},
            "band": self.band.si,
            "errors": {**self.errors.model_dump(), "median": float(self.errors.median), "p90": float(self.errors.p90)},
        }


class Collectives(Section):
    """How collectives run on one fabric."""

    regime: Text
    """what was measured, and how"""
    topology: Literal["switch"] | None = None
    """of the axis; None where it does not matter"""
    kinds: Annotated[dict[CollectiveKind, KindOfCollective], Field(min_length=1)]


class CalibrationFile(Entry):
    """The calibration of a chip, of architectures, or of whatever has none of its own."""

    chip: Slug | None = None
    architectures: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()
    collectives: Collectives | None = None
    kernels: Kernels | None = None

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if self.date is None:
            raise ValueError("a calibration states the day of its fit")
        if self.chip is not None and self.architectures:
            raise ValueError("a calibration is of a chip or of architectures, not of both")
        return self
