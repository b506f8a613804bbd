"""The columns that ask: every member of a question that one cell can hold, by a short name or by its whole dotted one.

    m  op.m            a_scale.group_size  op.a_scale.group_size            dims.b  op.dims.b
    op  op.kind        chip  target.chip   chip.hbm.bandwidth_bytes_per_s   options.overlap

They are derived from the models of requests, so that a new op can be asked about in tables by being registered.
"""

from __future__ import annotations

import string
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from ...engine.dtypes import ALIASES, CLASSES, DTYPES
from ...engine.ops import OPS
from ...schemas.evaluate import OptionsModel
from ...schemas.target import TargetModel
from ...schemas.terms import OP_MODELS, ScaleModel

Path = tuple[str, ...]
Reads = Literal["text", "number", "sizes", "flag"]

UNASKED: Final = frozenset({"explain"})
"""Options of which a table shows nothing."""

_FORMS: Final[Mapping[str, Reads]] = {"whole": "number", "sizes": "number"}
_STORED: Final = (*DTYPES, *ALIASES)
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {"dtype": _STORED, "class": CLASSES}


@dataclass(frozen=True)
class Field:
    """A member of a question: where it stands there, and how a cell is read for it."""

    path: Path
    reads: Reads
    meaning: str
    varies: bool = False
    """whether rows of one engine call may differ in it"""
    least: int = 1
    """of a whole number that varies"""
    allowed: tuple[str, ...] = ()
    """the words that it takes, where they are a list"""

    @property
    def whole_name(self) -> str:
        return ".".join(self.path)

    @property
    def name(self) -> str:
        """The short name."""
        return short(self.path)


def short(path: Path) -> str:
    """The short name of the member at `path`.

    >>> short(("op", "kind")), short(("op", "a_scale", "dtype")), short(("target", "chip")), short(("options", "overlap"))
    ('op', 'a_scale.dtype', 'chip', 'options.overlap')
    """
    if path[:2] == ("op", "kind"):
        return "op"
    return ".".join(path[1:] if path[:1] == ("op",) or path[:2] == ("target", "chip") else path)


KIND: Final = Field(("op", "kind"), "text", "which op")
CHIP: Final = Field(("target", "chip"), "text", "catalogue id, or id@revision")
TILE: Final = Field(("options", "tile"), "text", "auto or none; or its m, n and k in columns of their own", allowed=("auto", "none"))


@cache
def of_kind(kind: str) -> Mapping[Path, Field]:
    """The members of an op, its kind left out; of an equation's sizes one for each letter."""
    return {field.path: field for field in _of_op(kind)}


def _of_op(kind: str) -> Iterator[Field]:
    declared = OPS[kind].fields()
    for name, info in OP_MODELS[kind].model_fields.items():
        if name == "kind":
            continue
        metadata: Mapping[str, Any] = declared[name].metadata
        form, meaning = metadata["form"], info.description or ""
        if form == "scale":
            yield from _of_model(ScaleModel, ("op", name), meaning)
        elif form == "sizes":
            yield from (Field(("op", name, letter), "number", meaning, varies=True) for letter in string.ascii_letters)
        else:
            reads = _FORMS.get(form, "flag" if isinstance(info.default, bool) else "text")
            yield Field(
                ("op", name),
                reads,
                meaning,
                varies=form == "whole" and metadata["columns"],
                least=metadata.get("least", 1),
                allowed=metadata.get("names", ()) or _WORDS.get(form, ()),
            )


def _of_model(model: type[BaseModel], path: Path, meaning: str = "") -> Iterator[Field]:
    """The members of a model and of the models in it."""
    for name, info in model.model_fields.items():
        parts, said = set(_parts(info.annotation)), ": ".join(each for each in (meaning, info.description) if each)
        inner = next((part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)), None)
        if inner is not None:
            yield from _of_model(inner, (*path, name), said)
        elif name.endswith("peak_flops_per_s"):
            yield from (Field((*path, name, each), "number", said) for each in CLASSES)
        else:
            reads: Reads = "number" if parts & {int, float} else "text"
            words = _STORED if name.endswith("dtype") else ()
            yield Field((*path, name), "sizes" if list in parts else reads, said, allowed=words)


def _parts(annotation: Any) -> Iterator[Any]:
    """The types that an annotation is made of."""
    origin = get_origin(annotation)
    if origin in {Union, types.UnionType} or hasattr(annotation, "__metadata__"):
        for part in get_args(annotation):
            yield from _parts(part)
    else:
        yield origin or annotation


@cache
def beside_op() -> Mapping[Path, Field]:
    """The members beside the op: the chip, its numbers where it is written in place, the options."""
    members = (*_of_model(TargetModel, ("target",)), *_of_model(OptionsModel, ("options",)))
    return {each.path: each for each in (CHIP, TILE, *members) if each.path[1] not in UNASKED}


@cache
def _by_name() -> Mapping[str, Field]:
    every = [KIND, *beside_op().values(), *(field for kind in OPS for field in of_kind(kind).values())]
    return {name: field for field in reversed(every) for name in (field.whole_name, field.name)}


def find(name: str) -> Field | None:
    """The member that a column of this name holds; of a member that several ops have the first."""
    return _by_name().get(name)


def names() -> Iterable[str]:
    """All short names."""
    return dict.fromkeys(field.name for field in _by_name().values())


@cache
def reserved() -> frozenset[str]:
    """First steps of dotted names that are nobody's own: what follows must be a member."""
    return frozenset(name.partition(".")[0] for name in _by_name() if "." in name)
