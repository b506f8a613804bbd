"""Every chip × every op × every number format: an answer that holds together, or a refusal that says what the chip lacks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from service.analysis import evaluate, ops
from service.catalogue import Catalogue, load
from service.engine.dtypes import DTYPES
from service.engine.ops import OPS
from service.errors import InvalidInput
from service.schemas.evaluate import Question
from service.schemas.reading import validate

CLEAN = {"unsupported-dtype", "ambiguous-compute-dtype", "invalid-request"}
"""With these codes an example is refused that is asked in another format or of a chip that lacks it; the last is for scales
beside a format that carries its own."""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


@pytest.mark.parametrize("kind", OPS)
def test_every_chip_answers_in_every_format_or_says_what_it_lacks(kind: str, catalogue: Catalogue) -> None:
    example = ops.question(kind)
    answered: Counter[str] = Counter()
    for dtype in DTYPES:
        question = validate(Question, {**example, "op": {**example["op"], "dtype": dtype}})
        for chip in catalogue.chips:
            found = answer_or_refusal(question, chip.ref, catalogue)
            if isinstance(found, InvalidInput):
                assert {fault.code for fault in found.faults} <= CLEAN
                assert all(fault.pointer.startswith("/op/") and fault.detail for fault in found.faults)
            else:
                assert found.target.document == {"chip": chip.ref}
                check(found.result)
                answered[dtype] += 1
    assert answered[example["op"]["dtype"]] >= 0.8 * len(catalogue.chips)  # the example itself, by most


def answer_or_refusal(question: Question, chip: str, catalogue: Catalogue) -> evaluate.Answer | InvalidInput:
    target = question.target.model_copy(update={"chip": chip})
    try:
        return evaluate.answer(question.model_copy(update={"target": target}), catalogue)
    except InvalidInput as error:
        return error


def check(result: Mapping[str, Any]) -> None:
    """Finite, and of one piece: sums add up, the longest path is the bound, the bounds are in order."""
    assert all(math.isfinite(value) and (value >= 0.0 or type(value) is int) for value in numbers(result))
    moved, times, layers = result["bytes"], result["time"], result["layers"]
    assert moved["total"] == sum(value for name, value in moved.items() if name != "total") > 0
    compute, hbm = layers["compute"]["time_s"] or 0.0, layers["hbm"]["time_s"]
    assert layers["hbm"]["bytes"] == moved["total"]
    assert hbm == moved["total"] / layers["hbm"]["bandwidth_bytes_per_s"]
    peak = layers["compute"]["peak_flops_per_s"]
    assert compute == (0.0 if peak is None else result["flops"] / peak)
    assert (times["lower_s"], times["upper_s"]) == (max(compute, hbm), compute + hbm)
    if math.isclose(compute, hbm, rel_tol=1e-9):
        assert result["bound"] == "balanced"
    else:
        assert result["bound"] == layers["hbm"]["bound"] == ("compute" if compute > hbm else "hbm")
    assert result["intensity_flops_per_byte"] == result["flops"] / moved["total"]
    assert result["attainable_flops_per_s"] == result["flops"] / times["lower_s"]


def numbers(value: object) -> Iterator[float]:
    """All numbers of a document."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
