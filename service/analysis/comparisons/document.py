"""The use case of `/v1/comparisons`: saved analyses held against one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import orjson

from ...catalogue import Catalogue
from ...engine import ENGINE_VERSION
from ...errors import Fault, InvalidInput, OverLimit
from ...schemas.comparisons import SavedComparison
from ...schemas.limits import MAX_COMPARED, MAX_COMPARED_BYTES, MAX_COMPARED_OPS
from ...storage import Analysis, AnalysisStore
from .. import against, canonical, history
from ..magnitude import check
from . import differences
from .metrics import metrics, thresholds
from .saved import Saved
from .split import Sides, split

ROWS_PER_KIB = 10
"""What a KiB of stored answers costs, in rows of columns."""

IN_BODY: Final = {"base": "/base", "others": "/others/{}"}
"""Where the ids stand in a question; `others` with room for a number."""

OTHER_BASIS = "The estimates do not stand on the same measurements: that of the base on {}, this on {}."
MORE = "{} members of the question differ; the first {} are listed."


class Place(NamedTuple):
    """Where the id of an analysis stands in a request, and the analysis."""

    pointer: str
    analysis: Analysis


class Chosen(NamedTuple):
    """The analyses of a comparison."""

    base: Place
    others: Sequence[Place]

    @property
    def rows(self) -> int:
        """The cost of the comparison, in rows of columns."""
        return sum(ROWS_PER_KIB * (1 + len(each.analysis.answer) // 1024) for each in (self.base, *self.others))

    def check(self) -> None:
        """Raises `OverLimit` where the lists have too many ops."""
        questions = (orjson.loads(each.analysis.question) for each in (self.base, *self.others))
        if sum(len(each.get("ops", "1")) for each in questions) > MAX_COMPARED_OPS:
            raise OverLimit(f"Analyses that are compared have at most {MAX_COMPARED_OPS} ops in all. Compare fewer at a time.")


def chosen(question: SavedComparison, store: AnalysisStore, at: Mapping[str, str]) -> Chosen:
    """The analyses that a comparison is of; `at` says where `base` and `others` stand in the request, `others` with a place for a number.

    Raises `OverLimit`, and `InvalidInput` (unknown-analysis) for ids that no analysis has, at all of their places.
    """
    if len(question.others) > MAX_COMPARED:
        raise OverLimit(f"At most {MAX_COMPARED} analyses are held against a base. Ask in several requests.")
    wanted = [(at["base"], question.base), *((at["others"].format(place), name) for place, name in enumerate(question.others))]
    known = history.several([name for _, name in wanted], store, MAX_COMPARED_BYTES)
    faults = [
        Fault(pointer, "unknown-analysis", f"No analysis has this id{f', number {number} of the others' if number else ''}.")
        for number, (pointer, name) in enumerate(wanted)
        if name not in known
    ]
    if faults:
        raise InvalidInput(faults)
    base, *others = [Place(pointer, known[name]) for pointer, name in wanted]
    return Chosen(base, others)


def compare(question: SavedComparison, found: Chosen, catalogue: Catalogue) -> bytes:
    """The document of a comparison, from the answers as they are stored.

    Raises `OverLimit`, and where `strict` is asked for `InvalidInput` for the analyses that are not like for like with the base.
    """
    found.check()
    base = Saved.of(found.base.analysis)
    sides, same = Sides.of(base, catalogue), differences.comparable(base)
    rows: list[dict[str, Any]] = []
    warnings: list[dict[str, Any]] = []
    faults: list[Fault] = []
    for at, place in enumerate(found.others):  # one after another, so that no more than two answers are held at a time
        other = Saved.of(place.analysis)
        for each in differences.warnings(base, other):
            warnings.append({"row": at, "analysis": other.analysis.id, **each._asdict()})
            faults.append(Fault(place.pointer, "invalid-request", f"Number {at + 1} of the others is not like for like. {each.detail}"))
        same = differences.shared(same, differences.comparable(other))
        rows.append(_row(sides, Sides.of(other, catalogue), place.pointer))
    if question.strict and faults:  # analyses never change, so that this is no conflict that may pass
        raise InvalidInput(faults)
    document = {
        "base": _head(base),
        "rows": rows,
        "same": list(same),
        "warnings": warnings,
        "permalink": permalink(question),
        "engine_version": ENGINE_VERSION,
    }
    return canonical.text(document)


def permalink(question: SavedComparison) -> str:
    """Where the same comparison can be read.

    >>> permalink(SavedComparison(base="an_a", others=["an_b", "an_c"]))
    '/v1/comparisons?base=an_a&others=an_b,an_c'
    """
    strict = {"strict": "true"} if question.strict else {}
    return "/v1/comparisons?" + urlencode({"base": question.base, "others": ",".join(question.others), **strict}, safe=",")


def _head(saved: Saved) -> dict[str, Any]:
    """What an analysis is, as in a list."""
    return {**history.summary(saved.analysis), "document_version": saved.analysis.document_version}


def _row(one: Sides, another: Sides, pointer: str) -> dict[str, Any]:
    """An analysis against the base."""
    base, other, causes = one.saved, another.saved, split(one, another)
    unlike, count = differences.differs(base, other)
    beyond = against.estimate_factors((base.times, base.tiled_s), (other.times, other.tiled_s))
    check(pointer, "A factor", *(each["factor"] for each in (*causes.factors, *beyond)))
    is_plain = not base.is_list and not other.is_list
    return {
        "analysis": _head(other),
        "metrics": metrics(base, other, pointer),
        "thresholds": thresholds(base, other, pointer),
        "bound": {"from": base.bound, "to": other.bound, "changed": base.bound != other.bound},
        "moves": _moves(base, other),
        "factors": list(causes.factors),
        "estimate_factors": beyond,
        "cancels": against.cancels(base.result, other.result) if is_plain else [],
        "differs": unlike,
        "notes": [*causes.notes, *_notes(base, other), *([MORE.format(count, len(unlike))] if count > len(unlike) else [])],
    }


def _moves(base: Saved, other: Saved) -> list[dict[str, Any]]:
    """The verdicts that moved, of each op of lists that are as long as each other."""
    if len(base.ops) != len(other.ops):
        return []
    is_plain = not base.is_list and not other.is_list
    return [
        {**({} if is_plain else {"op": at}), **move}
        for at, (one, another) in enumerate(zip(base.ops, other.ops, strict=True))
        for move in against.moves(one.result, another.result)
    ]


def _notes(base: Saved, other: Saved) -> list[str]:
    """What must be known of the numbers."""
    bases = [saved.times.get("estimate_basis") for saved in (base, other)]
    return [OTHER_BASIS.format(*bases)] if None not in bases and bases[0] != bases[1] else []
