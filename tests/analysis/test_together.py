"""Questions that wait together get, byte for byte, what each gets alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import orjson
import pytest

from service.analysis.evaluate import answer
from service.analysis.ops import question as example
from service.analysis.together import answers
from service.catalogue import Catalogue
from service.engine.kinds import KINDS
from service.errors import ServiceError
from service.schemas.evaluate import Question
from service.schemas.reading import validate

from .asking import CHIP, MATMUL, Document

CHIPS = ("nvidia-h100-sxm", "nvidia-h100-sxm@1", "google-tpu-v5e", "nvidia-p100-pcie", CHIP)
OPTIONS: Sequence[Document] = (
    {}, {"overlap": 0.25}, {"launch": "eager"}, {"cache": "resident"}, {"tile": "none"}, {"explain": True},
    {"tile": {"m": 128, "n": 128, "k": 64}},
)  # fmt: skip
LARGEST = 2**53 - 1


def mixed(seed: int) -> Iterator[Question]:
    """Questions about every kind, of which many differ in numbers alone; some are refused."""
    dice = random.Random(seed)
    for kind in KINDS:
        document = example(kind)
        for _ in range(3):
            op = {name: dice.randint(1, value) if type(value) is int else value for name, value in document["op"].items()}
            yield validate(Question, {**document, "op": op, "options": dice.choice(OPTIONS[:2])})
    for _ in range(120):
        op = {**MATMUL, "m": dice.choice((1, 7, 512, 4096)), "n": dice.randint(1, 20_000), "batch": dice.choice((1, 1, 8))}
        op |= dice.choice(({}, {"b_dtype": "int8"}, {"b_dtype": "mxfp4"}, {"m": [1, 2]}, {"dtype": "fp8_e4m3"}))
        yield validate(Question, {"op": op, "target": {"chip": dice.choice(CHIPS)}, "options": dice.choice(OPTIONS)})
    for _ in range(40):
        heads = {
            "kind": "attention",
            "batch": 4,
            "q_len": dice.choice((1, 3, 20, 1000)),
            "kv_len": 1000,
            "heads": 32,
            "kv_heads": 8,
            "dtype": "bf16",
        }
        yield validate(Question, {"op": {**heads, "head_dim": dice.choice((64, 128, 192, 512))}, "target": {"chip": "nvidia-h100-sxm"}})
    yield validate(Question, {"ops": [MATMUL, MATMUL], "target": {"chip": CHIP}})
    yield validate(Question, {"op": MATMUL, "target": {"chip": "no-such-chip"}})


def told(outcome: object) -> object:
    """What a caller sees of an outcome."""
    if isinstance(outcome, ServiceError):
        return type(outcome), outcome.detail, getattr(outcome, "faults", None)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def alone(question: Question, catalogue: Catalogue) -> object:
    try:
        return answer(question, catalogue).text
    except ServiceError as refusal:
        return told(refusal)


@pytest.mark.parametrize("size", [1, 2, 32, 400])
def test_questions_of_all_kinds_together_get_what_each_gets_alone(size: int, catalogue: Catalogue) -> None:
    every = list(mixed(11))
    found = [each for start in range(0, len(every), size) for each in answers(every[start : start + size], catalogue)]
    expected = [alone(question, catalogue) for question in every]
    assert [told(each) for each in found] == expected
    assert sum(isinstance(each, bytes) for each in expected) > 150
    assert sum(isinstance(each, tuple) for each in expected) > 10


def test_a_count_that_is_too_large_is_of_one_question_alone(catalogue: Catalogue) -> None:
    letters = "abcdefghijklmnopqrs"

    def asked(size: int) -> Question:
        dims = {**dict.fromkeys(letters, LARGEST), "a": size}
        op = {"kind": "einsum", "equation": f"{letters[:10]},{letters[10:]}->a", "dims": dims, "dtype": "bf16"}
        return validate(Question, {"op": op, "target": {"chip": CHIP}})

    every = [asked(1), asked(LARGEST), asked(2)]
    found = [told(each) for each in answers(every, catalogue)]
    assert found == [alone(question, catalogue) for question in every]
    assert [isinstance(each, bytes) for each in found] == [True, False, True]


def test_questions_about_two_chips_are_of_their_own_chips(catalogue: Catalogue) -> None:
    chips = ("nvidia-h100-sxm", "nvidia-a100-sxm-80gb") * 3
    found = answers([validate(Question, {"op": MATMUL, "target": {"chip": chip}}) for chip in chips], catalogue)
    assert [orjson.loads(each)["target"]["chip"].partition("@")[0] for each in found if isinstance(each, bytes)] == list(chips)
