"""The tile layer in answers: used exactly as given, refused where it has no room, and losses that add up to the gap."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis import tiles
from service.catalogue import Catalogue
from service.errors import InvalidInput

from ..engine.drawing import questions
from .asking import CHIP, MATMUL, Document, as_json, ask, refused, result

H100 = "nvidia-h100-sxm"
TILE: Document = {"m": 128, "n": 256, "k": 64}
DECODE: Document = {
    "kind": "attention", "batch": 64, "q_len": 1, "kv_len": 4096, "heads": 64, "kv_heads": 8, "head_dim": 128, "dtype": "bf16",
}  # fmt: skip
TILED = ("matmul", "grouped_matmul", "attention", "mla", "einsum")
DRAWN = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])


def layer(catalogue: Catalogue, op: Document = MATMUL, chip: Document | str = H100, **options: Any) -> Document:
    found: Document = result(catalogue, op, chip=chip, **options)["layers"]["tile"]
    return found


@pytest.mark.parametrize("kind", TILED)
@DRAWN
@given(data=st.data())
def test_losses_add_up_to_the_gap_on_any_chip(kind: str, catalogue: Catalogue, data: st.DataObject) -> None:
    op = as_json(kind, data.draw(questions(kind)))
    chip = data.draw(st.sampled_from([each.id for each in catalogue.chips]))
    state = {"cache": data.draw(st.sampled_from(["cold", "resident"])), "launch": data.draw(st.sampled_from(["graph", "eager"]))}
    try:
        found = result(catalogue, op, chip=chip, **state)
    except InvalidInput:  # the chip cannot run it
        return
    tile = found["layers"]["tile"]
    if tile is None:
        assert kind == "einsum"
        return
    assert min(tile["losses"].values()) >= 0
    assert sum(tile["losses"].values()) == pytest.approx(tile["estimate_s"] - tile["roofline_s"], rel=1e-9, abs=1e-18)
    assert tile["estimate_s"] == found["time"]["estimate_s"]
    assert state["cache"] == "resident" or tile["roofline_s"] == found["time"]["lower_s"]
    assert tile["hbm_bytes"] >= found["bytes"]["total"]
    assert tile["compute_time_s"] == pytest.approx(
        found["layers"]["compute"]["time_s"] / (tile["padding_efficiency"] * tile["wave_efficiency"]), rel=1e-12
    )


def test_a_given_tile_is_used_exactly(catalogue: Catalogue) -> None:
    found = ask(catalogue, op=MATMUL, chip=H100, options={"tile": TILE})
    tile = found["result"]["layers"]["tile"]
    assert found["options"]["tile"] == tile["tile"] == TILE
    assert (tile["tiles"], tile["waves"], tile["split_k"], tile["on_chip_bytes"]) == (448, 4, 1, 98_304)
    assert tile["compute_time_s"] == pytest.approx(found["result"]["layers"]["compute"]["time_s"] / (448 / 528), rel=1e-12)
    assert "/options/tile" not in {each["pointer"] for each in found["result"]["assumed"]}


def test_a_bad_tile_pulls_an_op_back_to_memory(catalogue: Catalogue) -> None:
    """TPU v5e in place, 8192 cubed: compute-bound with each block read once, and bound by memory in tiles of 256 x 512."""
    chip = {"peak_flops_per_s": {"bf16": 1.97e14}, "hbm": {"bandwidth_bytes_per_s": 8.2e11}}
    found = result(catalogue, {**MATMUL, "m": 8192, "k": 8192, "n": 8192}, chip=chip, tile={"m": 256, "n": 512, "k": 512})["layers"]
    assert (found["hbm"]["bound"], found["tile"]["bound"]) == ("compute", "hbm")
    assert found["tile"]["hbm_bytes"] == 6_576_668_672


@pytest.mark.parametrize(
    ("asked", "chip", "said"),
    [
        ({"m": 1024, "n": 1024, "k": 64}, H100, ("524,288", "233,472")),
        ({"m": 256, "n": 512, "k": 64}, H100, ("524,288", "262,144")),
        (TILE, {**CHIP, "on_chip_bytes_per_core": 60_000}, ("229,376", "60,000")),
    ],
    ids=["operands", "sums", "one store for both"],
)
def test_a_tile_without_room_is_refused_with_numbers_and_one_that_has_some(
    catalogue: Catalogue, asked: Document, chip: Document | str, said: tuple[str, str]
) -> None:
    (fault,) = refused(lambda: layer(catalogue, chip=chip, tile=asked))
    assert (fault.pointer, fault.code) == ("/options/tile", "tile-does-not-fit")
    assert all(number in fault.detail for number in said)
    smaller = json.loads(fault.suggestions[0])
    assert layer(catalogue, chip=chip, tile=smaller)["tile"] == smaller


def test_attention_takes_no_tile_of_a_product(catalogue: Catalogue) -> None:
    assert [(fault.pointer, fault.code) for fault in refused(lambda: layer(catalogue, DECODE, tile=TILE))] == [
        ("/options/tile", "invalid-request")
    ]
    ops = [MATMUL, DECODE]
    faults = refused(lambda: ask(catalogue, ops=ops, chip=H100, options={"tile": TILE}))
    assert [fault.pointer for fault in faults] == ["/options/tile"]


def test_pages_add_traffic_and_no_room_beside_a_core(catalogue: Catalogue) -> None:
    """One key more than a page holds: twice the rows are read, and a key takes in a core what it took before."""
    plain, paged = (layer(catalogue, {**DECODE, "kv_len": 4097, **more}) for more in ({}, {"page_size": 4096}))
    assert paged["hbm_bytes"] - plain["hbm_bytes"] == 64 * (8192 - 4097) * 8 * 2 * 128 * 2
    assert [paged[name] for name in ("tile", "on_chip_bytes")] == [plain[name] for name in ("tile", "on_chip_bytes")]


def test_none_says_nothing_of_tiles_and_expects_the_same(catalogue: Catalogue) -> None:
    auto, none = (result(catalogue, MATMUL, chip=H100, tile=tile) for tile in ("auto", "none"))
    assert none["layers"]["tile"] is None
    assert none["time"] == auto["time"]
    assert [each["change"] for each in auto["levers"]] == [*(each["change"] for each in none["levers"]), "tile"]
    assert none["notes"][0] == "layers.tile is null: options.tile is none."


def test_the_lever_of_another_tile_helps_where_the_given_one_is_bad(catalogue: Catalogue) -> None:
    lever = result(catalogue, MATMUL, chip=H100, tile={"m": 16, "n": 16, "k": 16})["levers"][-1]
    auto = result(catalogue, MATMUL, chip=H100)
    bad = result(catalogue, MATMUL, chip=H100, tile={"m": 16, "n": 16, "k": 16})
    assert (lever["change"], lever["factor"], lever["helps"]) == ("tile", None, True)
    assert lever["speedup"] == pytest.approx(bad["time"]["estimate_s"] / auto["time"]["estimate_s"], rel=1e-12)
    lower = auto["time"]["lower_s"]
    nothing = {"lower_s_after": lower, "bound_after": "compute", "speedup": 1.0, "helps": False}
    assert auto["levers"][-1] == {"change": "tile", "factor": None, **nothing}


def test_a_sharded_op_is_tiled_as_its_part(catalogue: Catalogue) -> None:
    sharding = {"a": [None, None], "b": [None, "gpu"], "out": [None, "gpu"]}
    target = {"chip": H100, "mesh": [{"name": "gpu", "size": 8}]}
    found = ask(catalogue, op=MATMUL, target=target, sharding=sharding)["result"]
    assert found["layers"]["tile"] == layer(catalogue, {**MATMUL, "n": 28_672 // 8})
    assert found["single_chip"]["layers"]["tile"] == layer(catalogue)


def test_the_leaves_of_tables_are_those_of_the_answer(catalogue: Catalogue) -> None:
    def names(document: Document, prefix: str = "") -> list[str]:
        return [
            leaf
            for name, value in document.items()
            for leaf in (names(value, f"{prefix}{name}.") if isinstance(value, dict) else [prefix + name])
        ]

    assert names(layer(catalogue)) == list(tiles.LEAVES)


def test_a_measured_time_names_the_largest_loss(catalogue: Catalogue) -> None:
    found = ask(catalogue, op=MATMUL, chip=H100, measured_s=4e-4)["result"]
    loss, tile = found["measured"]["loss"], found["layers"]["tile"]
    assert loss["name"] == max(tile["losses"], key=tile["losses"].get) == "rate_s"
    assert loss["expected_s"] == tile["losses"]["rate_s"]
    assert loss["distance_s"] == 4e-4 - found["time"]["lower_s"]
    assert loss["unexplained_s"] == pytest.approx(4e-4 - found["time"]["estimate_s"], rel=1e-9)
    assert ask(catalogue, op=MATMUL, chip=H100, measured_s=1e-4)["result"]["measured"]["loss"] is None
    assert ask(catalogue, op=MATMUL, chip=CHIP, measured_s=1.0)["result"]["measured"]["loss"] is None
    twice = ask(catalogue, ops=[{**MATMUL, "count": 2}], chip=H100, measured_s=8e-4)["result"]["measured"]["loss"]
    assert (twice["name"], twice["expected_s"]) == ("rate_s", 2 * tile["losses"]["rate_s"])


def test_the_steps_say_how_tiles_change_the_times(catalogue: Catalogue) -> None:
    found = result(catalogue, MATMUL, chip=H100, tile=TILE, explain=True)
    entries = {each["formula"].partition(" = ")[0]: each for each in found["explain"]["where"]}
    tile = found["layers"]["tile"]
    assert entries["waves"]["numbers"] == "⌈448·1 / 132⌉"
    assert entries["waves"]["value"] == tile["waves"]
    assert entries["t_math of tiles"]["value"] == tile["compute_time_s"]
    assert entries["bytes of tiles"]["value"] == tile["hbm_bytes"]
    assert entries["t_hbm of tiles"]["value"] == tile["hbm_time_s"]
    assert "waves" not in str(result(catalogue, MATMUL, chip=H100, tile="none", explain=True)["explain"])


def test_stores_that_hold_no_tile_of_a_library_take_small_ones(catalogue: Catalogue) -> None:
    found = layer(catalogue, chip={**CHIP, "cores": 64, "on_chip_bytes_per_core": 10_000})
    assert (found["tile"], found["on_chip_bytes"]) == ({"m": 16, "n": 16, "k": 16}, 2 * 16 * 32 * 2 + 4 * 16 * 16)
    crowded = result(catalogue, MATMUL, chip={**CHIP, "cores": 64, "on_chip_bytes_per_core": 1})
    assert any(note.startswith("No tile of this op has room") for note in crowded["notes"])
