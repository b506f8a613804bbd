"""Shapes of what is said of keys, for the OpenAPI document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from ..schemas.scopes import Scope


class KeyDocument(BaseModel):
    """A key without its secret."""

    id: str
    name: str
    scopes: list[Scope]
    status: Literal["active", "expired", "revoked"]
    created_at: str
    issued_at: str = Field(description="When it got its present secret.")
    expires_at: str
    revoked_at: str | None
    last_used_at: str | None = Field(description="The hour of its last use.")


class IssuedKeyDocument(KeyDocument):
    """A key with its secret."""

    secret: str = Field(description="What the holder sends as `Authorization: Bearer …`. It is shown this once and kept nowhere.")


class KeyList(BaseModel):
    """A page of keys."""

    items: list[KeyDocument]
    next_cursor: str | None
    limit: int
