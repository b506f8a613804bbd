"""What is wrong with a row: the faults of its question, at the columns in which the caller has the members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...errors import Fault, InvalidInput
from ...pointers import pointer
from . import fields
from .fields import Path
from .questions import Group, Questions

_MEANT = "The column resembles {name}, which the row does not have. Rename it, or map it to {name} or to nothing."


class Refusals:
    """Collects faults by row; their pointers begin at the row: `/Hidden`."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._heading = questions.heading

    def add(self, group: Group, rows: Sequence[int], faults: Iterable[Fault]) -> None:
        """Note for rows that share them the faults of their question, and which columns they may have misspelt."""
        suspects = dict(group.suspects)
        shared = [self._at_column(fault, suspects) for fault in faults]
        shared += [
            (path, Fault(self._pointer(at), "unknown-member", _MEANT.format(name=fields.short(path)), (fields.short(path),)))
            for path, at in suspects.items()
        ]
        for row in rows:
            for path, fault in shared:
                self._questions.add(row, self._of_cell(row, path, fault))

    def tells_rows_apart(self, error: InvalidInput, group: Group) -> bool:
        """Whether other rows of the group may be fine: a fault lies in a member that they do not share."""
        return any(_path(fault.pointer)[: len(path)] == path for fault in error.faults for path in group.varying)

    def _at_column(self, fault: Fault, suspects: dict[Path, int]) -> tuple[Path, Fault]:
        """A fault where the caller's column is. A column that may have been meant for a missing member is suggested."""
        path = _path(fault.pointer)
        if fault.code == "missing" and path in suspects:
            fault = replace(fault, suggestions=(self._heading.header[suspects.pop(path)],))
        return path, replace(fault, pointer=self._said(path))

    def _said(self, path: Path) -> str:
        return "" if path in {(), ("op",)} else pointer([self._heading.said(path)])

    def _pointer(self, at: int) -> str:
        return pointer([self._heading.header[at]])

    def _of_cell(self, row: int, path: Path, fault: Fault) -> Fault:
        """What is wrong with the text of the cell says more than that it is text."""
        known = self._questions.fault_of_cell(row, path)
        return fault if known is None else replace(known, pointer=fault.pointer)


def _path(at: str) -> Path:
    """The member that a pointer into a question leads to, or that holds the list it leads into."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in at.split("/")[1:]]
    while steps and steps[-1].isdigit():
        steps.pop()
    return tuple(steps)


def sentences(faults: Sequence[Fault]) -> str:
    """Faults of a row as the text of a cell."""
    return " ".join(_sentence(fault) for fault in faults)


def _sentence(fault: Fault) -> str:
    where = fault.pointer[1:].replace("~1", "/").replace("~0", "~")
    return (f"{where}: " if where else "") + fault.detail + perhaps(fault.suggestions)


def perhaps(suggestions: Sequence[str]) -> str:
    """Suggestions as a further sentence."""
    return f" Perhaps {' or '.join(suggestions)}?" if suggestions else ""
