"""The registry as text: a change of an op's fields is a visible diff of `registry.txt`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.engine.collectives import COLLECTIVES
from service.engine.kinds import KINDS
from service.engine.ops import OPS
from service.engine.registry import op
from service.engine.term import REQUIRED, Term

PRINTED = Path(__file__).with_name("registry.txt")


def printed() -> Iterator[str]:
    """Kinds, fields, forms and defaults; a star marks a field in which a list may stand."""
    for kind, cls in (*OPS.items(), *COLLECTIVES.items()):
        yield kind
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            about = field.metadata
            default = "required" if about["default"] is REQUIRED else f"default {about['default']}"
            star = "*" if about.get("columns") or about["form"] == "sizes" else ""
            yield f"    {field.name}{star}: {held(about)}, {default}. {about['meaning']}"
        yield f"    example {dict(cls.example)}"
        yield ""


def held(about: Mapping[str, Any]) -> str:
    """What a field holds: its form, the names of which it takes one, whether 0 is among its numbers."""
    if about["form"] == "name":
        return f"one of {' '.join(about['names'])}"
    return "whole or zero" if about.get("least") == 0 else str(about["form"])


def test_the_registry_is_the_one_that_was_printed() -> None:
    assert "\n".join(printed()) == PRINTED.read_text(encoding="utf-8"), f"print the registry into {PRINTED.name} if this change is meant"


def test_a_second_op_of_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="two ops are called 'dot'"):

        @op("dot")
        class Other(Term):
            pass


def test_kinds_are_sorted_and_their_modules_are_named_after_them() -> None:
    for registry in (OPS, COLLECTIVES):
        assert list(registry) == sorted(registry)
        assert {kind: cls.__module__.rpartition(".")[2] for kind, cls in registry.items()} == {kind: kind for kind in registry}


def test_a_kind_is_an_op_or_a_collective() -> None:
    assert sorted(KINDS) == list(KINDS)
    assert not set(OPS) & set(COLLECTIVES)
    assert set(OPS) | set(COLLECTIVES) == set(KINDS)


def test_the_registry_cannot_be_changed_from_outside() -> None:
    with pytest.raises(TypeError):
        OPS["other"] = Term  # type: ignore[index]
