"""Rows become questions, and questions that share all but their numbers become groups: the rows of one engine call.

Rows with a value that is wrong in
the same way are refused together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

from ...engine.ops import OPS
from ...errors import Fault, OverLimit, near, refuse
from ...pointers import pointer
from ...tables.table import Table
from . import fields
from .fields import CHIP, KIND, TILE, Path
from .heading import Heading
from .reading import Column, read

MOST_GROUPS: Final = 10_000
"""Engine calls for one table, each of which costs as much as hundreds of rows."""

Faults = dict[int, list[Fault]]
"""What is wrong by row; pointers begin at the row."""


@dataclass(frozen=True)
class Group:
    """Rows of one kind that share their choices."""

    kind: str
    rows: tuple[int, ...]
    choices: Mapping[Path, Any]
    """members that all rows share"""
    varying: Mapping[Path, Column]
    """members of which each row has its own; each filled in all rows"""
    suspects: Mapping[Path, int] = field(default_factory=dict)
    """own columns that all rows fill and that may have been meant for a member which they lack"""

    def op(self, rows: Sequence[int]) -> dict[str, Any]:
        """The op of some of the rows as in a request: a list for each number that varies, or the number where there is one row."""
        members = {path: value for path, value in self.choices.items() if path[0] == "op"}
        for path, column in self.varying.items():
            values = column.values
            members[path] = values[rows[0]] if len(rows) == 1 else [values[row] for row in rows]
        return {"kind": self.kind, **nested(members).get("op", {})}

    @property
    def options(self) -> dict[str, Any]:
        """The options as in a request. Raises InvalidInput: a tile in words and in numbers."""
        stated = {path: value for path, value in self.choices.items() if path[0] == "options"}
        if TILE.path in stated and any(path[:-1] == TILE.path for path in stated):
            raise refuse("/options/tile", "invalid-request", "State the tile in one word or in m, n and k, not both.")
        options: dict[str, Any] = nested(stated).get("options", {})
        return options


class Plan(NamedTuple):
    """The columns by which the rows of a kind are told apart."""

    choices: Sequence[tuple[Path, Column]]
    varying: Sequence[tuple[Path, Column]]
    suspects: Sequence[tuple[int, Path]]
    """own columns, each with the member that it may have been meant for"""


class Questions:
    """What the rows of a table ask."""

    def __init__(self, table: Table, heading: Heading, *, passes_blanks: bool = True) -> None:
        """`passes_blanks`: a row without anything in it asks nothing, else it is one that lacks its op."""
        self.heading = heading
        self.rows = table.rows
        self.faults: Faults = {}
        self._table = table
        self._passes_blanks = passes_blanks
        self._columns: dict[Path, Column] = {}
        for path, at in heading.places.items():
            member = fields.find(fields.short(path))
            assert member is not None
            self._columns[path] = read(table.columns[at], member, table.decimal or ".")
        self._targets = [(path, column) for path, column in self._columns.items() if path[0] == "target"]
        self._odd = {row for column in self._columns.values() for row in column.odd}

    def fault_of_cell(self, row: int, path: Path) -> Fault | None:
        """What is wrong with the text of a cell."""
        column = self._columns.get(path)
        odd = None if column is None else column.odd.get(row)
        return None if odd is None else odd.fault

    def add(self, row: int, fault: Fault) -> None:
        self.faults.setdefault(row, []).append(fault)

    def in_order(self) -> Faults:
        """What is wrong by row; within a row in the order of its columns, what is missing last."""
        places = {pointer([name]): at for at, name in enumerate(self.heading.header)}
        return {row: sorted(self.faults[row], key=lambda fault: places.get(fault.pointer, len(places))) for row in sorted(self.faults)}

    def target(self, row: int) -> tuple[tuple[Path, Any], ...]:
        """The members of a row's target that it states."""
        return tuple([(path, column.values[row]) for path, column in self._targets if column.values[row] is not None])

    def groups(self) -> Iterator[Group]:
        """All groups, in the order of their first rows within each kind. Raises OverLimit."""
        for count, group in enumerate(chain.from_iterable(self._of_kind(kind, rows) for kind, rows in self._by_kind().items())):
            if count == MOST_GROUPS:
                raise OverLimit(f"Rows of a table may differ in {MOST_GROUPS} ways besides their numbers and chips. Send it in parts.")
            yield group

    def _by_kind(self) -> dict[str, list[int]]:
        kinds = self._columns.get(KIND.path)
        found: dict[str, list[int]] = {}
        for row in range(self.rows):
            kind = None if kinds is None else kinds.values[row]
            if isinstance(kind, str) and kind in OPS:
                found.setdefault(kind, []).append(row)
            elif kind is not None or not self._is_blank(row):
                self.add(row, self._no_kind(row, kind))
        return found

    def _is_blank(self, row: int) -> bool:
        return self._passes_blanks and not any(self._fills(at, row) for at in self.heading.theirs)

    def _no_kind(self, row: int, kind: Any) -> Fault:
        at = pointer([self.heading.said(KIND.path)])
        if kind is None:
            meant = [self.heading.header[at] for at, _ in self.heading.resembling([KIND.path]) if self._fills(at, row)]
            return Fault(at, "missing", "This member is required: which op.", tuple(meant))
        if not isinstance(kind, str):
            return Fault(at, "wrong-type", "The name of an op is needed.")
        return Fault(at, "unknown-op", "There is no op of this kind.", near(kind, OPS))

    def _of_kind(self, kind: str, rows: Sequence[int]) -> Iterator[Group]:
        """The groups of one kind. Cells of members that the kind does not have must be empty."""
        members = {**fields.of_kind(kind), **fields.beside_op()}
        self._refuse_foreign(kind, rows, members)
        shared = [(path, column) for path, column in self._columns.items() if path in members and path[0] != "target"]
        plan = Plan(
            [(path, column) for path, column in shared if not members[path].varies],
            [(path, column) for path, column in shared if members[path].varies],
            list(self.heading.resembling({KIND.path, CHIP.path, *members})),
        )
        keyed: dict[Hashable, list[int]] = {}
        for row in rows:
            if row not in self.faults:
                keyed.setdefault(self._key(row, plan), []).append(row)
        for each in keyed.values():
            yield self._group(kind, each, plan)

    def _key(self, row: int, plan: Plan) -> Hashable:
        """What the rows of a group share: choices, which numbers they state, which columns they may have misspelt, what is odd."""
        odd = tuple([column.reason(row) for _, column in (*plan.choices, *plan.varying)]) if row in self._odd else ()
        return (
            tuple([None if odd and row in column.odd else column.values[row] for _, column in plan.choices]),
            tuple([column.values[row] is None for _, column in plan.varying]),
            tuple([self._lacks(row, path) and self._fills(at, row) for at, path in plan.suspects]),
            odd,
        )

    def _group(self, kind: str, rows: Sequence[int], plan: Plan) -> Group:
        first = rows[0]
        stated = [(path, column) for path, column in (*plan.choices, *plan.varying) if column.values[first] is not None]
        varying = {path: column for path, column in stated if (path, column) in plan.varying and first not in column.odd}
        return Group(
            kind,
            tuple(rows),
            {path: column.values[first] for path, column in stated if path not in varying},
            varying,
            {path: at for at, path in plan.suspects if self._lacks(first, path) and self._fills(at, first)},
        )

    def _refuse_foreign(self, kind: str, rows: Sequence[int], members: Mapping[Path, Any]) -> None:
        for path, column in self._columns.items():
            if path in members or path == KIND.path:
                continue
            said = self.heading.said(path)
            fault = Fault(pointer([said]), "unknown-member", f"{kind} has no {fields.short(path)}; leave the cell empty.")
            for row in [row for row in rows if column.values[row] is not None]:
                self.add(row, fault)

    def _fills(self, at: int, row: int) -> bool:
        return self._table.columns[at][row] not in (None, "")

    def _lacks(self, row: int, path: Path) -> bool:
        column = self._columns.get(path)
        return column is None or column.values[row] is None


def nested(members: Mapping[Path, Any]) -> dict[str, Any]:
    """Members by path as objects within each other.

    >>> nested({("op", "m"): 2, ("op", "a_scale", "block"): (8, 8)})
    {'op': {'m': 2, 'a_scale': {'block': [8, 8]}}}
    """
    document: dict[str, Any] = {}
    for path, value in members.items():
        here = document
        for step in path[:-1]:
            here = here.setdefault(step, {})
        here[path[-1]] = list(value) if isinstance(value, tuple) else value
    return document
