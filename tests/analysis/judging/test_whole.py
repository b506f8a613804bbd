"""Laws of refusals with several faults: nothing is told that is not so, and whatever is sent can be judged."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analysis import evaluate, fit
from service.analysis.judging import whole
from service.analysis.ops import question
from service.catalogue import Catalogue, load
from service.engine.kinds import KINDS
from service.errors import InvalidInput, ServiceError
from service.schemas.compare import Comparison
from service.schemas.evaluate import Question
from service.schemas.fit import FitQuestion
from service.schemas.reading import validate
from service.schemas.telling import told

from .test_pairs import APART, SINGLES, Document, faults, touch, with_faults

CATALOGUE = load()
JUNK = st.sampled_from([None, True, 0, -1, 7, 2**60, 1.5, "", "x", "bf16", "fp4", [], [1, 2], [0], ["x"], {}, {"x": 1}, [[None]]])


@st.composite
def apart(draw: st.DrawFn) -> list[str]:
    """Faults of which no two are at one member."""
    chosen: list[str] = []
    for name in draw(st.lists(st.sampled_from(list(SINGLES)), min_size=3, max_size=7, unique=True)):
        if not any(touch(SINGLES[name], SINGLES[other]) for other in chosen):
            chosen.append(name)
    return chosen


@given(apart())
@settings(max_examples=80, deadline=None)
def test_of_several_faults_all_are_told_but_those_that_may_follow_from_others(names: list[str]) -> None:
    due = {(SINGLES[name].pointer, SINGLES[name].code): name for name in names}
    found = faults(with_faults(*(SINGLES[name] for name in names)), CATALOGUE)
    assert set(found) <= due.keys()
    late = [name for fault, name in due.items() if fault not in found]
    assert all(any(pair in APART for other in names for pair in ((name, other), (other, name))) for name in late)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        found += [(*path, "zzz")]
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for step, each in steps for place in places(each, (*path, step))]


@st.composite
def spoilt(draw: st.DrawFn) -> Document:
    """A question about any op, with junk in some places."""
    sent: Document = copy.deepcopy(question(draw(st.sampled_from(list(KINDS)))))
    sent["options"] = {"overlap": 1.0, "tile": {"m": 64, "n": 64, "k": 32}, "plan": "rules"}
    sent["sharding"] = {"a": [None, None], "b": [None, None], "out": [None, None], "out_unreduced": ["gpu"]}
    sent["target"] = {"chip": {"base": "nvidia-h100-sxm", "hbm": {"bandwidth_bytes_per_s": 1e12}}, "mesh": [{"name": "gpu", "size": 8}]}
    sent["op"] = {**sent["op"], **draw(st.sampled_from([{}, {"a_scale": {"dtype": "fp32", "block": [1, 2]}}, {"sequences": 4}]))}
    for _ in range(draw(st.integers(1, 4))):
        *path, last = draw(st.sampled_from(places(sent)))
        here: Any = sent
        for step in path:
            here = here[step]
        here[last] = copy.deepcopy(draw(JUNK))
    return sent


@given(spoilt())
@settings(max_examples=60, deadline=None)
def test_whatever_is_sent_can_be_judged(sent: Document) -> None:
    """Also what the use case refuses stays refused for the same reasons, and each fault is told once."""
    for model, body in ((Question, sent), (FitQuestion, {**sent, "options": {}}), (Comparison, {"cases": [sent, sent]})):
        refusal = refused(model, body)
        if refusal is not None:
            found = told(whole(refusal, model, body, CATALOGUE), body).faults
            assert {(each.pointer, each.code) for each in refusal.faults} <= {(each.pointer, each.code) for each in found}
            assert len({(each.pointer, each.code) for each in found}) == len(found)


def refused(model: Any, body: Document) -> InvalidInput | None:
    try:
        read = validate(model, body)
        if model is Question:
            evaluate.answer(read, CATALOGUE)
        elif model is FitQuestion:
            fit.fit(read, CATALOGUE)
    except InvalidInput as refusal:
        return refusal
    except ServiceError:
        return None
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_of_an_op_without_members_all_that_are_needed_are_told(catalogue: Catalogue, kind: str) -> None:
    """Given what is told to be missing, an op can be asked. An equation says which operands there are."""
    example = question(kind)["op"]
    stated = {name: example[name] for name in ("kind", "equation") if name in example}
    sent: Document = {**question(kind), "op": stated}
    missing = faults(sent, catalogue)
    assert missing
    assert {code for _, code in missing} == {"missing"}
    sent["op"] = {**stated, **{name: example[name] for name in (pointer.removeprefix("/op/") for pointer, _ in missing)}}
    assert faults(sent, catalogue) == []
