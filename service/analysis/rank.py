"""The use case of `POST /v1/rank`: ops on many candidates, the best first, and why others are left out.

Each candidate is answered as `evaluate` answers it alone: `time_s` is its `lower_s`, bit for bit. The order depends on the candidates
and not on how they are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..catalogue import Catalogue
from ..errors import Fault, InvalidInput, OverLimit
from ..schemas.evaluate import LISTS_ARE_WHOLE
from ..schemas.limits import MAX_CANDIDATES, MAX_OPS, MAX_RANKED_LAYOUTS, MAX_RANKED_OPS
from ..schemas.rank import CandidateModel, ConstraintsModel, RankQuestion
from . import canonical
from .layouts import CHEAPEST
from .listing import read_all
from .magnitude import check
from .memory import capacity, without_columns
from .placing import Placed, lasting_bytes, many, one
from .ranked import DOES_NOT_FIT, PROBLEM, TOO_SLOW, Out, document
from .targets import resolve
from .terms import Asked, read

ROWS_PER_CANDIDATE = 500
"""What a candidate costs, in rows of columns."""

ROWS_PER_OP = 100
"""What an op of a list costs on a candidate, beyond that."""

ROWS_PER_LAYOUT = 150
"""What an axis costs for each array that has a layout, beyond that."""

PLANS = 40
"""How many plans are looked at for the fastest, as a rule of thumb."""


@dataclass(frozen=True)
class Places:
    """What all candidates are asked."""

    question: RankQuestion
    asked: Sequence[Asked]
    lasting: int
    """bytes that a list of ops holds in every place"""
    catalogue: Catalogue

    def place(self, candidate: CandidateModel, pointer: str) -> Placed:
        """The ops in the place of a candidate, which stands at `pointer`. Raises `InvalidInput`."""
        target = resolve(candidate.target, self.catalogue, f"{pointer}/target")
        if self.question.constraints.fits:
            capacity(target, f"{pointer}/target")
        try:
            if self.question.ops is not None:
                found = many(self.asked, self.lasting, target, self.question.options)
            else:
                found = one(self.asked[0], candidate.sharding, target, self.question.options, pointer)
        except InvalidInput as error:
            raise InvalidInput([_of_candidate(fault, pointer) for fault in error.faults]) from error
        check(f"{pointer}/target", "The time of all chips together", found.chip_time_s)
        return found


def rows(question: RankQuestion) -> int:
    """The cost of a ranking, in rows of columns."""
    of_ops = ROWS_PER_CANDIDATE + ROWS_PER_OP * len(question.ops or ())
    return len(question.candidates) * of_ops + ROWS_PER_LAYOUT * _layouts(question)


def _layouts(question: RankQuestion) -> int:
    """Arrays × axes, over all candidates and all plans that are looked at."""
    pairs = sum(len(each.sharding.specs) * each.target.axes for each in question.candidates if each.sharding is not None)
    return pairs * (PLANS if question.options.plan == CHEAPEST else 1)


def rank(question: RankQuestion, catalogue: Catalogue) -> bytes:
    """The ranking as JSON. Raises `OverLimit` (too-many-rows), and `InvalidInput` for what is not the fault of one candidate."""
    _check_limits(question)
    if faults := [*repeated([each.id for each in question.candidates]), *_sharded_lists(question)]:
        raise InvalidInput(faults)
    asked = [_alone(question)] if question.ops is None else read_all(question.ops)
    places = Places(question, asked, 0 if question.ops is None else lasting_bytes(asked), catalogue)
    placed: dict[str, Placed] = {}
    out: list[Out] = []
    for at, candidate in enumerate(question.candidates):
        try:
            found = places.place(candidate, f"/candidates/{at}")
        except InvalidInput as error:
            out.append(Out(candidate.id, (PROBLEM,), error.faults))
            continue
        if reasons := tuple(_misses(found, question.constraints)):
            out.append(Out(candidate.id, reasons, placed=found))
        else:
            placed[candidate.id] = found
    return canonical.text(document(question, asked, placed, out, catalogue.digest))


def _check_limits(question: RankQuestion) -> None:
    if len(question.candidates) > MAX_CANDIDATES:
        raise OverLimit(f"A ranking has at most {MAX_CANDIDATES} candidates. Ask in several requests, and rank what comes first in each.")
    if question.ops is not None and len(question.ops) > MAX_OPS:
        raise OverLimit(f"A list holds at most {MAX_OPS} ops. Ask in several requests.")
    if len(question.ops or ()) * len(question.candidates) > MAX_RANKED_OPS:
        raise OverLimit(f"Ops times candidates are at most {MAX_RANKED_OPS}. Ask about fewer candidates in each request.")
    if _layouts(question) > MAX_RANKED_LAYOUTS:
        detail = f"Arrays times axes, over all candidates, are at most {MAX_RANKED_LAYOUTS}, and a {PLANS}th with plan cheapest."
        raise OverLimit(f"{detail} Ask about fewer candidates in each request.")


def repeated(ids: Sequence[object]) -> Iterator[Fault]:
    """The ids of candidates that others have before them."""
    seen: set[str] = set()
    for at, name in enumerate(ids):
        if not isinstance(name, str):
            continue
        if name in seen:
            yield Fault(f"/candidates/{at}/id", "invalid-request", "Another candidate has this id.")
        seen.add(name)


def _sharded_lists(question: RankQuestion) -> Iterator[Fault]:
    for at, candidate in enumerate(question.candidates):
        if question.ops is not None and candidate.sharding is not None:
            yield Fault(f"/candidates/{at}/sharding", "invalid-request", LISTS_ARE_WHOLE)


def _alone(question: RankQuestion) -> Asked:
    assert question.op is not None
    asked = read(question.op, "/op")
    without_columns(asked, "A ranking")
    return asked


def _of_candidate(fault: Fault, pointer: str) -> Fault:
    """What an op finds wrong in its target, as a fault of the target of the candidate."""
    return replace(fault, pointer=pointer + fault.pointer) if fault.pointer.startswith("/target") else fault


def _misses(found: Placed, wanted: ConstraintsModel) -> Iterator[str]:
    """The constraints that a candidate does not meet."""
    if wanted.fits and not found.fits:
        yield DOES_NOT_FIT
    if wanted.max_time_s is not None and found.time_s > wanted.max_time_s:
        yield TOO_SLOW
