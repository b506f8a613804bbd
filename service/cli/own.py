"""`roofline chip` and `roofline cluster`: users' own hardware in and out of the database, as TOML files like those of the catalogue."""

from __future__ import annotations

import datetime as dt
import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from ..analysis.hardware.keeping import keep, remove, today
from ..analysis.hardware.live import LiveCatalogue
from ..analysis.hardware.submission import Submission
from ..analysis.moments import now_us
from ..api.answers import found, written
from ..bootstrap import say
from ..catalogue.own import CHIP, Kind, OwnRecord, exported
from ..catalogue.toml import written as toml
from ..errors import InvalidInput, NotFound, refuse
from ..schemas.hardware import OwnChip, OwnCluster, OwnEntry
from ..schemas.reading import parse, validate
from ..settings import Settings
from .database import prepared
from .files import check_new, write_new
from .hardware import catalogue, catalogue_of
from .output import put, put_json
from .question import read

MOST_BYTES: Final = 2**20
"""of a file: more than an entry may take, and little enough to be read at once"""


@contextmanager
def live(settings: Settings) -> Iterator[LiveCatalogue]:
    """The catalogue with the database that it is written to, whose schema is made ready first. Raises Unavailable."""
    with prepared(settings) as database:
        yield catalogue_of(database)


def bring_in(kind: Kind, file: str | None, settings: Settings, *, is_json: bool) -> None:
    """Keeps the entry of a file: a new one, the next revision of one, or nothing where it is there as the file has it."""
    name, sent = submission(kind, read(file, MOST_BYTES))
    with live(settings) as hardware:
        before = current(kind, name, hardware)
        if before is not None and is_same(before, Submission(kind, name, sent, hardware.current).record(today(now_us()))):
            record, outcome = before, "is there already as the file has it"
        else:
            record, outcome = keep(kind, name, sent, hardware, lambda _: None).record, "is kept"
    if is_json:
        put_json(written(record.document()))
    else:
        say(f"{record.ref} {outcome}")


def send_out(kind: Kind, ref: str, output: str | None, *, force: bool) -> None:
    """Writes an entry, shipped or own, as a file that can be changed and brought in again."""
    check_new(output, force=force)
    known = catalogue()
    record = found(lambda: known.chip(ref, "/path/ref") if kind is CHIP else known.cluster(ref, "/path/ref"))
    text = f"# {record.ref}\n\n{toml(exported(record))}".encode()
    if output is None:
        put(text)
    else:
        write_new(output, text, force=force)


def delete(kind: Kind, name: str, settings: Settings) -> None:
    """Deletes an entry whatever it has become; its revisions can still be asked. Raises NotFound, Forbidden."""
    with live(settings) as hardware:
        remove(kind, name, hardware, lambda _: None)
    say(f"{name} is deleted; `{name}@N` still names each of its revisions")


def submission(kind: Kind, text: bytes) -> tuple[str, OwnEntry]:
    """The id and the request that a file stands for, read as strictly as a body. Raises InvalidInput, MalformedText."""
    sent = validate(OwnChip if kind is CHIP else OwnCluster, parse(_as_json(text)))
    if sent.id is None:
        raise refuse("/id", "missing", "This member is required.")
    return sent.id, sent


def _as_json(text: bytes) -> bytes:
    try:
        return json.dumps(tomllib.loads(text.decode()), default=_day).encode()
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        wrong = f"the file is not TOML: {error}"
    except RecursionError:
        wrong = "tables and lists of the file lie too deep within each other"
    except ValueError:  # what Python says of whole numbers with thousands of digits
        wrong = "a number in the file has too many digits"
    raise typer.BadParameter(wrong, param_hint="FILE")


def _day(value: object) -> str:
    """Dates are the only values of TOML that JSON has no form for."""
    assert isinstance(value, dt.date | dt.time)
    return value.isoformat()


def current(kind: Kind, name: str, hardware: LiveCatalogue) -> OwnRecord | None:
    """The newest revision of an entry of the users', if there is one that is not deleted."""
    find = hardware.current.chip if kind is CHIP else hardware.current.cluster
    try:
        record = found(lambda: find(name, "/path/ref"))
    except (NotFound, InvalidInput):
        return None
    return None if record.own is None else record


def is_same(one: OwnRecord, other: OwnRecord) -> bool:
    """Whether two revisions state the same, in the same words."""
    return exported(one) == exported(other)
