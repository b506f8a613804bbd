"""Two faults at once are both told, in the order of the document, and nothing beside them: every pair of a list of single ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final, NamedTuple

import pytest

from service.analysis.evaluate import answer
from service.analysis.judging import whole
from service.catalogue import Catalogue
from service.errors import InvalidInput
from service.schemas.evaluate import Question
from service.schemas.reading import validate
from service.schemas.telling import told

Document = dict[str, Any]
REMOVED: Final = object()


def sound() -> Document:
    """A question about a quantised product on a mesh, in which nothing is wrong."""
    ring = {"size": 4, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10}
    return {
        "op": {
            "kind": "matmul",
            "m": 512,
            "k": 8192,
            "n": 28672,
            "batch": 1,
            "dtype": "bf16",
            "a_dtype": "int8",
            "b_dtype": "int8",
            "compute_dtype": "int8",
            "a_scale": {"group_size": 128, "dtype": "fp32"},
            "b_scale": {"block": [128, 128], "dtype": "fp32"},
        },
        "target": {
            "chip": {
                "peak_flops_per_s": {"bf16": 1e15, "int8": 2e15},
                "hbm": {"bandwidth_bytes_per_s": 2e12, "capacity_bytes": 2**36},
                "cores": 100,
                "on_chip_bytes_per_core": 2**17,
            },
            "mesh": [{"name": "x", **ring}, {"name": "y", **ring}],
        },
        "sharding": {"a": ["x", None], "b": [None, "y"], "out": [None, "y"]},
        "options": {"overlap": 1.0, "tile": {"m": 64, "n": 64, "k": 32}, "launch": "graph"},
        "measured_s": 1e-3,
    }


class Single(NamedTuple):
    """One fault: what is changed, by pointers, and how that is told."""

    changes: dict[str, Any]
    pointer: str
    code: str


def at(pointer: str, value: Any, code: str, told_at: str = "") -> Single:
    return Single({pointer: value}, told_at or pointer, code)


SINGLES: Final[dict[str, Single]] = {
    "an unknown member": at("/zzz", 1, "unknown-member"),
    "a measured time below 0": at("/measured_s", -1.0, "out-of-range"),
    "m of 0": at("/op/m", 0, "out-of-range"),
    "k that is text": at("/op/k", "8192", "wrong-type"),
    "no n": at("/op/n", REMOVED, "missing"),
    "a batch with a point": at("/op/batch", 2.0, "wrong-type"),
    "an odd member of the op": at("/op/zzz", 1, "unknown-member"),
    "an unknown dtype": at("/op/dtype", "zzz", "unknown-dtype"),
    "an unknown format of a": at("/op/a_dtype", "zzz", "unknown-dtype"),
    "an unknown format of out": at("/op/out_dtype", "zzz", "unknown-dtype"),
    "an unknown class": at("/op/compute_dtype", "zzz", "unknown-dtype"),
    "formats without a class": Single(
        {"/op/b_dtype": "fp8", "/op/compute_dtype": REMOVED, "/op/a_dtype": "int8"}, "/op/compute_dtype", "ambiguous-compute-dtype"
    ),
    "a class that the chip lacks": at("/op/compute_dtype", "fp6", "unsupported-dtype"),
    "quantised from less": at("/op/a_quantized_from", "fp4", "out-of-range"),
    "a group of 0": at("/op/a_scale/group_size", 0, "out-of-range"),
    "an unknown format of scales": at("/op/a_scale/dtype", "zzz", "unknown-dtype"),
    "scales of scales": at("/op/a_scale/dtype", "mxfp8", "invalid-request"),
    "a block of one dim": at("/op/b_scale/block", [128], "out-of-range"),
    "an odd member of scales": at("/op/b_scale/zzz", 1, "unknown-member"),
    "m and sequences": Single({"/op/sequences": 4, "/op/sequence_length": 128}, "/op/m", "invalid-request"),
    "columns of two lengths": Single({"/op/k": [512, 1024], "/op/n": [512] * 3, "/measured_s": REMOVED}, "/op/n", "column-length"),
    "an unknown chip": at("/target/chip", "zzz", "unknown-chip"),
    "an unknown revision": at("/target/chip", "nvidia-h100-sxm@99", "unknown-revision"),
    "an unknown base": at("/target/chip/base", "zzz", "unknown-chip"),
    "no chip": at("/target/chip", REMOVED, "missing"),
    "no peak": at("/target/chip/peak_flops_per_s", REMOVED, "missing"),
    "no bandwidth": at("/target/chip/hbm/bandwidth_bytes_per_s", REMOVED, "missing"),
    "no cores": at("/target/chip/cores", 0, "out-of-range"),
    "an odd member of the chip": at("/target/chip/zzz", 1, "unknown-member"),
    "an odd member of the target": at("/target/zzz", 1, "unknown-member"),
    "an axis of size 0": at("/target/mesh/1/size", 0, "out-of-range"),
    "two axes of a name": at("/target/mesh/1/name", "x", "axis-repeated"),
    "an axis without a bandwidth": at("/target/mesh/1/bandwidth_bytes_per_s", REMOVED, "missing"),
    "an unknown axis": at("/sharding/b/0", "zzz", "unknown-axis"),
    "an axis twice": at("/sharding/a/1", "x", "axis-repeated"),
    "three entries for two dims": at("/sharding/out", ["x", "y", None], "bad-sharding"),
    "no layout of b": at("/sharding/b", REMOVED, "missing"),
    "a layout of what is not there": at("/sharding/zzz", [None], "unknown-member"),
    "a layout that is a number": at("/sharding/a/0", 5, "wrong-type"),
    "rows that x does not cut": at("/op/m", 510, "not-divisible", "/sharding/a/0"),
    "overlap of 2": at("/options/overlap", 2.0, "out-of-range"),
    "a tile of 0": at("/options/tile/m", 0, "out-of-range"),
    "a tile too large": at("/options/tile", {"m": 4096, "n": 4096, "k": 64}, "tile-does-not-fit"),
    "an unknown word": at("/options/launch", "zzz", "out-of-range"),
    "an odd option": at("/options/zzz", 1, "unknown-member"),
}


def changed(document: Document, pointer: str, value: Any) -> None:
    *path, last = pointer.split("/")[1:]
    here: Any = document
    for step in path:
        here = here[int(step)] if isinstance(here, list) else here[step]
    key: Any = int(last) if isinstance(here, list) else last
    if value is REMOVED:
        here.pop(key, None)
    else:
        here[key] = copy.deepcopy(value)


def with_faults(*singles: Single) -> Document:
    document = sound()
    for single in singles:
        for pointer, value in single.changes.items():
            changed(document, pointer, value)
    return document


def touch(one: Single, other: Single) -> bool:
    """Whether two faults are at one member, or one in what the other is."""
    ours, theirs = {*one.changes, one.pointer}, {*other.changes, other.pointer}
    return any(f"{x}/".startswith(f"{y}/") or f"{y}/".startswith(f"{x}/") for x in ours for y in theirs)


def faults(document: Document, catalogue: Catalogue) -> list[tuple[str, str]]:
    """What the service tells of a question, in its order."""
    try:
        answer(validate(Question, document), catalogue)
    except InvalidInput as refusal:
        return [(fault.pointer, fault.code) for fault in told(whole(refusal, Question, document, catalogue), document).faults]
    return []


UNKNOWN_CHIP: Final = "what another chip runs is not known"
UNKNOWN_STORES: Final = "whether a tile fits another chip is not known"
APART: Final[dict[tuple[str, str], str]] = {
    ("a batch with a point", "three entries for two dims"): "with a batch above 1 there are three dims",
    ("a batch with a point", "rows that x does not cut"): "with a batch above 1 the rows are another dim",
    ("a class that the chip lacks", "an unknown chip"): UNKNOWN_CHIP,
    ("a class that the chip lacks", "an unknown revision"): UNKNOWN_CHIP,
    ("a class that the chip lacks", "no chip"): UNKNOWN_CHIP,
    ("a class that the chip lacks", "no peak"): "a peak that is stated may be of that class",
    ("an unknown chip", "a tile too large"): UNKNOWN_STORES,
    ("an unknown revision", "a tile too large"): UNKNOWN_STORES,
    ("an unknown base", "a tile too large"): UNKNOWN_STORES,
    ("no chip", "a tile too large"): UNKNOWN_STORES,
    ("no bandwidth", "a tile too large"): "of a chip without a bandwidth no kernel is looked at",
    ("an unknown base", "no peak"): "a base that is known has peaks",
    ("an axis of size 0", "an axis without a bandwidth"): "what an axis needs is looked at once its members can be read",
    ("an axis of size 0", "rows that x does not cut"): "the sizes of the axes are not known",
    ("two axes of a name", "an unknown axis"): "the second axis may be the unknown one",
    ("two axes of a name", "rows that x does not cut"): "either axis may be meant",
    ("an axis twice", "a layout that is a number"): "the number stands where the axis is first",
}
"""Pairs of which the second is told when the first is mended, and why."""


def in_order(found: list[tuple[str, str]], document: Document) -> list[tuple[str, str]]:
    """The faults as a walk through the document meets them, what is missing at the end of its object."""
    met = {pointer: place for place, pointer in enumerate(walked(document, ""))}
    return sorted(found, key=lambda fault: met[fault[0]] if fault[0] in met else met[fault[0].rpartition("/")[0] + "/"])


def walked(value: Any, pointer: str) -> Iterator[str]:
    """The pointers to all that `value` holds; one that ends in / is the end of an object."""
    yield pointer
    if isinstance(value, dict):
        for name, each in value.items():
            yield from walked(each, f"{pointer}/{name}")
        yield f"{pointer}/"
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from walked(each, f"{pointer}/{place}")


PAIRS: Final = [pair for pair in combinations(SINGLES, 2) if not touch(SINGLES[pair[0]], SINGLES[pair[1]])]


def test_nothing_is_wrong_with_the_question_itself(catalogue: Catalogue) -> None:
    assert faults(sound(), catalogue) == []


@pytest.mark.parametrize("name", SINGLES)
def test_each_fault_is_told_alone(catalogue: Catalogue, name: str) -> None:
    single = SINGLES[name]
    assert faults(with_faults(single), catalogue) == [(single.pointer, single.code)]


@pytest.mark.parametrize("first", SINGLES)
def test_two_faults_are_told_together(catalogue: Catalogue, first: str) -> None:
    wrong = {}
    for pair in PAIRS:
        if pair[0] == first and pair not in APART:
            document = with_faults(*(SINGLES[name] for name in pair))
            found = faults(document, catalogue)
            due = {(SINGLES[name].pointer, SINGLES[name].code) for name in pair}
            if set(found) != due or len(found) != len(due) or found != in_order(found, document):
                wrong[pair] = found
    assert wrong == {}


@pytest.mark.parametrize("pair", APART, ids=" and ".join)
def test_one_of_two_faults_is_told_where_the_other_may_follow_from_it(catalogue: Catalogue, pair: tuple[str, str]) -> None:
    due = {(SINGLES[name].pointer, SINGLES[name].code) for name in pair}
    assert len(due.intersection(faults(with_faults(*(SINGLES[name] for name in pair)), catalogue))) == 1
