"""Moments as requests write them: RFC 3339 with a zone, or a day, which begins at midnight UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

_FORM: Final = r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2}))?$"
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(text: str) -> int:
    """A moment [µs since 1970-01-01 UTC].

    >>> microseconds("1970-01-02"), microseconds("1970-01-01T01:00:00.5+01:00")
    (86400000000, 500000)
    """
    found = datetime.fromisoformat(text)
    return (found.replace(tzinfo=found.tzinfo or UTC) - _START) // timedelta(microseconds=1)


def _existing(text: str) -> str:
    try:
        microseconds(text)
    except (ValueError, OverflowError):
        raise PydanticCustomError("out-of-range", "No calendar has this moment.") from None
    return text


Moment = Annotated[
    str,
    Field(
        pattern=_FORM,
        max_length=40,
        description="`2026-01-31T12:00:00Z`, to six decimals, any offset (a plus is written `%2B`), or a day, which is its midnight UTC.",
    ),
    AfterValidator(_existing),
]
