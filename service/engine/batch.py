"""Many rows in chunks that stay in the cache: the same evaluation as for one row, several times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .arrays import Real, all_of, constant, cut
from .fabric import Fabric, Network
from .levers import variants
from .machine import Machine
from .report import ONE_CHIP, Report, report
from .term import Term

R = TypeVar("R")

LARGEST_COUNT = constant(1e300)
"""Counts beyond this are refused: what follows from them would overflow."""

CHUNK = 16384
"""Rows evaluated at once: so many that a call of NumPy costs little beside its work, so few that they stay in the caches."""


def in_chunks(term: Term, machine: Machine, fabric: Fabric, evaluate_chunk: Callable[[Term, Machine, Fabric], R], chunk: int = CHUNK) -> R:
    """`evaluate_chunk` over all rows of a term, a machine and a fabric, `chunk` rows at a time, in one result."""
    rows = max([machine.rows, *[each.size for each in term.columns().values()]])
    if rows <= chunk:
        return evaluate_chunk(term, machine, fabric)
    whole: Any = None
    for start in range(0, rows, chunk):
        part = slice(start, start + chunk)
        columns = {name: cut(values, part) for name, values in term.columns().items()}
        found = evaluate_chunk(term.with_columns(columns), machine.cut(part), fabric.cut(part))
        whole = _lengthened(found, chunk, rows) if whole is None else whole
        _fill(whole, found, part, rows)
    return cast("R", whole)


def evaluate(term: Term, machine: Machine, fabric: Fabric = ONE_CHIP, *, is_class_asked: bool = False, overlap: float = 1.0) -> Report:
    """`report` for any number of rows. Raises `InvalidInput` as `report` does; see also `too_large`."""
    over = variants(term, has_links=bool(fabric.mesh.axes))
    return in_chunks(term, machine, fabric, lambda t, m, f: report(t, m, over, f, is_class_asked=is_class_asked, overlap=overlap))


class Counts(Protocol):
    """What counts of a report, or of less."""

    @property
    def total_flops(self) -> Real: ...
    @property
    def bytes_total(self) -> Real: ...
    @property
    def network(self) -> Network: ...


def are_countable(found: Counts) -> NDArray[np.bool_]:
    """The rows of which no count exceeds `LARGEST_COUNT`, or one value for all of them."""
    fine = np.maximum(found.total_flops, found.bytes_total) <= LARGEST_COUNT
    for exchange in found.network.exchanges:
        fine = fine & (exchange.cost.volume <= LARGEST_COUNT)
    return fine


def too_large(found: Counts) -> int | None:
    """The first row of which a count exceeds `LARGEST_COUNT`; such a report is no answer."""
    fine = are_countable(found)
    return None if all_of(fine) else int(np.argmin(fine))


def stacked(terms: Sequence[Term]) -> Term:
    """Terms of one row each, with the same choices and the same columns, as one term of many rows."""
    names = terms[0].columns()
    return terms[0].with_columns({name: np.concatenate([each.columns()[name] for each in terms]) for name in names})


def row_of(found: Any, index: int, rows: int) -> Any:
    """A report of `rows` rows cut down to row `index`; what all rows share stays."""
    if isinstance(found, np.ndarray):
        return found[..., index : index + 1] if found.shape[-1] == rows else found
    if isinstance(found, Mapping):
        return {name: row_of(each, index, rows) for name, each in found.items()}
    if isinstance(found, tuple):
        return _like(found, [row_of(each, index, rows) for each in found])
    return found


def rows_of(found: Any, rows: int) -> list[Any]:
    """`row_of` for every row of a report of `rows` rows, which is walked through once."""
    if isinstance(found, np.ndarray):
        return list(np.moveaxis(found, -1, 0)[..., np.newaxis]) if found.shape[-1] == rows else [found] * rows
    if isinstance(found, tuple) and found:
        return [_like(found, members) for members in zip(*(rows_of(each, rows) for each in found), strict=True)]
    if isinstance(found, Mapping) and found:
        every = zip(*(rows_of(each, rows) for each in found.values()), strict=True)
        return [dict(zip(found, members, strict=True)) for members in every]
    return [found] * rows


def _lengthened(first: Any, chunk: int, rows: int) -> Any:
    """Room for `rows` rows of what `first` has for `chunk`, by which a full column is told from one that all rows share."""
    if isinstance(first, np.ndarray):
        return np.empty((*first.shape[:-1], rows), first.dtype) if first.shape[-1] == chunk else first
    if isinstance(first, Mapping):
        return {name: _lengthened(each, chunk, rows) for name, each in first.items()}
    if isinstance(first, tuple):
        return _like(first, [_lengthened(each, chunk, rows) for each in first])
    return first


def _fill(whole: Any, found: Any, part: slice, rows: int) -> None:
    """Write the columns of `found` into the rows `part` of `whole`."""
    if isinstance(whole, np.ndarray):
        if whole.shape[-1] == rows:
            whole[..., part] = found
    elif isinstance(whole, Mapping):
        for name, each in whole.items():
            _fill(each, found[name], part, rows)
    elif isinstance(whole, tuple):
        for each, other in zip(whole, found, strict=True):
            _fill(each, other, part, rows)


def _like(model: tuple[Any, ...], members: Sequence[Any]) -> tuple[Any, ...]:
    """`members` as a tuple of the type of `model`, by name where that names its members."""
    return type(model)(*members) if hasattr(model, "_fields") else tuple(members)
