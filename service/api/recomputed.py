"""An analysis asked again, as the OpenAPI document shows it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .results import ListResult, Result


class AnswerThen(BaseModel):
    """An answer, and what it rests on."""

    engine_version: str
    chip: str | None = Field(description="Pinned to its revision; of a changed chip, what it was changed from.")
    target_digest: str
    result: Result | ListResult


class AnswerNow(AnswerThen):
    """Today's answer."""

    id: str = Field(description="Under which it is, or would be, kept.")


class FromTo(BaseModel):
    """A value then and now."""

    model_config = ConfigDict(serialize_by_alias=True)

    from_: Any = Field(alias="from")
    to: Any


class BoundFromTo(FromTo):
    """What bound then and what binds now, a list of ops by each."""

    changed: bool


class TimeChange(BaseModel):
    """A time then and now. The two factors multiply to the ratio."""

    before_s: float | None
    after_s: float | None
    ratio: float | None = Field(description="after over before; null where one of them does not exist or is 0.")
    by_engine: float | None = Field(description="What today's engine, its calibrations included, makes of the chip as it was.")
    by_chip_revision: float | None = Field(description="What the newest revision of the chip makes of that.")


class Difference(BaseModel):
    """What changed, and what changed it."""

    attributed_to: list[Literal["engine", "chip_revision"]] = Field(description="Neither where the answers are equal.")
    engine: FromTo
    chip_revision: FromTo
    bound: BoundFromTo
    times: dict[Literal["lower_s", "upper_s", "overlapped_s", "estimate_s"], TimeChange]


class Recomputed(BaseModel):
    """A kept answer beside today's."""

    id: str
    stored: AnswerThen
    recomputed: AnswerNow
    difference: Difference
