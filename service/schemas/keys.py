"""Requests about keys."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from .base import Strict
from .scopes import SCOPES, Scope

DAY_S: Final = 86_400
DEFAULT_LIFETIME_S: Final = 90 * DAY_S
LONGEST_LIFETIME_S: Final = 366 * DAY_S

_PRINTED: Final = r"[^\x00-\x1f\x7f-\x9f]"
KeyName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=rf"^{_PRINTED}*[^\s\x00-\x1f\x7f-\x9f]{_PRINTED}*$",
        description="who uses the key and for what, for people",
    ),
]
Scopes = Annotated[list[Scope], Field(min_length=1, max_length=len(SCOPES), description="what the key may do")]
Lifetime = Annotated[int, Field(ge=1, le=LONGEST_LIFETIME_S)]


class NewKey(Strict):
    """A key to be made."""

    name: KeyName
    scopes: Scopes
    lifetime_s: Lifetime | None = Field(
        default=None,
        description=f"seconds until the key expires; {DEFAULT_LIFETIME_S} (90 days) unless given, or as long as the key that makes it",
    )


class NewSecret(Strict):
    """A key that gets another secret."""

    lifetime_s: Lifetime | None = Field(
        default=None,
        description="seconds until the key expires; as many as its last secret had unless given, or as long as the key that rotates it",
    )
