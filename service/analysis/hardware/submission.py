"""From what a caller sent to an entry that can be kept: read, sourced, in range, plausible. All that is wrong is told at once."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

from ...catalogue import Catalogue
from ...catalogue.chip_file import ChipFile
from ...catalogue.cluster_file import ClusterFile
from ...catalogue.entry import Source
from ...catalogue.lint import Finding
from ...catalogue.own import Kind, OwnRecord, exported, stored
from ...catalogue.quantity import UNORDERED
from ...catalogue.ranges import Steps, cells, outside
from ...catalogue.record import Own
from ...errors import Fault, InvalidInput, OverLimit, near, refuse
from ...pointers import pointer
from ...schemas.faults import faults
from ...schemas.hardware import OwnEntry
from . import what_if
from .merging import merged

MOST_BYTES: Final = 256 * 2**10
"""of one entry as it is stored"""

MOST_CHARACTERS: Final = 100
_NAME: Final = re.compile("[a-z0-9]+(?:-[a-z0-9]+)*")
AnyFile = ChipFile | ClusterFile
_RESERVED: Final = frozenset({"all", "none"})
"""Words that mean something else where a question names hardware."""


@dataclass(frozen=True)
class Submission:
    """What was sent for the entry `id`, and the catalogue in which it is read."""

    kind: Kind
    id: str
    sent: OwnEntry
    catalogue: Catalogue

    def record(self, today: dt.date) -> OwnRecord:
        """The entry, as a first revision. Raises InvalidInput with pointers into the request, OverLimit."""
        if self.sent.id not in (None, self.id):
            raise refuse("/id", "out-of-range", "This is not the id in the address.")
        base = self._base()
        given = dict(self.sent.sources)
        table = dict(self.sent.members)
        if base is not None:
            of_base = exported(base)
            numbers = what_if.in_si(table) if self.kind.noun == "chip" else {}
            rest = {name: value for name, value in table.items() if name not in numbers}
            assumed = what_if.changes(numbers, of_base.get("on_chip", []), rest, self.sent.reason) if numbers else {}
            table = merged(merged({n: v for n, v in of_base.items() if n not in ("sources", "override")}, assumed), rest)
            if numbers:
                given = {what_if.SOURCE: what_if.WORK, **given}
        file = self._file({**table, "id": self.id, "revision": 1, "date": self.sent.date or today, "reason": self.sent.reason})
        sources = self._sources(file, given, base)
        self._judge(file, base)
        record = self.kind.record(file, sources, self._own(file, base))
        if len(stored(record).encode()) > MOST_BYTES:
            raise OverLimit(f"An entry may take {MOST_BYTES} bytes; shorten its notes.", code="body-too-large")
        return record

    def _base(self) -> OwnRecord | None:
        if self.sent.base is None:
            return None
        find = self.catalogue.chip if self.kind.noun == "chip" else self.catalogue.cluster
        return find(self.sent.base, "/base")

    def _own(self, file: AnyFile, base: OwnRecord | None) -> Own:
        if base is None:
            return Own(override=self.sent.override)
        root = base.id if base.own is None else base.own.measured_as
        inherited = base.own.override if base.own is not None and self.kind.lint(file) else None
        return Own(base.ref, root, self.sent.override or inherited)

    def _file(self, table: dict[str, Any]) -> AnyFile:
        return cast("AnyFile", _model(self.kind.file, table, ()))

    def _sources(self, file: BaseModel, given: Mapping[str, Any], base: OwnRecord | None) -> dict[str, Source]:
        """The works that `file` cites: those that were sent, then those of the base, then the shipped ones."""
        sent = {key: cast("Source", _model(Source, source, ("sources", key))) for key, source in given.items()}
        known = {**self.catalogue.sources, **({} if base is None else base.sources), **sent}
        cited = [(steps, key) for steps, value in cells(file) for key in value.source]
        wrong = [_undeclared(steps, key, known) for steps, key in cited if key not in known]
        keys = {key for _, key in cited}
        unused = [key for key in self.sent.sources if key not in keys]
        wrong += [Fault(pointer(("sources", key)), "invalid-request", "No value cites this work.") for key in unused]
        if wrong:
            raise InvalidInput(wrong)
        return {key: known[key] for key in sorted(keys)}

    def _judge(self, file: AnyFile, base: OwnRecord | None) -> None:
        wrong = [Fault(pointer(steps), "out-of-range", detail) for steps, detail in outside(file)]
        wrong += _named_twice(file)
        if isinstance(file, ClusterFile):
            self.catalogue.chip(file.chip, "/chip")
        if not wrong and self.sent.override is None:
            wrong = [_implausible(file, finding) for finding in self.kind.lint(file) if finding not in self._excused(base)]
        if wrong:
            raise InvalidInput(wrong)

    def _excused(self, base: OwnRecord | None) -> list[Finding]:
        """What the base's reason speaks of. A value that breaks a rule in another way needs a reason of its own."""
        return [] if base is None or base.own is None or base.own.override is None else self.kind.lint(base.file)


def _model(model: type[BaseModel], value: Any, prefix: Steps) -> BaseModel:
    """`value` as `model`. Raises InvalidInput with pointers below `prefix`."""
    try:
        return model.model_validate(value, context=UNORDERED)
    except ValidationError as error:
        found = [replace(each, pointer=pointer(prefix) + each.pointer) for each in faults(model, error)]
        raise InvalidInput(found, error.error_count()) from None


def _undeclared(steps: Steps, key: str, known: Mapping[str, Source]) -> Fault:
    detail = "No work has this key: declare it in `sources`."
    return Fault(pointer((*steps, "source")), "missing", detail, near(key, known, 3))


def _named_twice(file: BaseModel) -> Iterator[Fault]:
    """Parts of a list go by their names, in documents and in differences."""
    for section in ("on_chip", "axes", "measured"):
        parts = getattr(file, section, ())
        counts = Counter(part.name for part in parts)
        for at, part in enumerate(parts):
            if counts[part.name] > 1:
                code = "axis-repeated" if section == "axes" else "invalid-request"
                yield Fault(pointer((section, at, "name")), code, "Another part of this list has the same name.")


def _implausible(file: BaseModel, finding: Finding) -> Fault:
    section, _, rest = finding.field.partition(".")
    steps: list[str | int] = [section]
    parts = getattr(file, section, None)
    if isinstance(parts, tuple) and rest:
        name, _, field = rest.rpartition(".")
        steps += [next(at for at, part in enumerate(parts) if part.name == name), field]
    else:
        steps += rest.split(".") if rest else []
    detail = f"This {finding.reason}. If it is right, say why in `override`."
    return Fault(pointer(steps), "implausible-value", detail)


def check_name(kind: Kind, name: str) -> None:
    """Nothing, if an entry may be called `name`. Raises InvalidInput at /path/ref."""
    if len(name) > MOST_CHARACTERS or not _NAME.fullmatch(name):
        detail = f"A {kind.noun} is called by at most {MOST_CHARACTERS} lower-case letters and digits, in parts joined by single hyphens."
        raise refuse("/path/ref", "out-of-range", detail)
    if name in _RESERVED:
        raise refuse("/path/ref", "out-of-range", f"No {kind.noun} may have this name, which means something else in questions.")
