"""The numbers and words of an answer by name, as columns of a table.

A name is the way to a value in `result`, with dots: `time.lower_s`, `bytes.total`, `layers.hbm.bound`. In lists an entry is named by
the members that identify it: `thresholds.hbm.m.exact`, `levers.m.speedup`. What columns are usually wanted for has short names. Beside
`result` stand what identifies the answer, and `fits`: whether all that a chip holds for the op fits its HBM at once.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final

import numpy as np

from ...engine import ENGINE_VERSION, batch
from ...engine.arrays import Code, Real, column
from ...engine.dtypes import CLASSES
from ...engine.machine import Machine
from ...engine.memory import total
from ...engine.ops import OPS
from ...engine.report import ONE_CHIP, Report
from ...schemas.evaluate import OptionsModel
from ...schemas.reading import validate
from ...schemas.terms import OP_MODELS
from .. import tiles, units
from ..cells import EXACT, Cells, Flag, Names, not_finite
from ..expected import Predictions, by_target
from ..kernels import BASES
from ..result import result
from ..targets import Target
from ..terms import Asked, read

SHORT: Final[Mapping[str, str]] = {
    "time_s": "time.lower_s",
    "estimate_s": "time.estimate_s",
    "bound": "bound",
    "intensity_flops_per_byte": "intensity_flops_per_byte",
    "critical_intensity_flops_per_byte": "layers.hbm.critical_intensity_flops_per_byte",
    "threshold_m": "thresholds.hbm.m.exact",
    "fits": "fits",
}
"""What is appended unless other columns are chosen, and what each name stands for."""

_IDENTIFYING: Final[Mapping[str, tuple[str, ...]]] = {"thresholds": ("path", "variable"), "levers": ("change",)}
_IN_WORDS: Final = frozenset({"notes", "assumed", "explain"})

_PEAKS: Final = {name: column(1.0) for name in CLASSES}
_ANYTHING: Final = Target(Machine(_PEAKS, _PEAKS, column(1.0)), document={}, numbers={}, digest="", chip=None)
_LETTERS: Final = string.ascii_lowercase
_SHAPES: Final[tuple[dict[str, Any], ...]] = (
    *({"kind": kind, **op.example} for kind, op in OPS.items()),
    {"kind": "matmul", "sequences": 1, "sequence_length": 1, "batch": 2, "k": 1, "n": 1, "dtype": "bf16"},
    {"kind": "attention", **OPS["attention"].example, "causal": False},
    {"kind": "optimizer_step", "n": 1, "algorithm": "sgd", "dtype": "bf16"},
    {
        "kind": "einsum",
        "equation": f"{','.join(letter + letter.upper() for letter in _LETTERS)}->a",
        "dims": dict.fromkeys(string.ascii_letters, 1),
        "dtype": "bf16",
    },
)
"""Questions whose answers have, between them, every name that an answer can have."""


class Deferred(Cells):
    """Writes columns as lists of cells, each only when it is called for: of the values of an answer a table shows few."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def number(self, column: Real, present: Flag | None = None) -> Callable[[], list[Any]]:
        return partial(self._numbers, column, present)

    def whole(self, column: Real, present: Flag | None = None) -> Callable[[], list[Any]]:
        return lambda: [int(each) if each is not None and abs(each) <= EXACT else each for each in self._numbers(column, present)]

    def name(self, codes: Code, names: Names, present: Flag | None = None) -> Callable[[], list[Any]]:
        return lambda: self._present([names[code] for code in self._full(codes)], present)

    def flag(self, column: Flag, present: Flag | None = None) -> Callable[[], list[Any]]:
        return lambda: self._present(self._full(column), present)

    def _numbers(self, column: Real, present: Flag | None) -> list[Any]:
        if not (np.isfinite(column) if present is None else np.isfinite(column) | ~present).all():
            raise not_finite()
        return self._present(self._full(column), present)

    def _full(self, column: Any) -> list[Any]:
        found: list[Any] = np.broadcast_to(column, (self.rows,)).tolist()
        return found

    def _present(self, cells: list[Any], present: Flag | None) -> list[Any]:
        if present is None or present.all():
            return cells
        return [cell if here else None for cell, here in zip(cells, self._full(present), strict=True)]


def of(asked: Asked, report: Report, targets: Sequence[Target], options: OptionsModel) -> dict[str, Any]:
    """The values of answers by name: what to call for a list of cells, one for each row, or what all rows share."""
    cells = Deferred(len(targets))
    found = dict(_named(result(asked, report, (), None, cells), ""))
    found.pop("layers.tile")

    @cache
    def predicted() -> Predictions | None:
        return by_target(asked.term, report, targets, options)

    return {
        **found,
        **_estimates(predicted, cells),
        **(_tiles(predicted, asked, report, cells) if tiles.has_layer(asked.term, options) else {}),
        "fits": lambda: _fits(total(asked.term, ONE_CHIP), targets, cells),
        "target_digest": lambda: [target.digest for target in targets],
        "engine_version": ENGINE_VERSION,
    }


Cell = Callable[[], list[Any]]
Predicted = Callable[[], Predictions | None]
"""The estimates of rows that each have a target, looked for only where a table shows one of them."""


def _estimates(predicted: Predicted, cells: Deferred) -> dict[str, Cell]:
    def seconds(name: str) -> Cell:
        return _of(predicted, cells, lambda found: cells.number(getattr(found.estimate, name), found.is_known))

    basis = _of(predicted, cells, lambda found: cells.name(found.basis, BASES, found.is_known))
    columns = {"estimate_s": seconds("time"), "estimate_p10_s": seconds("p10"), "estimate_p90_s": seconds("p90"), "estimate_basis": basis}
    return {f"time.{name}": column for name, column in columns.items()}


def _tiles(predicted: Predicted, asked: Asked, report: Report, cells: Deferred) -> dict[str, Cell]:
    """The tile layer and its lever."""

    @cache
    def layer() -> Mapping[str, Cell]:
        found = predicted()
        document = None if found is None else tiles.layer(found.kernels, report, cells, found.is_known)
        return {} if document is None else dict(_named(document, ""))

    @cache
    def lever() -> Mapping[str, Any]:
        found = predicted()
        gain = tiles.SAME if found is None else tiles.speedup(found.kernels, asked.term, report, found.setup, found.is_known)
        return tiles.lever(gain, report, cells)

    def cell(entry: Callable[[], Mapping[str, Any]], name: str) -> Cell:
        def found() -> list[Any]:
            value = entry().get(name)
            return [None] * cells.rows if value is None else value()

        return found

    effects = ("factor", "lower_s_after", "bound_after", "speedup", "helps")
    return {
        **{f"layers.tile.{name}": cell(layer, name) for name in tiles.LEAVES},
        **{f"levers.tile.{name}": cell(lever, name) for name in effects},
    }


def _of(predicted: Predicted, cells: Deferred, column: Callable[[Predictions], Cell]) -> Cell:
    """What a prediction has in a column; nothing where there is none."""

    def cell() -> list[Any]:
        found = predicted()
        return [None] * cells.rows if found is None else column(found)()

    return cell


def _fits(held: Real, targets: Sequence[Target], cells: Deferred) -> list[bool | None]:
    """Whether all that a chip holds fits its HBM at once; unknown where the capacity is."""
    known = {id(target): target.hbm_bytes for target in targets}
    capacity = np.array([known[id(target)] for target in targets], dtype=np.float64)
    return cells.flag(held <= capacity, ~np.isnan(capacity))()


def _named(members: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for member, value in members.items():
        name = prefix + member
        if member in _IN_WORDS:
            continue
        if isinstance(value, dict):
            yield from _named(value, f"{name}.")
        elif isinstance(value, list):
            for entry in value:
                steps = [name, *(entry[each] for each in _IDENTIFYING[member])]
                rest = {each: found for each, found in entry.items() if each not in _IDENTIFYING[member]}
                yield from _named(rest, f"{'.'.join(steps)}.")
        else:
            yield name, value


@cache
def known() -> tuple[str, ...]:
    """Every name, the short ones first."""
    names = [name for shape in _SHAPES for name in _of_shape(shape)]
    return tuple(dict.fromkeys((*SHORT, *names)))


def _of_shape(shape: dict[str, Any]) -> dict[str, Any]:
    asked = read(validate(OP_MODELS[shape["kind"]], shape), "/op")
    return of(asked, batch.evaluate(asked.term, _ANYTHING.machine), [_ANYTHING], OptionsModel())


def whole(name: str) -> str:
    """The name without its short form."""
    return SHORT.get(name, name)


def unit(name: str) -> str | None:
    """The unit of a column of ours, None where it has none.

    >>> unit("time_s"), unit("bytes.total"), unit("layers.hbm.bandwidth_bytes_per_s"), unit("bound")
    ('s', 'B', 'B/s', None)
    """
    return units.unit(whole(name))
