"""The use case behind `GET /v1/ops` and `roofline ops`: what can be asked, from the registry alone."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from ..engine.collectives import COLLECTIVES
from ..engine.kinds import KINDS
from ..errors import near, refuse
from ..schemas.reading import validate
from ..schemas.terms import OP_MODELS
from .terms import read

EXAMPLE_CHIP: Final = "nvidia-h100-sxm"
EXAMPLE_MESH: Final = ({"name": "gpu", "size": 8},)
"""On which collectives run."""


def documents() -> list[dict[str, Any]]:
    """Every op, sorted by kind."""
    return [document(kind) for kind in KINDS]


@cache
def document(kind: str, pointer: str = "/path/kind") -> dict[str, Any]:
    """One op: what it computes, its JSON Schema in a request, its counts as formulas, and a question that works as it stands.

    Raises `InvalidInput` (unknown-op) at `pointer`.
    """
    if kind not in KINDS:
        raise refuse(pointer, "unknown-op", "There is no op of this kind.", near(kind, KINDS))
    formulas = read(validate(OP_MODELS[kind], _example(kind)), "/op").term.formulas()
    return {
        "kind": kind,
        "description": KINDS[kind].description,
        "formulas": {"flops": formulas.flops, "elements": dict(formulas.elements), "source": formulas.source},
        "schema": OP_MODELS[kind].model_json_schema(),
        "example": question(kind),
    }


def question(kind: str) -> dict[str, Any]:
    """A question about an op that works as it stands."""
    mesh = {"mesh": [dict(axis) for axis in EXAMPLE_MESH]} if kind in COLLECTIVES else {}
    return {"op": _example(kind), "target": {"chip": EXAMPLE_CHIP, **mesh}}


def _example(kind: str) -> dict[str, Any]:
    return {"kind": kind, **KINDS[kind].example}
