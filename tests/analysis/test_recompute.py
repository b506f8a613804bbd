"""A kept answer held against today's: what changed, and which of engine and chip changed it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import orjson
import pytest

from service.analysis import history
from service.analysis.recompute import TIMES, recompute
from service.catalogue import Catalogue, Chip, load
from service.errors import Conflict
from service.schemas.analyses import SavedQuestion
from service.schemas.reading import validate
from service.storage import Analysis

CHIP = "nvidia-h100-sxm"
MATMUL = {"kind": "matmul", "m": 64, "k": 8192, "n": 28672, "dtype": "bf16"}
RING = {"name": "x", "size": 4, "topology": "ring", "bandwidth_bytes_per_s": 4.5e10, "latency_s": 1e-6}
QUESTIONS: dict[str, dict[str, Any]] = {
    "op": {"op": MATMUL, "target": {"chip": CHIP}},
    "list": {"ops": [{**MATMUL, "count": 3}, {"kind": "softmax", "rows": 64, "cols": 4096, "dtype": "bf16"}], "target": {"chip": CHIP}},
    "changed chip": {"op": MATMUL, "target": {"chip": {"base": CHIP, "cores": 100}}},
    "sharded": {
        "op": MATMUL,
        "target": {"chip": CHIP, "mesh": [RING]},
        "sharding": {"a": [None, "x"], "b": ["x", None], "out": [None, None]},
        "options": {"explain": True, "plan": "cheapest"},
    },
    "system": {
        "op": {"kind": "all_reduce", "bytes": 2**20, "axes": ["gpu"]},
        "target": {"chip": CHIP, "mesh": {"cluster": "hgx-h100-8", "sizes": {"gpu": 8}}},
    },
    "measured": {"op": MATMUL, "target": {"chip": CHIP}, "measured_s": 1e-3, "options": {"cache": "resident", "launch": "eager"}},
}


@pytest.fixture(scope="module")
def shipped() -> Catalogue:
    return load()


def with_chips(shipped: Catalogue, *chips: Chip) -> Catalogue:
    return Catalogue(
        chips=chips,
        clusters=shipped.clusters,
        nics=shipped.nics,
        collective_constants=shipped.collective_constants,
        calibrations=shipped.calibrations,
    )


@pytest.fixture(scope="module")
def revised(shipped: Catalogue) -> Catalogue:
    """The catalogue with a second revision of the chip, which has half the bandwidth."""
    chip = shipped.chip(CHIP)
    bandwidth = chip.file.hbm.bandwidth
    slower = chip.file.hbm.model_copy(update={"bandwidth": bandwidth.model_copy(update={"value": bandwidth.value / 2})})
    second = Chip(file=chip.file.model_copy(update={"revision": 2, "hbm": slower}), sources=chip.sources)
    return with_chips(shipped, *shipped.chips, second)


def kept(question: dict[str, Any], catalogue: Catalogue) -> Analysis:
    return history.prepare(validate(SavedQuestion, question), catalogue, clock=lambda: 0)


def older(analysis: Analysis, factor: float) -> Analysis:
    """The analysis as an earlier engine may have left it, whose times were `factor` as long."""
    answer = orjson.loads(analysis.answer)
    answer["engine_version"] = "0.0.9"
    time = answer["result"]["time"]
    answer["result"]["time"] = {name: value * factor if name in TIMES else value for name, value in time.items()}
    return replace(analysis, answer=orjson.dumps(answer).decode(), engine_version="0.0.9")


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_nothing_changes_while_neither_engine_nor_chip_does(shipped: Catalogue, question: dict[str, Any]) -> None:
    analysis = kept(question, shipped)
    found = orjson.loads(recompute(analysis, shipped))
    stored = orjson.loads(analysis.answer)
    assert found["id"] == found["recomputed"]["id"] == analysis.id
    assert found["stored"]["result"] == stored["result"]
    assert found["stored"]["target_digest"] == found["recomputed"]["target_digest"] == analysis.target_digest
    difference = found["difference"]
    assert (difference["attributed_to"], difference["bound"]["changed"]) == ([], False)
    assert all(change["ratio"] in (1.0, None) for change in difference["times"].values())


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_newer_revision_is_named_and_the_pinned_one_stays(shipped: Catalogue, revised: Catalogue, question: dict[str, Any]) -> None:
    analysis = kept(question, shipped)
    found = orjson.loads(recompute(analysis, revised))
    assert found["difference"]["attributed_to"] == ["chip_revision"]
    assert found["difference"]["chip_revision"] == {"from": f"{CHIP}@1", "to": f"{CHIP}@2"}
    assert found["recomputed"]["id"] == kept(question, revised).id != analysis.id
    assert found["stored"]["result"] == orjson.loads(analysis.answer)["result"]


def test_half_the_bandwidth_doubles_the_time_of_what_memory_binds(shipped: Catalogue, revised: Catalogue) -> None:
    """The op is bound by memory before and after, so its least time is bytes / bandwidth."""
    found = orjson.loads(recompute(kept(QUESTIONS["op"], shipped), revised))["difference"]
    change = found["times"]["lower_s"]
    assert (change["ratio"], change["by_engine"], change["by_chip_revision"]) == (2.0, 1.0, 2.0)
    assert found["bound"] == {"from": "hbm", "to": "hbm", "changed": False}


def test_engine_and_chip_are_told_apart_and_multiply_to_the_whole(shipped: Catalogue, revised: Catalogue) -> None:
    analysis = older(kept(QUESTIONS["op"], shipped), 0.8)
    of_engine = orjson.loads(recompute(analysis, shipped))["difference"]
    assert (of_engine["attributed_to"], of_engine["engine"]["from"]) == (["engine"], "0.0.9")
    assert of_engine["times"]["lower_s"]["by_chip_revision"] == 1.0
    of_both = orjson.loads(recompute(analysis, revised))["difference"]
    assert of_both["attributed_to"] == ["engine", "chip_revision"]
    for change in of_both["times"].values():
        assert math.isclose(change["by_engine"] * change["by_chip_revision"], change["ratio"], rel_tol=1e-15)
    lower = of_both["times"]["lower_s"]
    assert math.isclose(lower["by_engine"], 1.25, rel_tol=1e-15)
    assert math.isclose(lower["ratio"], 2.5, rel_tol=1e-15)


def test_a_chip_that_is_gone_and_a_question_no_longer_read_are_conflicts(shipped: Catalogue) -> None:
    without = with_chips(shipped, *(each for each in shipped.chips if each.id != CHIP))
    for name in ("op", "changed chip"):
        with pytest.raises(Conflict, match="no longer in the catalogue"):
            recompute(kept(QUESTIONS[name], shipped), without)
    strange = replace(kept(QUESTIONS["op"], shipped), question='{"op":{"kind":"matmul"},"target":{"chip":"nvidia-h100-sxm@1"}}')
    with pytest.raises(Conflict, match="no longer reads"):
        recompute(strange, shipped)


def test_a_chip_written_in_place_has_no_revision_to_change(shipped: Catalogue, revised: Catalogue) -> None:
    chip = {"peak_flops_per_s": {"bf16": 1e15}, "hbm": {"bandwidth_bytes_per_s": 1e12}}
    found = orjson.loads(recompute(kept({"op": MATMUL, "target": {"chip": chip}}, shipped), revised))["difference"]
    assert (found["attributed_to"], found["chip_revision"]) == ([], {"from": None, "to": None})
