"""A number of a catalogue file, with the unit in which its source prints it and the work that says so.

    bandwidth = { value = 3.35, unit = "TB/s", source = "aiconfigurator-h100-sxm" }

`source` is a key of `sources.toml`, or a list of keys. `derived` says how a value follows from others that the source gives,
`note` what a reader must know to use it, `confidence` stands only where it differs from the entry's.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Final, Literal, LiteralString

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StringConstraints,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from .units import LARGEST_EXACT, UNITS, Dimension, to_si, units_of

Confidence = Literal["high", "medium", "low"]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2000, pattern=r"\S")]
Notes = Annotated[tuple[Text, ...], Field(max_length=100)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)]


UNORDERED: Final = {"is_ordered": False}
"""The context in which an entry may have its keys in any order, as a JSON object has."""


def fault(code: LiteralString, detail: str, at: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """What a validator raises: one of the contract's codes, a sentence that does not repeat the value, and where below it."""
    return PydanticCustomError(code, "{detail}", {"detail": detail, "at": at})


def is_ordered(info: ValidationInfo) -> bool:
    """Whether the keys must stand in the order of the model, as in a file that the catalogue ships."""
    return info.context is None or bool(info.context["is_ordered"])


def positive(number: Any) -> int | Decimal:
    """`number`, if it is a finite number above 0. A float is the decimal number that it is printed as."""
    exact = Decimal(repr(number)) if isinstance(number, float) else number
    if isinstance(exact, bool) or not isinstance(exact, int | Decimal):
        raise fault("wrong-type", "This is not a number; what is unknown is left out.")
    if Decimal(exact).is_finite() and exact > 0:
        return exact
    raise fault("out-of-range", "This is not a finite number above 0; what is unknown is left out.")


Number = Annotated[int | Decimal, PlainValidator(positive)]
"""As the file has it: decimal, not binary, so that 133.8 TFLOP/s is 133.8e12 FLOP/s and nothing beside it."""


class Strict(BaseModel):
    """Unknown keys are refused, values keep their type, and nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False)


class Section(Strict):
    """A table of a file. Its keys stand in the order of the model, so that two files read alike."""

    @model_validator(mode="before")
    @classmethod
    def _in_order(cls, table: Any, info: ValidationInfo) -> Any:
        if isinstance(table, dict) and is_ordered(info):
            keys = [key for key in table if key in cls.model_fields]
            order = [key for key in cls.model_fields if key in table]
            if keys != order:
                raise ValueError(f"the keys stand as {', '.join(keys)}; their order is {', '.join(order)}")
        return table


def _as_list(source: Any) -> Any:
    return tuple(source) if isinstance(source, list) else (source,)


class Sourced(Strict):
    """What every stated value carries besides itself."""

    source: Annotated[tuple[Slug, ...], BeforeValidator(_as_list), Field(min_length=1, max_length=32)]
    confidence: Confidence | None = None
    note: Text | None = None
    derived: Text | None = None

    @property
    def si(self) -> Any:
        """The value in SI, as JSON has it."""
        raise NotImplementedError

    def head(self) -> dict[str, Any]:
        """The members of a document that say the value itself; its provenance is told apart."""
        return {"value": self.si}


class Quantity(Sourced):
    """A number above zero; what is unknown is absent, never 0."""

    value: Number
    unit: str

    @property
    def si(self) -> int | float:
        return to_si(self.value, self.unit)

    @property
    def suffix(self) -> str:
        """The ending that names this value's SI unit."""
        return UNITS[self.unit].dimension.suffix

    def head(self) -> dict[str, Any]:
        stated = self.value if isinstance(self.value, int) else float(self.value)
        return {"value": self.si, "unit": UNITS[self.unit].dimension.si_unit, "stated": {"value": stated, "unit": self.unit}}


class Claim(Sourced):
    """A yes or a no that somebody states."""

    value: StrictBool

    @property
    def si(self) -> bool:
        return self.value


class Shape(Sourced):
    """Sizes along the dims of an array or of a torus."""

    value: Annotated[
        tuple[Annotated[int, Field(strict=True, gt=0, le=LARGEST_EXACT)], ...], BeforeValidator(_as_list), Field(min_length=1, max_length=8)
    ]

    @property
    def si(self) -> list[int]:
        return list(self.value)


def _of(dimension: Dimension) -> AfterValidator:
    allowed = units_of(dimension)

    def check(quantity: Quantity) -> Quantity:
        if quantity.unit not in allowed:
            raise fault("out-of-range", f"The unit is not one of {', '.join(allowed)}.", ("unit",))
        return quantity

    return AfterValidator(check)


FlopRate = Annotated[Quantity, _of(Dimension.FLOP_RATE)]
FlopPerClock = Annotated[Quantity, _of(Dimension.FLOP_PER_CLOCK)]
ByteRate = Annotated[Quantity, _of(Dimension.BYTE_RATE)]
Bytes = Annotated[Quantity, _of(Dimension.BYTES)]
Time = Annotated[Quantity, _of(Dimension.TIME)]
Frequency = Annotated[Quantity, _of(Dimension.FREQUENCY)]
Power = Annotated[Quantity, _of(Dimension.POWER)]
Count = Annotated[Quantity, _of(Dimension.COUNT)]
