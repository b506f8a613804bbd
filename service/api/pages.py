"""Pages of a list that is in memory and sorted by a key: at most so many items, and an opaque cursor behind the last one."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ..errors import refuse
from ..schemas.exports import FORM

MAX_LIMIT: Final = 200

T = TypeVar("T")


class PageQuery(BaseModel):
    """Which part of a list is asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="How many items at most.")] = 50
    cursor: Annotated[str | None, Field(max_length=1024, description="`next_cursor` of the page before.")] = None


def page(of: str, items: Sequence[T], key: Callable[[T], str], asked: PageQuery) -> tuple[list[T], str | None]:
    """The items that were asked for, of `items` sorted by `key`, and the cursor of those behind them.

    `of` names the list. A cursor belongs to one list and its filters. Raises InvalidInput (out-of-range) at /query/cursor.
    """
    digest = _digest(of, asked)
    after = "" if asked.cursor is None else _read(asked.cursor, digest)
    behind = [item for item in items if key(item) > after]
    shown = behind[: asked.limit]
    return shown, _written(digest, key(shown[-1])) if len(behind) > len(shown) else None


def _digest(of: str, asked: PageQuery) -> str:
    filters = asked.model_dump(exclude={"limit", "cursor", *FORM})
    return hashlib.sha256(json.dumps([of, filters], sort_keys=True).encode()).hexdigest()[:16]


def _written(digest: str, last: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([digest, last]).encode()).decode().rstrip("=")


def _read(cursor: str, digest: str) -> str:
    try:
        text = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        of_list, last = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        of_list = last = None
    if not isinstance(last, str):
        raise refuse("/query/cursor", "out-of-range", "This is not a cursor of this list.")
    if of_list != digest:
        raise refuse("/query/cursor", "out-of-range", "This cursor belongs to another list, or to this one with other filters.")
    return last
