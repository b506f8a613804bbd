"""A question as an answer states it, asked again, has the same result: what was left out is there by name, and nothing else decides."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.catalogue import Catalogue
from service.engine.ops import OPS
from service.errors import InvalidInput

from ..engine.drawing import questions
from .asking import Document, as_json, ask

SAID_OF_THE_QUESTION = {"assumed", "notes", "explain"}


def found(result: Any) -> Any:
    """A result without what it says of the question."""
    if isinstance(result, list):
        return [found(each) for each in result]
    if isinstance(result, dict):
        return {name: found(each) for name, each in result.items() if name not in SAID_OF_THE_QUESTION}
    return result


@pytest.mark.parametrize("kind", sorted(OPS))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(data=st.data(), chip=st.sampled_from(["nvidia-h100-sxm", "nvidia-p100-pcie", "amd-epyc-9654", "google-tpu-v5e", "amd-mi300x"]))
def test_a_question_as_understood_has_the_same_result(kind: str, catalogue: Catalogue, data: st.DataObject, chip: str) -> None:
    op: Document = as_json(kind, data.draw(questions(kind)))
    try:
        first = ask(catalogue, op=op, target={"chip": chip})
    except InvalidInput:  # the chip has no peak for such numbers
        return
    again = ask(catalogue, **{name: first[name] for name in ("op", "target", "options")})
    assert again["input_digest"] == first["input_digest"]
    assert found(again["result"]) == found(first["result"])


@pytest.mark.parametrize("kv_dtype", ["bf16", "fp8_e4m3"])
def test_a_class_that_the_chip_falls_back_to_has_the_estimate_of_the_one_that_is_stated(catalogue: Catalogue, kv_dtype: str) -> None:
    heads = {"batch": 8, "q_len": 1, "kv_len": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128}
    op: Document = {"kind": "attention", **heads, "dtype": "bf16", "kv_dtype": kv_dtype}
    first, again = (ask(catalogue, op=each, target={"chip": "amd-epyc-9654"})["result"] for each in (op, {**op, "compute_dtype": "fp32"}))
    assert first["time"] == again["time"]
    assert first["time"]["estimate_s"] is not None
