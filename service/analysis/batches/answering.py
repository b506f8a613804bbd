"""The use case of `POST /v1/batches`: a table in, the same rows in the same order out, our columns beside the caller's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from ...catalogue import Catalogue
from ...engine import ENGINE_VERSION
from ...errors import Fault, InvalidInput, near
from ...schemas.batches import BatchQuery
from ...schemas.exports import SEPARATORS
from ...schemas.telling import MOST_FAULTS
from ...tables.formats import PLAIN_READING
from ...tables.table import Cell, Reading, Sheet, Table
from . import heading, leaves
from .evaluation import Evaluation, Progress, unwatched
from .naming import naming
from .questions import Faults, Questions
from .refusals import sentences

ERRORS: Final = ("error_code", "error")
"""Columns that are always there, the last of ours."""

DEFAULT: Final = tuple(leaves.SHORT)


@dataclass(frozen=True)
class Choices:
    """How a table is to be read and answered."""

    columns: Sequence[str] = DEFAULT
    """names of what is appended"""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """what the caller means by some of the columns"""
    on_error: Literal["row", "fail"] = "row"
    reading: Reading = PLAIN_READING


def choices(asked: BatchQuery) -> Choices:
    """What the parameters of a request say. Raises InvalidInput at /query/columns, /query/map."""
    return Choices(
        DEFAULT if asked.columns is None else _checked(asked.columns.split(",")),
        {} if asked.map is None else heading.mapping(asked.map),
        asked.on_error,
        Reading(None if asked.sep is None else SEPARATORS[asked.sep], asked.decimal, asked.sheet),
    )


def _checked(names: Sequence[str]) -> Sequence[str]:
    known = (*leaves.known(), *ERRORS)
    faults = [
        Fault("/query/columns", "unknown-member", "An answer has nothing of this name.", near(name, known))
        for name in names
        if name not in known
    ]
    if not faults and len(set(names)) < len(names):
        faults = [Fault("/query/columns", "invalid-request", "A column is named twice.")]
    if faults:
        raise InvalidInput(faults)
    return [name for name in names if name not in ERRORS]


def answer(table: Table, asked: Choices, catalogue: Catalogue, progress: Progress = unwatched) -> Sheet:
    """The table with an answer in every row that asks; a row that cannot be answered is marked.

    Raises InvalidInput: columns that cannot be told apart; any row that cannot be answered, where `on_error` is `fail`.
    """
    named = naming(table.header, (*asked.columns, *ERRORS))
    questions = Questions(table, heading.read(table.header, asked.renamed, named.ours))
    evaluation = Evaluation(questions, asked.columns, catalogue)
    evaluation.run(progress)
    faults = questions.in_order()
    if faults and asked.on_error == "fail":
        raise refusal(faults)
    ours = [*evaluation.values.values(), *_errors(faults, table.rows)]
    answered = Table(
        named.placed(table.header, named.names),
        named.placed(table.columns, ours),
        named.placed(table.units_row, [_unit(name) for name in (*asked.columns, *ERRORS)]) if table.units_row else (),
        table.decimal,
    )
    return Sheet(answered, about=_about(table.rows, len(faults), catalogue))


def refusal(faults: Faults, prefix: str = "/rows") -> InvalidInput:
    """All faults of all rows, in their order."""
    found = [Fault(f"{prefix}/{row}{each.pointer}", each.code, each.detail, each.suggestions) for row in faults for each in faults[row]]
    return InvalidInput(found[:MOST_FAULTS], len(found))


def _errors(faults: Faults, rows: int) -> list[list[Cell]]:
    codes: list[Cell] = [None] * rows
    texts: list[Cell] = [None] * rows
    for row, found in faults.items():
        codes[row], texts[row] = InvalidInput(found).code, sentences(found)
    return [codes, texts]


def _unit(name: str) -> str | None:
    unit = leaves.unit(name)
    return None if unit is None else f"[{unit}]"


def _about(rows: int, refused: int, catalogue: Catalogue) -> list[tuple[str, str]]:
    """Where the numbers come from."""
    return [
        ("engine_version", ENGINE_VERSION),
        ("catalogue_digest", catalogue.digest),
        ("rows", str(rows)),
        ("rows with an error", str(refused)),
    ]
