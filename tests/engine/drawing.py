"""Random questions about any op of the registry, drawn from what its fields say of themselves."""

from __future__ import annotations

import dataclasses
import math
import string
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from service.engine import batch
from service.engine.convolution import Convolution
from service.engine.dtypes import CLASSES, DTYPES
from service.engine.formats import Scale
from service.engine.ops import OPS
from service.errors import InvalidInput

from .asking import term
from .chips import EVERYTHING

Members = dict[str, Any]

# Powers of two divide each other, as heads and groups must; the others leave ragged ends.
WHOLE = st.one_of(st.integers(0, 13).map(lambda power: 2**power), st.integers(1, 10_000))
WHOLE_OR_ZERO = st.one_of(st.just(0), WHOLE)
FORMATS = st.sampled_from(sorted(DTYPES))
SCALES = st.one_of(
    st.builds(Scale, st.sampled_from(["fp32", "fp16", "fp8_e4m3"]), group_size=st.integers(1, 300)),
    st.builds(Scale, st.just("fp16"), group_size=st.sampled_from([32, 64, 128]), zero_point_dtype=st.sampled_from(["int4", "int8"])),
    st.builds(Scale, st.just("fp32"), block=st.tuples(st.integers(1, 200), st.integers(1, 200))),
)
MORE_EXAMPLES: dict[str, list[Members]] = {
    "matmul": [{"sequences": 512, "sequence_length": 4096, "replicas": 128, "k": 8192, "n": 8192, "dtype": "bf16"}],
    "einsum": [
        {"equation": "ij->ji", "dims": {"i": 512, "j": 300}, "dtype": "fp8_e4m3"},
        {"equation": "bshd,bthd->bhst", "dims": {"b": 2, "s": 64, "t": 96, "h": 8, "d": 128}, "dtype": "bf16"},
        {"equation": "a,b,c->abc", "dims": {"a": 30, "b": 40, "c": 50}, "dtype": "fp32"},
    ],
    "conv2d": [
        {
            "in_channels": 96,
            "out_channels": 96,
            "height": 112,
            "width": 112,
            "kernel_height": 3,
            "kernel_width": 3,
            "stride": 2,
            "groups": 96,
            "dtype": "int8",
        }
    ],
    "dequantize": [{"rows": 300, "cols": 500, "dtype": "int8", "out_dtype": "fp16"}],
    "quantize": [{"rows": 300, "cols": 500, "dtype": "fp32", "out_dtype": "int8"}],
    "attention": [
        {"batch": 2, "q_len": 512, "kv_len": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "window": 1024, "dtype": "bf16"},
        {"batch": 3, "q_len": 77, "kv_len": 1000, "heads": 8, "kv_heads": 8, "head_dim": 64, "causal": False, "dtype": "fp16"},
        {"batch": 64, "q_len": 1, "kv_len": 1000, "heads": 64, "kv_heads": 8, "head_dim": 128, "page_size": 64, "dtype": "bf16"},
    ],
    "mla": [{**OPS["mla"].example, "q_len": 4096, "form": "expanded"}],
    "grouped_matmul": [{"tokens": 3, "experts": 256, "top_k": 8, "k": 7168, "n": 4096, "dtype": "fp8_e4m3"}],
    "optimizer_step": [{"n": 70_553_706_496, "algorithm": "sgd", "dtype": "fp32"}],
}
"""Questions of another shape than an op's own example."""


def _windows_that_fit(kind: str, members: Members) -> Members:
    """Channels become multiples of the groups; kernels end where the padded input does."""
    groups, padding, dilation = (members.get(name, default) for name, default in (("groups", 1), ("padding", 0), ("dilation", 1)))
    channels = {name: groups * math.ceil(members[name] / groups) for name in ("in_channels", "out_channels")}
    cls = OPS[kind]
    assert issubclass(cls, Convolution)
    most = {taps: (members[size] + 2 * padding - 1) // dilation + 1 for size, taps in cls.axes.items()}
    return {**members, **channels, **{taps: min(members[taps], room) for taps, room in most.items()}}


def _multiple(number: int, part: int) -> int:
    return part * math.ceil(number / part)


def _keys_for_all(members: Members) -> Members:
    return {**members, "kv_len": max(members["kv_len"], members["q_len"])}


AGREEING: dict[str, Callable[[str, Members], Members]] = {
    **dict.fromkeys((kind for kind, cls in OPS.items() if issubclass(cls, Convolution)), _windows_that_fit),
    "attention": lambda _, members: _keys_for_all(members) | {"heads": _multiple(members["heads"], members["kv_heads"])},
    "mla": lambda _, members: _keys_for_all(members),
    "grouped_matmul": lambda _, members: {**members, "top_k": min(members["top_k"], members["experts"])},
    "topk": lambda _, members: {**members, "k": min(members["k"], members["cols"])},
}
"""How the numbers of a question that an op would refuse become the nearest that agree with each other."""


def agreeing(kind: str, members: Members) -> Members:
    return AGREEING[kind](kind, members) if kind in AGREEING else members


def examples(kind: str) -> list[Members]:
    return [dict(OPS[kind].example), *MORE_EXAMPLES.get(kind, [])]


@st.composite
def questions(draw: st.DrawFn, kind: str) -> Members:
    """Members of a question about an op that the chip with everything answers.

    An example of the op gives the shape; every number is drawn anew, every choice is drawn or left out. Where the choices do
    not agree with each other, the example's own stand.
    """
    example = draw(st.sampled_from(examples(kind)))
    fields = {each.name: each for each in dataclasses.fields(OPS[kind])}  # type: ignore[arg-type]
    numbers = _numbers(draw, fields, example)
    plain = agreeing(kind, {name: value for name, value in example.items() if name not in numbers} | numbers)
    varied = {**plain, **_choices(draw, fields, example)}
    if is_answered(kind, varied):
        return varied
    assume(is_answered(kind, plain))
    return plain


def _numbers(draw: st.DrawFn, fields: Mapping[str, dataclasses.Field[Any]], example: Members) -> Members:
    found: Members = {}
    for name, each in fields.items():
        form, default = each.metadata["form"], each.metadata["default"]
        if form == "sizes":
            found |= draw(equations()) if draw(st.booleans()) else {name: {index: draw(WHOLE) for index in example[name]}}
        elif form == "whole" and (name in example or (default is not None and draw(st.booleans()))):
            found[name] = draw(WHOLE if each.metadata["least"] else WHOLE_OR_ZERO)
    return found


def _choices(draw: st.DrawFn, fields: Mapping[str, dataclasses.Field[Any]], example: Members) -> Members:
    found: Members = {}
    for name, each in fields.items():
        form = each.metadata["form"]
        drawn = {
            "dtype": FORMATS,
            "class": st.sampled_from(CLASSES),
            "scale": SCALES,
            "name": st.sampled_from(each.metadata.get("names", ())),
            "flag": st.booleans(),
        }
        if form in drawn and (name == "dtype" or draw(st.integers(0, 3)) == 0):
            found[name] = draw(drawn[form])
        else:
            assert form in {*drawn, "whole", "sizes", "equation"} or name in example, f"say how a {form} is drawn"
    return found


@st.composite
def equations(draw: st.DrawFn, most: int = 4, size: st.SearchStrategy[int] = WHOLE) -> Members:
    """An einsum of one to three operands over up to `most` indices, with their sizes."""
    indices = string.ascii_letters[:most]
    part = st.lists(st.sampled_from(indices), min_size=1, max_size=most, unique=True).map("".join)
    operands = draw(st.lists(part, min_size=1, max_size=3))
    known = sorted(set("".join(operands)))
    out = "".join(draw(st.lists(st.sampled_from(known), max_size=len(known), unique=True)))
    return {"equation": f"{','.join(operands)}->{out}", "dims": {index: draw(size) for index in known}}


def numbers(kind: str, members: Members) -> dict[str, int]:
    """The numbers of a question in whose place a list may stand; the sizes of an equation by their index."""
    fields = {each.name: each for each in dataclasses.fields(OPS[kind])}  # type: ignore[arg-type]
    sizes = {index: size for name, value in members.items() if fields[name].metadata["form"] == "sizes" for index, size in value.items()}
    return sizes | {name: value for name, value in members.items() if fields[name].metadata.get("columns")}


def with_numbers(members: Members, values: Mapping[str, Any]) -> Members:
    """The question with other numbers, or lists of them, in their places."""
    sizes = members.get("dims", {})
    plain = {name: value for name, value in values.items() if name not in sizes}
    inner = {"dims": {**sizes, **{name: value for name, value in values.items() if name in sizes}}} if sizes else {}
    return {**members, **inner, **plain}


def at_row(members: Members, lists: Mapping[str, list[int]], row: int) -> Members:
    """The question with the numbers of one row of its lists."""
    return with_numbers(members, {name: values[row] for name, values in lists.items()})


@st.composite
def questions_in_columns(draw: st.DrawFn, kind: str, rows: int) -> tuple[Members, dict[str, list[int]]]:
    """A question, and lists for some of its numbers: each the number itself times small factors."""
    members = draw(questions(kind))
    known = numbers(kind, members)
    names = draw(st.lists(st.sampled_from(sorted(known)), min_size=1, unique=True))
    factors = st.lists(st.integers(1, 5), min_size=rows, max_size=rows)
    lists = {name: [known[name] * factor for factor in draw(factors)] for name in names}
    agreed = [numbers(kind, agreeing(kind, at_row(members, lists, row))) for row in range(rows)]
    lists = {name: [row[name] for row in agreed] for name in known if name in names or any(row[name] != known[name] for row in agreed)}
    assume(is_answered(kind, with_numbers(members, lists)))
    return members, lists


def is_answered(kind: str, members: Members) -> bool:
    """Whether the chip with everything answers; what the engine refuses it refuses with `InvalidInput` alone."""
    try:
        batch.evaluate(term(kind, **members), EVERYTHING, is_class_asked="compute_dtype" in members)
    except InvalidInput:
        return False
    return True
