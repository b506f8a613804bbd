"""Formats by their other names, in every member of every op that takes one."""

from __future__ import annotations

import dataclasses

import pytest

from service.catalogue import Catalogue
from service.engine.dtypes import ALIASES
from service.engine.ops import OPS

from .asking import ANY_CLASS, Document, refused, result

FORMATS = {
    kind: [each.name for each in dataclasses.fields(cls) if each.metadata["form"] in ("dtype", "class")]  # type: ignore[arg-type]
    for kind, cls in OPS.items()
}
FIELDS = [(kind, name) for kind, names in FORMATS.items() for name in names]


def example(kind: str, name: str, dtype: str) -> Document:
    """The example of an op with one format changed; the class is stated, since not every pair of formats agrees on one."""
    agreed = {"compute_dtype": "fp32"} if "compute_dtype" in FORMATS[kind] else {}
    narrow = {"a_dtype": "fp4"} if name == "a_quantized_from" else {}
    return {"kind": kind, **OPS[kind].example, **agreed, **narrow, name: dtype}


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_an_alias_is_answered_as_the_format_that_it_stands_for(kind: str, name: str, catalogue: Catalogue) -> None:
    for alias, dtype in ALIASES.items():
        given, own = (result(catalogue, example(kind, name, each), chip=ANY_CLASS) for each in (alias, dtype))
        assert given.pop("assumed")
        own.pop("assumed")
        assert given == own


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_an_unknown_format_is_refused_where_it_stands(kind: str, name: str, catalogue: Catalogue) -> None:
    (fault,) = refused(lambda: result(catalogue, example(kind, name, "bf17"), chip=ANY_CLASS))
    assert (fault.pointer, fault.code) == (f"/op/{name}", "unknown-dtype")
    assert "bf16" in fault.suggestions
