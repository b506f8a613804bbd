"""What identifies a question and its answer."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from service.analysis import canonical, history
from service.catalogue import Catalogue
from service.engine import ENGINE_VERSION
from service.schemas.analyses import SavedQuestion
from service.schemas.reading import validate
from service.storage import Analysis

from .asking import CHIP, MATMUL, Document, ask


def prepared(catalogue: Catalogue, question: Document) -> Analysis:
    return history.prepare(validate(SavedQuestion, {"target": {"chip": CHIP}, **question}), catalogue, clock=lambda: 1_700_000_000_000_001)


SAME = [
    {"op": MATMUL},
    {"op": dict(reversed(MATMUL.items()))},
    {"op": {**MATMUL, "batch": 1, "compute_dtype": "bf16"}},
    {"op": {**MATMUL, "dtype": "bfloat16"}},
    {"op": MATMUL, "options": {}},
    {"op": MATMUL, "options": {"overlap": 1}},
    {"op": MATMUL, "labels": {"team": "red"}, "note": "asked again"},
]
OTHER: list[Document] = [
    {"op": {**MATMUL, "m": 511}},
    {"op": {**MATMUL, "batch": 2}},
    {"op": {**MATMUL, "out_dtype": "fp32"}},
    {"op": MATMUL, "options": {"overlap": 0.5}},
    {"op": MATMUL, "options": {"explain": True}},
    {"ops": [MATMUL]},
    {"op": MATMUL, "target": {"chip": {**CHIP, "hbm": {"bandwidth_bytes_per_s": 1e12}}}},
    {"op": MATMUL, "target": {"chip": "nvidia-h100-sxm"}},
]


@pytest.mark.parametrize("question", SAME)
def test_the_same_question_is_the_same_analysis(catalogue: Catalogue, question: Document) -> None:
    first, again = prepared(catalogue, {"op": MATMUL}), prepared(catalogue, question)
    assert (again.id, again.question_digest, again.target_digest) == (first.id, first.question_digest, first.target_digest)


def test_zero_is_the_same_question_with_either_sign(catalogue: Catalogue) -> None:
    plus, minus = (prepared(catalogue, {"op": MATMUL, "options": {"overlap": zero}}) for zero in (0.0, -0.0))
    assert (minus.id, minus.question, minus.answer) == (plus.id, plus.question, plus.answer)


def test_every_other_question_is_another_analysis(catalogue: Catalogue) -> None:
    ids = {prepared(catalogue, {"op": MATMUL}).id, *(prepared(catalogue, question).id for question in OTHER)}
    assert len(ids) == 1 + len(OTHER)


def test_a_pinned_chip_and_its_newest_revision_are_one_question(catalogue: Catalogue) -> None:
    ref = catalogue.chip("nvidia-h100-sxm").ref
    pinned, newest = (prepared(catalogue, {"op": MATMUL, "target": {"chip": chip}}) for chip in (ref, "nvidia-h100-sxm"))
    assert pinned.id == newest.id


def test_the_id_is_the_digest_of_space_engine_and_question(catalogue: Catalogue) -> None:
    found = prepared(catalogue, {"op": MATMUL})
    answer = ask(catalogue, op=MATMUL)
    resolved = {name: answer[name] for name in ("op", "target", "options", "target_digest")}
    parts = ("default", ENGINE_VERSION, canonical.sorted_text(resolved))
    digest = hashlib.sha256(b"".join(part.encode() + b"\0" for part in parts)).digest()
    assert found.id == "an_" + base64.b32encode(digest).decode().rstrip("=").lower()


def test_the_input_digest_leaves_the_target_out(catalogue: Catalogue) -> None:
    here, there = ask(catalogue, op=MATMUL), ask(catalogue, op=MATMUL, chip="nvidia-h100-sxm")
    assert here["input_digest"] == there["input_digest"]
    assert here["target_digest"] != there["target_digest"]


def test_canonical_text_sorts_members_and_writes_the_shortest_floats() -> None:
    document: dict[str, Any] = {"b": 0.1, "a": {"d": 1.5, "c": 2**53}}
    assert canonical.sorted_text(document) == '{"a":{"c":9007199254740992,"d":1.5},"b":0.1}'
