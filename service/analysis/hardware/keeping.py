"""Keeping and deleting users' own hardware. A condition is checked in the transaction that changes, so that one of several callers wins."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...catalogue.own import Kind, OwnRecord, read, stored
from ...errors import Conflict, Forbidden, refuse
from ...schemas.hardware import OwnEntry
from ...storage import Entry
from ..moments import now_us
from .live import LiveCatalogue
from .submission import Submission, check_name

Condition = Callable[[OwnRecord | None], None]
"""Raises what a caller is told whose condition the entry does not meet; None is one that does not exist, or no more."""


@dataclass(frozen=True)
class Kept:
    """What is now stored, and whether there was no such entry before."""

    record: OwnRecord
    is_new: bool


def keep(kind: Kind, name: str, sent: OwnEntry, live: LiveCatalogue, condition: Condition, *, clock: Callable[[], int] = now_us) -> Kept:
    """Makes the next revision of the entry called `name`: committed, and seen by this process, before it is returned.

    Raises InvalidInput, Forbidden (read-only), Unavailable, and what `condition` does; nothing is then kept.
    """
    refuse_shipped(kind, name, live)
    check_name(kind, name)
    live.refresh()
    now = clock()
    first = Submission(kind, name, sent, live.current).record(today(now))
    before: list[bool] = []

    def make(last: Entry | None) -> Entry:
        present = None if last is None or last.deleted else _present(kind, last)
        condition(present)
        before[:] = [present is not None]
        return entry(_revised(first, 1 if last is None else last.revision + 1, sent), kind, now)

    kept = live.store.add(kind.noun, name, make)
    live.refresh()
    return Kept(read(kind, kept.document), not before[0])


def remove(kind: Kind, name: str, live: LiveCatalogue, condition: Condition) -> None:
    """Deletes an entry: its id names nothing any more, its revisions can still be asked by `id@N`.

    Raises NotFound, Forbidden (read-only), Unavailable, and what `condition` does.
    """
    refuse_shipped(kind, name, live)
    live.store.remove(kind.noun, name, lambda last: condition(_present(kind, last)))
    live.refresh()


def refuse_shipped(kind: Kind, name: str, live: LiveCatalogue) -> None:
    """Nothing, unless the entry called `name`, pinned or not, is one of the service's own. Raises Forbidden."""
    bare = name.partition("@")[0]
    if live.is_shipped(kind, bare):
        raise Forbidden(
            f"This {kind.noun} is shipped with the service and is never changed. "
            f'Copy it: PUT another id with `{{"base": "{bare}", "reason": "…"}}` and what shall differ.',
            code="read-only",
        )


def entry(record: OwnRecord, kind: Kind, now: int) -> Entry:
    """The row of a record."""
    return Entry(
        kind=kind.noun,
        id=record.id,
        revision=record.revision,
        created_us=now,
        reason=record.reason,
        document=stored(record),
        digest=record.digest,
    )


def today(now: int) -> dt.date:
    """The day of a moment [µs], in UTC."""
    return dt.datetime.fromtimestamp(now // 1_000_000, dt.UTC).date()


def _present(kind: Kind, last: Entry) -> OwnRecord:
    try:
        return read(kind, last.document)
    except ValueError:
        detail = f"Another version of this service keeps this {kind.noun} in a form that this one cannot read; change it there."
        raise Conflict(detail, code="precondition-failed") from None


def _revised(first: OwnRecord, revision: int, sent: OwnEntry) -> OwnRecord:
    if sent.revision not in (None, revision):
        raise refuse("/revision", "out-of-range", f"This request makes revision {revision}; leave the member out.")
    file: Any = first.file.model_copy(update={"revision": revision})
    return replace(first, file=file)
