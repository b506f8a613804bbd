"""From the model of an entry back to the plain tables that a file of it has: what is stored, copied and exported."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from .quantity import Sourced


def plain(value: object) -> Any:
    """`value` as strings, numbers, lists and tables that JSON and TOML have; what is not stated is left out.

    The model reads them back to the same values: a decimal number becomes the float that is printed as it.
    """
    if isinstance(value, BaseModel):
        members = {name: getattr(value, name) for name in type(value).model_fields}
        table = {name: plain(each) for name, each in members.items() if each is not None and each not in ((), {})}
        if isinstance(value, Sourced) and len(value.source) == 1:
            table["source"] = value.source[0]
        return _value_first(table) if isinstance(value, Sourced) else table
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, dt.date) else value


def _value_first(table: dict[str, Any]) -> dict[str, Any]:
    """As one writes a value: the number with its unit, then where it is from."""
    first: dict[str, Any] = {name: table[name] for name in ("value", "unit") if name in table}
    return {**first, **table}
