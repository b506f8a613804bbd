"""`roofline batch`: a table in, the same table with answers out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from ..analysis.batches.answering import choices
from ..analysis.batches.evaluation import Progress, unwatched
from ..analysis.batches.exchanging import Exchange, exchanged
from ..errors import near
from ..schemas.batches import BatchQuery
from ..schemas.reading import validate
from ..tables.formats import FORMATS, Format
from ..tables.limits import MOST_BYTES
from .files import check_new, write_new
from .hardware import catalogue
from .output import put
from .question import STANDARD_INPUT, read


@dataclass(frozen=True)
class Files:
    """Where a table is read and its answer written, as typed; nothing stands for the standard streams."""

    source: str | None
    target: str | None
    form: str | None
    """the format of what has no name that tells it"""
    force: bool

    @property
    def formats(self) -> tuple[Format, Format]:
        """The formats of both. Without a word about the output it is that of the input."""
        source = _by_name(self.form, "--format") if self.source in {None, STANDARD_INPUT} else _by_suffix(self.source, "FILE")
        if self.target is not None:
            return source, _by_suffix(self.target, "-o")
        return source, source if self.form is None else _by_name(self.form, "--format")


def batch(files: Files, asked: Mapping[str, str]) -> None:
    """Answer the rows of a table; `asked` are parameters as of POST /v1/batches. Raises what the API would refuse."""
    source, target = files.formats
    check_new(files.target, force=files.force)
    exchange = Exchange(source, target, choices(validate(BatchQuery, dict(asked), "/query")))
    body = read(files.source, MOST_BYTES)
    with _watched() as progress:
        found = exchanged(body, exchange, catalogue(), progress)
    if files.target is None:
        put(found.body)
    else:
        write_new(files.target, found.body, force=files.force)


def _by_suffix(name: str | None, place: str) -> Format:
    suffix = Path(name or "").suffix.lower()
    found = next((each for each in FORMATS.values() if each.suffix == suffix), None)
    if found is None:
        known = ", ".join(dict.fromkeys(each.suffix for each in FORMATS.values()))
        raise typer.BadParameter(f"the name of a table ends in one of {known}", param_hint=place)
    return found


def _by_name(name: str | None, place: str) -> Format:
    if name is None:
        raise typer.BadParameter(f"say in which format the table is piped in: {', '.join(FORMATS)}", param_hint=place)
    if name not in FORMATS:
        perhaps = "".join(f"; perhaps {each} is meant" for each in near(name, FORMATS, count=1))
        raise typer.BadParameter(f"the formats are {', '.join(FORMATS)}{perhaps}", param_hint=place)
    return FORMATS[name]


@contextmanager
def _watched() -> Iterator[Progress]:
    """What is to be told of rows that are done: a bar, where a person watches."""
    if not os.isatty(2):
        yield unwatched
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(TextColumn("rows"), BarColumn(), MofNCompleteColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("rows", total=None)
        yield lambda done, rows: bar.update(task, completed=done, total=rows)
