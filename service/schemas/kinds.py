"""The kinds of ops as an answer or an address names them; the OpenAPI document lists them all, from the registry."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType

from ..engine.kinds import KINDS
from ..errors import near

LIST_OF_OPS: Final = "ops"
SAVED_KINDS: Final = (*KINDS, LIST_OF_OPS)


def _saved_kind(name: str) -> str:
    if name not in SAVED_KINDS:
        raise PydanticCustomError("unknown-op", "There is no op of this kind.", {"suggestions": near(name, SAVED_KINDS)})
    return name


OpKind = TypeAliasType("OpKind", Annotated[str, WithJsonSchema({"type": "string", "enum": [*KINDS], "description": "A kind of op."})])

SavedKind = TypeAliasType(
    "SavedKind",
    Annotated[
        str,
        AfterValidator(_saved_kind),
        WithJsonSchema({"type": "string", "enum": [*SAVED_KINDS], "description": "The op, or `ops` for a list of ops."}),
    ],
)
"""What a saved analysis is about."""
