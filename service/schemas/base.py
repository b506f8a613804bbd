"""What all models of requests share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """No unknown members, no conversions, nothing that changes after it was checked."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
