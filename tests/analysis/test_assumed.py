"""What a caller left out is listed, with the value that was taken; nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.catalogue import Catalogue
from service.engine.ops import OPS

from ..engine.drawing import questions
from .asking import ANY_CLASS, CHIP, MATMUL, Document, as_json, ask

KINDS = pytest.mark.parametrize("kind", sorted(OPS))


def assumed(found: Document) -> dict[str, Any]:
    return {each["pointer"]: each["value"] for each in found["result"]["assumed"]}


def at(document: Any, pointer: str) -> Any:
    """What stands at a pointer of the question as understood."""
    for step in pointer.split("/")[1:]:
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


@KINDS
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_posting_the_question_as_understood_gives_the_same_and_assumes_nothing(
    kind: str, catalogue: Catalogue, data: st.DataObject
) -> None:
    op = as_json(kind, data.draw(questions(kind)))
    first = ask(catalogue, op=op, chip=ANY_CLASS)
    again = ask(catalogue, op=first["op"], chip=first["target"]["chip"], options=first["options"])
    assert assumed(again) == {}
    assert again["op"] == first["op"]
    assert (again["input_digest"], again["target_digest"]) == (first["input_digest"], first["target_digest"])
    for found in (first, again):
        del found["result"]["assumed"]
    assert again == first


@KINDS
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_assumed_is_what_was_left_out(kind: str, catalogue: Catalogue, data: st.DataObject) -> None:
    op = as_json(kind, data.draw(questions(kind)))
    found = ask(catalogue, op=op, chip=ANY_CLASS)
    said = assumed(found)
    assert {pointer: at(found, pointer) for pointer in said} == said
    left_out = {f"/op/{name}" for name in found["op"] if name not in op}
    renamed = {f"/op/{name}" for name in op if name in found["op"] and op[name] != found["op"][name]}
    options = {f"/options/{name}" for name in ("overlap", "collectives", "plan", "tile", "launch", "cache", "explain")}
    assert set(said) == left_out | renamed | options | {"/target/chip/cores"}


def test_an_alias_is_listed_with_the_name_of_the_format(catalogue: Catalogue) -> None:
    found = ask(catalogue, op={**MATMUL, "dtype": "bfloat16"})
    assert found["op"]["dtype"] == "bf16"
    assert assumed(found)["/op/dtype"] == "bf16"


def test_a_null_is_left_out(catalogue: Catalogue) -> None:
    op = {
        "kind": "matmul",
        "m": None,
        "sequences": 4,
        "sequence_length": 8,
        "replicas": None,
        "k": 8,
        "n": 8,
        "dtype": "bf16",
        "b_dtype": None,
    }
    said = assumed(ask(catalogue, op=op))
    assert (said["/op/replicas"], said["/op/b_dtype"]) == (1, "bf16")


def test_the_fallback_of_the_vector_unit_is_listed(catalogue: Catalogue) -> None:
    found = ask(catalogue, op={"kind": "dot", "n": 8, "dtype": "bf16"})
    assert assumed(found)["/op/compute_dtype"] == "fp32"
    assert "The vector unit has no bf16 peak of its own; the op runs there in fp32." in found["result"]["notes"]


def test_a_chip_is_pinned_to_its_revision(catalogue: Catalogue) -> None:
    ref = catalogue.chip("nvidia-h100-sxm").ref
    assert assumed(ask(catalogue, op=MATMUL, chip="nvidia-h100-sxm"))["/target/chip"] == ref
    assert "/target/chip" not in assumed(ask(catalogue, op=MATMUL, chip=ref))
    changed = {"base": "nvidia-h100-sxm", "hbm": {"bandwidth_bytes_per_s": 4e12}}
    assert assumed(ask(catalogue, op=MATMUL, chip=changed))["/target/chip/base"] == ref


def test_options_that_are_given_are_not_listed(catalogue: Catalogue) -> None:
    given = {"overlap": 1.0, "collectives": "exact", "plan": "rules", "tile": "auto", "launch": "graph", "cache": "cold", "explain": False}
    found = ask(catalogue, op=MATMUL, chip=CHIP, options=given)
    assert not [pointer for pointer in assumed(found) if pointer.startswith("/options")]


def test_other_names_of_the_formats_of_scales_are_listed(catalogue: Catalogue) -> None:
    scale = {"group_size": 128, "dtype": "float16", "zero_point_dtype": "int8"}
    found = ask(catalogue, op={**MATMUL, "b_dtype": "int8", "a_scale": {**scale, "dtype": "fp16"}, "b_scale": scale})
    assert found["op"]["b_scale"]["dtype"] == "fp16"
    assert {pointer: value for pointer, value in assumed(found).items() if "scale" in pointer} == {"/op/b_scale/dtype": "fp16"}
