"""Groups of rows are evaluated a block at a time, and what is asked of their answers is written down by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ...catalogue import Catalogue
from ...engine import batch
from ...engine.demand import Demand
from ...engine.machine import Placement, under
from ...engine.report import Report
from ...errors import Fault, InvalidInput
from ...schemas.evaluate import OptionsModel
from ...schemas.reading import validate
from ...schemas.terms import OP_MODELS
from .. import tiles
from ..expected import ALONE, have_room, setup_of
from ..single import TOO_LARGE
from ..targets import Target
from ..terms import Asked, placed, stated
from . import leaves
from .machines import Run, Targets, runs
from .questions import Group, Questions
from .refusals import Refusals

TOO_MUCH: Final = Fault("/op", "too-large", TOO_LARGE)

Progress = Callable[[int, int], None]
"""Told how many rows are done, and of how many."""


def unwatched(_done: int, _rows: int) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Block:
    """Rows of a group, not too many for the cache, with the op that they ask."""

    group: Group
    rows: Sequence[int]
    asked: Asked
    options: OptionsModel

    def demand(self) -> Demand:
        """What the first row needs; the others differ from it in numbers alone. Raises InvalidInput where no row can be stored."""
        term = self.of([0]).asked.term
        with np.errstate(all="ignore"):
            demand = term.demand()
        term.storages(demand)
        return demand

    def placement(self, demand: Demand, target: Target | InvalidInput) -> Placement:
        """How the op runs on a target. Raises InvalidInput where it cannot."""
        if isinstance(target, InvalidInput):
            raise target
        return under(target.machine, demand, self.asked.term.arithmetic, is_asked=self.asked.is_class_asked)[0]

    def resolved(self) -> Block:
        """The block with every default filled. Raises InvalidInput: what the op itself finds wrong."""
        try:
            return replace(self, asked=replace(self.asked, term=self.asked.term.resolved()))
        except InvalidInput as error:
            raise placed(error, "/op", self.asked.model) from error

    def of(self, places: Sequence[int]) -> Block:
        """Some of the rows."""
        kept = {name: values[places] if values.size > 1 else values for name, values in self.asked.term.columns().items()}
        term = self.asked.term.with_columns(kept)
        return replace(self, rows=[self.rows[place] for place in places], asked=replace(self.asked, term=term, columns=len(places)))


class Evaluation:
    """The answers to the questions of a table, as columns of what is asked of them by name."""

    def __init__(self, questions: Questions, names: Iterable[str], catalogue: Catalogue) -> None:
        self.values: dict[str, list[Any]] = {name: [None] * questions.rows for name in names}
        self._questions = questions
        self._refusals = Refusals(questions)
        self._targets = Targets(catalogue)

    def run(self, progress: Progress) -> None:
        """Evaluate all rows."""
        groups, total = list(self._questions.groups()), self._questions.rows
        done = total - sum(len(group.rows) for group in groups)
        for group in groups:
            for start in range(0, len(group.rows), batch.CHUNK):
                rows = group.rows[start : start + batch.CHUNK]
                for block in self._blocks(group, rows):
                    self._evaluate(block)
                done += len(rows)
                progress(done, total)

    def _blocks(self, group: Group, rows: Sequence[int]) -> Iterator[Block]:
        """The rows with their op, but for those that the op refuses."""
        try:
            options = validate(OptionsModel, group.options, "/options")
            model = validate(OP_MODELS[group.kind], group.op(rows), "/op")
            tiles.check_kind(stated(model), options)
        except InvalidInput as error:
            self._refuse(group, rows, error.faults)
            return
        for block in self._settled(Block(group, rows, Asked(stated(model), model, "/op", len(rows)), options)):
            if group.suspects:
                self._refuse(group, block.rows)
            else:
                yield block

    def _settled(self, block: Block) -> Iterator[Block]:
        """The block with the defaults of its op filled. Where only some of the rows are refused, they are told apart by halves."""
        try:
            yield block.resolved()
        except InvalidInput as error:
            count = len(block.rows)
            if count == 1 or not self._refusals.tells_rows_apart(error, block.group):
                self._refuse(block.group, block.rows, error.faults)
                return
            yield from self._settled(block.of(range(count // 2)))
            yield from self._settled(block.of(range(count // 2, count)))

    def _refuse(self, group: Group, rows: Iterable[int], faults: Sequence[Fault] = ()) -> None:
        """Note what is wrong with the op of rows, and with the target of each."""
        alike: dict[Sequence[Fault], list[int]] = {}
        for row in rows:
            target = self._targets.of(self._questions.target(row))
            alike.setdefault(target.faults if isinstance(target, InvalidInput) else (), []).append(row)
        for wrong, some in alike.items():
            self._refusals.add(group, some, [*faults, *wrong])

    def _evaluate(self, block: Block) -> None:
        targets = [self._targets.of(self._questions.target(row)) for row in block.rows]
        for run in runs(targets, self._placed(block, targets)):
            self._answer(block.of(run.places), run)

    def _placed(self, block: Block, targets: Sequence[Target | InvalidInput]) -> dict[int, Placement]:
        """How the op runs on each target, by the identity of the target. Rows on whose target it cannot run are refused.

        The order of what is looked at is the engine's own, so that a row is refused as the same question is by itself.
        """
        found: dict[int, Placement] = {}
        refused: dict[int, Sequence[Fault]] = {}
        try:
            demand = block.demand()
        except InvalidInput as error:
            self._refuse(block.group, block.rows, placed(error, "/op", block.asked.model).faults)
            return found
        for target in {id(target): target for target in targets}.values():
            try:
                found[id(target)] = block.placement(demand, target)
            except InvalidInput as error:
                refused[id(target)] = () if error is target else placed(error, "/op", block.asked.model).faults
        for known, faults in refused.items():
            self._refuse(block.group, [row for row, target in zip(block.rows, targets, strict=True) if id(target) == known], faults)
        return found

    def _answer(self, block: Block, run: Run) -> None:
        asked = block.asked
        report = batch.evaluate(asked.term, run.machine, is_class_asked=asked.is_class_asked, overlap=block.options.overlap)
        countable = np.broadcast_to(batch.are_countable(report), (len(block.rows),))
        if countable.all():
            self._fitted(block, report, run)
            return
        self._refuse(block.group, block.of(np.flatnonzero(~countable).tolist()).rows, [TOO_MUCH])
        fine = np.flatnonzero(countable).tolist()
        if fine:
            self._answer(block.of(fine), run.of(fine))

    def _fitted(self, block: Block, report: Report, run: Run) -> None:
        """Write the answers of rows whose chips have room for a given tile, and refuse the others."""
        room = have_room(block.asked.term, report, run.targets, block.options)
        fits = np.ones(len(block.rows), np.bool_) if room is None else np.broadcast_to(room, (len(block.rows),))
        if fits.all():
            self._write(block.rows, leaves.of(block.asked, report, run.targets, block.options))
            return
        alike: dict[int, list[int]] = {}
        for at in np.flatnonzero(~fits).tolist():
            alike.setdefault(id(run.targets[at]), []).append(at)
        for places in alike.values():
            self._refuse(block.group, block.of(places).rows, self._misfit(block.of(places[:1]), run.of(places[:1])))
        fine = np.flatnonzero(fits).tolist()
        if fine:
            self._answer(block.of(fine), run.of(fine))

    def _misfit(self, block: Block, run: Run) -> Sequence[Fault]:
        """What is wrong with the tile of a row."""
        asked, (target,) = block.asked, run.targets
        report = batch.evaluate(asked.term, run.machine, is_class_asked=asked.is_class_asked)
        found = tiles.misfit(asked.term, report, setup_of((target,), ALONE, block.options))
        return [] if found is None else [found]

    def _write(self, rows: Sequence[int], found: Mapping[str, Any]) -> None:
        for name, cells in self.values.items():
            value = found.get(leaves.whole(name))
            for row, cell in zip(rows, value() if callable(value) else [value] * len(rows), strict=True):
                cells[row] = cell
