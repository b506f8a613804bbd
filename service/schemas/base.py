"""What all models of requests share, and members that are known but not answered yet."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError


class Strict(BaseModel):
    """No unknown members, no conversions, nothing that changes after it was checked."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _refuse(_: object) -> None:
    raise PydanticCustomError("not-supported-yet", "This service does not answer this yet; leave the member out.")


Later = SkipJsonSchema[Annotated[object, AfterValidator(_refuse)]]
"""A member of the contract whose layer does not exist yet: refused by name and absent from the published schema."""
