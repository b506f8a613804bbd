"""Cells become the values of members: text becomes numbers, sizes and flags where a member asks for them, and nothing else is turned.

A value that is not what the member wants is left as it is and called odd: the model of the member then says what is wrong with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ...engine.term import LARGEST_DIM
from ...errors import Fault, InvalidInput, refuse
from ...tables.numerals import number, whole
from ...tables.table import Cell
from .fields import Field

_SIZES: Final = re.compile("[1-9][0-9]{0,15}(x[1-9][0-9]{0,15})*")
_FLAGS: Final = {"true": True, "false": False}


@dataclass(frozen=True)
class Column:
    """The values of a member by row, None where the cell is empty."""

    values: Sequence[Any]
    odd: Mapping[int, Odd] = field(default_factory=dict)
    """rows with a value that cannot stand there"""

    def reason(self, row: int) -> Hashable:
        """Why the value of a row is odd, None where it is not."""
        odd = self.odd.get(row)
        return None if odd is None else odd.reason


class Odd(NamedTuple):
    """Why a value cannot stand where it does. Values that are odd alike are refused alike."""

    reason: Hashable
    fault: Fault | None = None
    """what is wrong with the text of the cell; else the model of the member knows"""


class Turned(NamedTuple):
    """What a cell becomes."""

    value: Any
    odd: Odd | None = None


def read(cells: Sequence[Cell], member: Field, decimal: str) -> Column:
    """The values of one column. Cells that are equal are looked at once."""
    types = set(map(type, cells))
    # Python takes true for 1, a member does not.
    keys: Sequence[Any] = list(zip(map(type, cells), cells, strict=True)) if bool in types and len(types) > 1 else cells
    turned = {key: _turned(cell, member, decimal) for key, cell in dict(zip(keys, cells, strict=True)).items()}
    odd = {key: each.odd for key, each in turned.items() if each.odd is not None}
    return Column(
        [turned[key].value for key in keys],
        {row: odd[key] for row, key in enumerate(keys) if key in odd} if odd else {},
    )


def _turned(cell: Cell, member: Field, decimal: str) -> Turned:
    if cell is None or cell == "":
        return Turned(None)
    try:
        value = _TURNS[member.reads](cell, decimal)
    except InvalidInput as error:
        fault = error.faults[0]
        return Turned(cell, Odd(fault, fault))
    return Turned(value, None if _fits(value, member) else Odd((type(value), member.varies and value < member.least)))


def _fits(value: Any, member: Field) -> bool:
    """Whether a value can be shared with other rows, or stand in a list of them."""
    if member.varies:
        return type(value) is int and member.least <= value <= LARGEST_DIM
    return type(value) in _TYPES[member.reads]


def _text(cell: Cell, _decimal: str) -> Cell:
    return cell


def _number(cell: Cell, decimal: str) -> Cell:
    if isinstance(cell, str):
        return number(cell, decimal)
    if isinstance(cell, float):
        if not math.isfinite(cell):
            raise refuse("", "not-finite", "The number must be finite.")
        return whole(cell)
    return cell


def _sizes(cell: Cell, decimal: str) -> Any:
    """Whole numbers with an x between them: 128x128."""
    if isinstance(cell, str):
        if not _SIZES.fullmatch(cell):
            raise refuse("", "wrong-type", "Sizes read like 128x128.")
        return tuple(int(each) for each in cell.split("x"))
    size = _number(cell, decimal)
    return (size,) if type(size) is int else cell


def _flag(cell: Cell, _decimal: str) -> Cell:
    if isinstance(cell, str):
        if cell.lower() not in _FLAGS:
            raise refuse("", "wrong-type", "True or false is needed.", _FLAGS)
        return _FLAGS[cell.lower()]
    return cell


_TURNS: Final[Mapping[str, Callable[[Cell, str], Any]]] = {"text": _text, "number": _number, "sizes": _sizes, "flag": _flag}
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {"text": (str,), "number": (int, float), "sizes": (tuple,), "flag": (bool,)}
