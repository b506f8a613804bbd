"""The use case of `POST /v1/evaluate`: a question in, its answer out. Pure: the catalogue and the engine, no database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..catalogue import Catalogue
from ..engine import ENGINE_VERSION
from ..engine.fabric import Fabric
from ..engine.report import Report
from ..errors import OverLimit
from ..schemas.evaluate import PlanModel, Question, TileModel
from ..schemas.limits import MAX_OPS
from ..schemas.terms import OpModel
from . import canonical, listing, single
from .cells import Cells
from .layouts import lay
from .measured import with_measured
from .single import Setting
from .targets import Target, resolve
from .terms import Asked, lists_of, read

DOCUMENT_VERSION = 4
"""Rises when a layer is added to the answer."""

ROWS_PER_OP = 50
"""What answering an op of a list costs, in rows of columns."""


@dataclass(frozen=True)
class Answer:
    """An answer as a document, and what identifies it."""

    asked: Mapping[str, Any]
    """the op with its sharding, or the ops, as understood, and what was measured"""
    target: Target
    options: Mapping[str, Any]
    result: Mapping[str, Any]
    catalogue_digest: str

    @property
    def question(self) -> dict[str, Any]:
        """The question as understood: every default filled, the chip pinned."""
        return {**self.asked, "target": self.target.document, "options": self.options}

    @property
    def document(self) -> dict[str, Any]:
        return self.identified_by(canonical.digest(self.input))

    @property
    def input(self) -> dict[str, Any]:
        """What was asked of whatever target."""
        return {**self.asked, "options": self.options}

    def identified_by(self, input_digest: object) -> dict[str, Any]:
        """The document, with the digest of `input`."""
        return {
            **self.question,
            "result": self.result,
            "engine_version": ENGINE_VERSION,
            "document_version": DOCUMENT_VERSION,
            "catalogue_digest": self.catalogue_digest,
            "target_digest": self.target.digest,
            "input_digest": input_digest,
        }

    @property
    def text(self) -> bytes:
        """The document as JSON. What is not finite was refused when the columns became numbers."""
        return canonical.text(self.document)


def rows(question: Question) -> int:
    """The cost of a question, in rows of a list; an op of a list of ops is written out on its own and costs as much as many."""
    if question.op is None:
        return ROWS_PER_OP * len(question.ops or ())
    return max((len(values) for _, values in lists_of(question.op)), default=1)


def answer(question: Question, catalogue: Catalogue) -> Answer:
    """Evaluate a question.

    Raises `OverLimit` (too-many-rows) and `InvalidInput` with pointers into the question.
    """
    if question.ops is not None and len(question.ops) > MAX_OPS:
        raise OverLimit(f"A list holds at most {MAX_OPS} ops. Ask in several requests.")
    if question.op is not None:
        op = read_one(question, question.op, catalogue)
        return written(op, single.reported(op.asked, op.setting), catalogue)
    target = resolve(question.target, catalogue)
    setting = Setting(target, question.options, Fabric(target.wired.mesh, question.options.collectives))
    found = listing.evaluate(question.ops or [], setting, _assumed(question, target))
    return _answer(question, target, found.op, found.result, catalogue)


@dataclass(frozen=True)
class OneOp:
    """A question about one op, as understood."""

    question: Question
    asked: Asked
    setting: Setting


def read_one(question: Question, op: OpModel, catalogue: Catalogue, others: Sequence[OpModel] = ()) -> OneOp:
    """A question about `op`, with its target and how the op lies on it; `others` of its shape are the rows after the first.

    Raises as `answer` does.
    """
    target = resolve(question.target, catalogue)
    asked = read(op, "/op", others)
    return OneOp(question, asked, Setting(target, question.options, lay(asked, question.sharding, target, question.options)))


def written(op: OneOp, report: Report, catalogue: Catalogue, cells: Cells | None = None) -> Answer:
    """The answer that a report makes, written as `cells` says."""
    question, target = op.question, op.setting.target
    found = single.written(op.asked, report, op.setting, _assumed(question, target), cells)
    sharding = {} if question.sharding is None else {"sharding": question.sharding.document()}
    return _answer(question, target, {"op": found.op, **sharding}, found.result, catalogue)


def _assumed(question: Question, target: Target) -> list[Mapping[str, Any]]:
    """What the caller left out beside the ops."""
    return [*target.assumed, *left_out(question.options)]


def _answer(question: Question, target: Target, asked: dict[str, Any], result: dict[str, Any], catalogue: Catalogue) -> Answer:
    if question.measured_s is not None:
        result = with_measured(result, question.measured_s, target)
        asked = {**asked, "measured_s": question.measured_s}
    return Answer(asked, target, members_of(question.options), result, catalogue.digest)


def members_of(options: PlanModel) -> dict[str, Any]:
    """The options as understood."""
    names = ("overlap", "collectives", "plan", "tile", "launch", "cache", "explain")
    found = {name: getattr(options, name) for name in names if hasattr(options, name)}
    return {name: value.model_dump() if isinstance(value, TileModel) else value for name, value in found.items()}


def left_out(options: PlanModel, pointer: str = "/options") -> list[Mapping[str, Any]]:
    """The options that the caller did not give."""
    given = options.model_fields_set
    return [{"pointer": f"{pointer}/{name}", "value": value} for name, value in members_of(options).items() if name not in given]
